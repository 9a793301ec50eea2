"""A model with all that training it needs: parameters, gradients, what forward keeps, the update."""

from __future__ import annotations

import ctypes as c
import inspect
import os
import types
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import Array, Tensors
from ._description import Argument, Description
from ._library import REPORT, Block, Library
from ._update import Group, Update
from .errors import Error

PathLike = Union[str, "os.PathLike[str]"]


class Outputs(Tuple[np.ndarray, ...]):
    """The outputs of a call in the order of the source; also by name, as an item or an attribute."""

    _names: Tuple[str, ...]

    @classmethod
    def of(cls, names: Iterable[str], arrays: Iterable[np.ndarray]) -> "Outputs":
        made = cls(arrays)
        made._names = tuple(names)
        return made

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self._names:
            raise KeyError(f"no output {key}: there are {', '.join(self._names)}")
        return super().__getitem__(self._names.index(key))

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in self._names:
            raise AttributeError(name)
        array: np.ndarray = self[name]
        return array

    def __repr__(self) -> str:
        return ", ".join(f"{name}={array!r}" for name, array in zip(self._names, self))


class Model:
    """A model of a library; `attn.compile` and `attn.load` make it.

    Its calls take NumPy arrays, or arrays of any library that speaks DLPack, and read them where they
    are. What they give are NumPy arrays. `print(m)` shows what they are called and how they are shaped."""

    def __init__(self, library: Library, table: int) -> None:
        self.library = library
        self.table = table
        self.description = Description.of(library.describe(table))
        self._arguments = self.description.inputs + self.description.states
        self._params: Optional[Tensors] = None
        self._gradients: Optional[Tensors] = None
        self._terms: Optional[Tensors] = None
        self._inputs: Optional[Tensors] = None  # of the last forward call
        self._outputs: Optional[Tensors] = None
        self._saved: Optional[Block] = None
        self._workspace: Optional[Block] = None
        self._sizes = library.Sizes()
        self._update = Update(library, table, self.description)

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def threads(self) -> int:
        """Threads that calls use, the caller's included. The models of one library share them."""
        return self.library.threads

    @threads.setter
    def threads(self, count: int) -> None:
        self.library.threads = count

    def __repr__(self) -> str:
        return str(self.description)

    # ---- parameters

    @property
    def parameters(self) -> Mapping[str, np.ndarray]:
        """The arrays that calls read and `step` changes, by name; empty before init, load or use."""
        return types.MappingProxyType({} if self._params is None else self._params.named())

    def init(self, seed: int = 0, **sizes: int) -> None:
        """Makes and initialises the parameters; the update begins anew. `sizes` are the run-time sizes
        that parameters have."""
        params = self._shaped(self.description.params, sizes, 0)
        for k in range(len(params)):
            params.make(k)
        self._call("attn_initialise_model", params.address, seed)
        self._replace(params)

    def use(self, parameters: Mapping[str, Array]) -> None:
        """Takes these arrays as the parameters, without copying them: those of another model, say. Names
        that the model lacks are left out."""
        params = Tensors(self.library, self.description.params)
        for k, a in enumerate(self.description.params):
            if a.name not in parameters:
                raise self._refusal(f"has a parameter {a.name}, which is not given")
            params.put(k, parameters[a.name])
        self._replace(params)

    def _replace(self, params: Tensors) -> None:
        self._params = params
        self._gradients = self._terms = self._inputs = self._outputs = None
        self._update.begin(params)

    def save(self, path: PathLike) -> None:
        """Writes the parameters as safetensors, under the names that the source gives them."""
        self._call("attn_model_save", self._ready().address, os.fsencode(path))

    def load(self, path: PathLike, *, ignore_extra: bool = False, keep_missing: bool = False,
             convert_types: bool = False, allow_overflow: bool = False,
             merge_dimensions: bool = False) -> List[str]:
        """Reads the parameters from a safetensors file, an index of several, or the folder that has them.
        Names, types and shapes agree with the model but for what is allowed; gives a line for each
        difference that was. On failure the parameters are as they were.

        ignore_extra: tensors that the model has not; keep_missing: parameters that the file has not;
        convert_types: other real types, rounded; allow_overflow: to infinity; merge_dimensions: [H*E, D]
        for [H, E, D]."""
        differences: List[str] = []
        report = REPORT(lambda _, text: differences.append(text.decode()))
        options = self.library.LoadOptions(
            ignore_extra=ignore_extra, keep_missing=keep_missing, convert_types=convert_types,
            allow_overflow=allow_overflow, merge_dimensions=merge_dimensions,
            report=c.cast(report, c.c_void_p).value)
        params, name = self._params, os.fsencode(path)
        if params is None:
            if keep_missing:
                raise self._refusal("keeps what is missing as init makes it: call init")
            params = self._shapes_in(name, options)
            for k in range(len(params)):
                params.make(k)
        self._call("attn_model_load_options", params.address, name, c.addressof(options))
        if params is not self._params:
            self._replace(params)
        return differences

    def _shapes_in(self, path: bytes, options: Any) -> Tensors:
        params = Tensors(self.library, self.description.params)
        if any(e.value is None for a in params.arguments for e in a.extents):
            self._call("attn_model_load_shapes", params.address, path, c.addressof(options))
            return params
        return self._shaped(self.description.params, {}, 0)

    # ---- calls

    def forward(self, *inputs: Array, states: Optional[Mapping[str, Array]] = None,
                out: Optional[Mapping[str, Array]] = None, **named: Array) -> Outputs:
        """The outputs for these inputs, given in order or by name; keeps what backward and probes need.

        states: what `begin` made, changed in place. out: arrays to write outputs to, by name."""
        return self._run(inputs, named, states, out, keep=True)

    def __call__(self, *inputs: Array, states: Optional[Mapping[str, Array]] = None,
                 out: Optional[Mapping[str, Array]] = None, **named: Array) -> Outputs:
        """As forward, for those who want no gradients: keeps nothing."""
        return self._run(inputs, named, states, out, keep=False)

    def _run(self, inputs: Sequence[Array], named: Mapping[str, Array],
             states: Optional[Mapping[str, Array]], out: Optional[Mapping[str, Array]],
             keep: bool) -> Outputs:
        params = self._ready()
        self._inputs = self._outputs = None  # a failed forward leaves nothing for backward
        taken = self._take(inputs, named, states)
        outputs = Tensors(self.library, self.description.outputs)
        with self.library.lock:
            sizes = self._read_sizes(params, taken)
            self.library.require(self.library.plain("attn_shapes", self.table, sizes, None, None,
                                                    outputs.address))
            given = dict(out or {})
            for k, a in enumerate(outputs.arguments):
                if a.name not in given:
                    outputs.make(k)
                    continue
                self._writable(given[a.name], a.name)
                outputs.put(k, given.pop(a.name))
            if given:
                raise self._refusal(f"has no output {next(iter(given))}")
            need = self._sizes
            self._call("attn_call_sizes", params.address, taken.address, c.addressof(need))
            workspace = self._memory(need.forward_workspace)
            if keep and (self._saved is None or self._saved.count < need.saved):
                self._saved = self.library.allocate(need.saved)
            saved = self._saved.address if keep and self._saved is not None else None
            self._call("attn_forward", params.address, taken.address, outputs.address, saved,
                       workspace)
            if keep:
                self._inputs, self._outputs = taken, outputs
        return Outputs.of((a.name for a in outputs.arguments), outputs.named().values())

    def begin(self, **sizes: int) -> Dict[str, np.ndarray]:
        """States for these run-time sizes, all zeros: one for each sequence of calls."""
        if not self.description.states:
            raise self._refusal("it keeps no state")
        made = self._shaped(self._arguments, sizes, 1, len(self.description.inputs))
        for k in range(len(self.description.inputs), len(self._arguments)):
            made.make(k)[...] = 0
        return made.named()

    def backward(self, cotangents: Optional[Mapping[str, Array]] = None, *,
                 inputs: Iterable[str] = (), accumulate: bool = False) -> Dict[str, np.ndarray]:
        """The gradients of all parameters, and of these inputs, for the last forward call, whose arrays
        are still there and unchanged.

        cotangents: of outputs, by name; those that are not given are zero. By default 1 for the loss, the
        first scalar output. accumulate: adds the gradients of parameters to those that are there."""
        params, taken, outputs = self._last("backward")
        if not self.description.gradient:
            raise self._refusal("the model was compiled without gradients")
        given = Tensors(self.library, self.description.outputs, derivative=True)
        given.shaped_like(outputs)
        if cotangents is None:
            cotangents = {self._loss(): 1.0}
        for name, value in cotangents.items():
            given.put(self._position(given.arguments, name, "output"), value, "cotangent of ")
        wanted = Tensors(self.library, self._arguments, derivative=True).shaped_like(taken)
        for name in inputs:
            wanted.make(self._differentiable(wanted.arguments, name, "input"))
        if accumulate and self._gradients is None:
            raise self._refusal("gradients are added to those of a backward call")
        made = self._terms if accumulate else self._gradients
        if made is None:
            made = Tensors(self.library, self.description.params, derivative=True)
            made.shaped_like(params)
            for k, a in enumerate(made.arguments):
                if a.differentiable:
                    made.make(k)
        with self.library.lock:
            workspace = self._memory(self._sizes.backward_workspace)
            assert self._saved is not None
            self._call("attn_backward", params.address, taken.address, outputs.address,
                       self._saved.address, given.address, made.address, wanted.address, workspace)
        if not accumulate:
            self._gradients = made
        else:
            assert self._gradients is not None
            self._terms = made
            self.library.call("attn_add", len(made), self._gradients.address, made.address, 1.0)
        return {**self._gradients.named(), **wanted.named()}

    @property
    def gradients(self) -> Mapping[str, np.ndarray]:
        """Of the parameters, from the last backward call; the next one writes to the same arrays."""
        return types.MappingProxyType({} if self._gradients is None else self._gradients.named())

    def gradient_norm(self) -> float:
        """The Euclidean norm of the gradients of all parameters together."""
        made = self._made_gradients("a norm")
        return float(self.library.get("attn_gradient_norm", len(made), made.address))

    def scale_gradients(self, factor: float) -> None:
        """Multiplies the gradients of all parameters."""
        made = self._made_gradients("scaling")
        self.library.call("attn_scale", len(made), made.address, factor)

    def step(self, groups: Sequence[Group] = (), **options: float) -> None:
        """A step of the update that the source names with `using`, by the gradients of the last
        backward call: m.step(lr=1e-3). Options that are not given have their defaults. Of groups that
        give an option to one parameter the last wins."""
        if self.description.step_options is None:
            raise self._refusal("it names no update with `using`")
        self._update.step(self._ready(), self._made_gradients("a step"), options, groups)

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return self._update.steps

    def save_states(self, path: PathLike) -> None:
        """Writes what the update remembers: with the weights, training goes on from there."""
        self._update.save(self._ready(), os.fsencode(path))

    def load_states(self, path: PathLike) -> None:
        """Reads what save_states wrote, after init or load."""
        self._update.load(self._ready(), os.fsencode(path))

    def probe(self, name: str) -> np.ndarray:
        """A probe of the last forward call, whose arrays are still there and unchanged."""
        probes = self.description.probes
        k = self._position(probes, name, "probe")
        params, taken, outputs = self._last("a probe")
        result = Tensors(self.library, probes[k:k + 1])
        with self.library.lock:
            sizes = self._read_sizes(params, taken)
            self.library.require(self.library.plain("attn_probe_shape", self.table, k, sizes,
                                                    result.address))
            array = result.make(0)
            assert self._saved is not None
            self._call("attn_probe", k, params.address, taken.address, outputs.address,
                       self._saved.address, result.address,
                       self._memory(self._sizes.probe_workspace))
        return array

    # ---- what they share

    def _call(self, name: str, *arguments: Any) -> None:
        self.library.call(name, self.table, *arguments)

    def _refusal(self, text: str) -> Error:
        return Error(f"{self.name}: {text}")

    def _ready(self) -> Tensors:
        if self._params is None:
            if self.description.params:
                raise self._refusal("the parameters are not there yet: call init or load")
            self._replace(Tensors(self.library, ()))
        assert self._params is not None
        return self._params

    def _last(self, what: str) -> Tuple[Tensors, Tensors, Tensors]:
        if self._inputs is None or self._outputs is None:
            raise self._refusal(f"{what} needs a forward call before it")
        return self._ready(), self._inputs, self._outputs

    def _made_gradients(self, what: str) -> Tensors:
        if self._gradients is None:
            raise self._refusal(f"{what} needs a backward call before it")
        return self._gradients

    def _memory(self, count: int) -> int:
        if self._workspace is None or self._workspace.count < count:
            self._workspace = None
            self._workspace = self.library.allocate(count)
        return self._workspace.address

    def _position(self, arguments: Sequence[Argument], name: str, what: str) -> int:
        for k, a in enumerate(arguments):
            if a.name == name:
                return k
        names = ", ".join(a.name for a in arguments)
        raise self._refusal(f"has no {what} {name}" + (f": there are {names}" if names else ""))

    def _differentiable(self, arguments: Sequence[Argument], name: str, what: str) -> int:
        k = self._position(arguments, name, what)
        if not arguments[k].differentiable:
            raise self._refusal(f"{what} {name} has no gradient")
        return k

    def _loss(self) -> str:
        for a in self.description.outputs:
            if not a.extents:
                return a.name
        raise self._refusal("the model has no scalar output: give backward the cotangents")

    @staticmethod
    def _writable(value: Array, name: str) -> None:
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise Error(f"{name}: the array is read-only")

    def _take(self, inputs: Sequence[Array], named: Mapping[str, Array],
              states: Optional[Mapping[str, Array]]) -> Tensors:
        list_ = self.description.inputs
        if len(inputs) > len(list_):
            raise self._refusal(f"takes {len(list_)} inputs, not {len(inputs)}")
        given: Dict[str, Array] = {a.name: value for a, value in zip(list_, inputs)}
        for name, value in named.items():
            self._position(list_, name, "input")
            if name in given:
                raise self._refusal(f"input {name} is given twice")
            given[name] = value
        if self.description.states and states is None:
            raise self._refusal("it keeps states: forward(…, states=m.begin(…))")
        if states is not None and not self.description.states:
            raise self._refusal("it keeps no state")
        for name, value in (states or {}).items():
            self._position(self.description.states, name, "state")
            self._writable(value, name)
            given[name] = value
        taken = Tensors(self.library, self._arguments)
        for k, a in enumerate(self._arguments):
            if a.name not in given:
                what = "input" if k < len(list_) else "state"
                raise self._refusal(f"{what} {a.name} is not given")
            taken.put(k, given[a.name])
        return taken

    def _read_sizes(self, params: Tensors, taken: Tensors) -> Any:
        sizes = (c.c_int64 * (len(self.description.sizes) + 1))()
        self._call("attn_read_sizes", params.address, taken.address, sizes)
        return sizes

    def _shaped(self, arguments: Sequence[Argument], given: Mapping[str, int], group: int,
                first: int = 0) -> Tensors:
        """The extents of parameters (group 0) or inputs (1) for the given run-time sizes; those from
        `first` on need no others."""
        names = [s.name for s in self.description.sizes]
        for name in given:
            if name not in names:
                raise self._refusal(f"has no run-time size {name}")

        def shaped(unknown: int) -> Tensors:
            sizes = (c.c_int64 * (len(names) + 1))(*(given.get(n, unknown) for n in names))
            made = Tensors(self.library, arguments)
            groups: List[Optional[int]] = [None, None, None]
            groups[group] = made.address
            self.library.require(self.library.plain("attn_shapes", self.table, sizes, *groups))
            return made

        made, other = shaped(1), shaped(2)
        for k in range(first, len(arguments)):
            if made.shape(k) != other.shape(k):
                needed = [n for n in names if n not in given]
                raise self._refusal(f"{arguments[k].name} needs the run-time sizes it has: "
                                    f"{', '.join(needed)} not given")
        return made


def model_of(library: Library, table: int) -> Model:
    """A Model whose documentation is that of this model."""
    description = Description.of(library.describe(table))

    def forward(self: Model, *inputs: Array, **named: Array) -> Outputs:
        return Model.forward(self, *inputs, **named)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
    if all(a.name.isidentifier() for a in description.inputs):
        parameters += [inspect.Parameter(a.name, inspect.Parameter.POSITIONAL_OR_KEYWORD)
                       for a in description.inputs]
        parameters += [inspect.Parameter(n, keyword, default=None) for n in ("states", "out")
                       if n not in (a.name for a in description.inputs)]
        setattr(forward, "__signature__", inspect.Signature(parameters))
    forward.__doc__ = f"{description}\n\n{Model.forward.__doc__}"
    made = type(description.name, (Model,), {
        "__doc__": f"{description}\n\n{Model.__doc__}", "__module__": "attn", "forward": forward})
    model: Model = made(library, table)
    return model
