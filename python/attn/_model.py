"""A model with all that training it needs: parameters, gradients, what forward keeps, the update."""

from __future__ import annotations

import ctypes as c
import inspect
import os
import types
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import Array, Tensors
from ._calls import Calls, Outputs, outputs_of
from ._description import Description
from ._device import DeviceArray
from ._library import REPORT, Lent, Library
from ._types import DTYPES
from ._update import Group, Update

PathLike = Union[str, "os.PathLike[str]"]


class Model(Calls):
    """A model of a library; `attn.compile` and `attn.load` make it.

    Its calls take NumPy arrays, or arrays of any library that speaks DLPack, and read them where they
    are. What they give are NumPy arrays, or DeviceArrays of a model on a device, where what is on the host
    is copied. `print(m)` shows what they are called and how they are shaped."""

    def __init__(self, library: Library, table: int) -> None:
        super().__init__(library, table)
        self._update = Update(library, table, self.description)

    @property
    def name(self) -> str:
        return self.description.name

    @property
    def device(self) -> str:
        """"cpu", "cuda:0": in whose memory parameters and results are."""
        return str(self.library.device)

    def wait(self) -> None:
        """Until the device has done what calls have begun; a failure of that is raised here, or by a later
        call. On the CPU there is nothing to wait for."""
        self.library.wait()

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
        if keep:
            self._inputs = self._outputs = None  # a failed forward leaves nothing for backward
        taken = self._take(inputs, named, states)
        outputs = Tensors(self.library, self.description.outputs)
        with self.library.lock:
            self._shape_outputs(params, taken, outputs)
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
            workspace = self._memory(need.training_workspace if keep else need.forward_workspace)
            if keep and (self._saved is None or self._saved.count < need.saved):
                self._saved = self.library.allocate(need.saved)
            saved = self._saved.lent if keep and self._saved is not None else Lent()
            self._call("attn_forward", params.address, taken.address, outputs.address, saved,
                       workspace)
            if keep:
                self._inputs, self._outputs = taken, outputs
        return outputs_of(outputs)

    def begin(self, **sizes: int) -> Dict[str, np.ndarray]:
        """States for these run-time sizes, all zeros: one for each sequence of calls."""
        if not self.description.states:
            raise self._refusal("it keeps no state")
        made = self._shaped(self._arguments, sizes, 1, len(self.description.inputs))
        for k in range(len(self.description.inputs), len(self._arguments)):
            state = made.make(k)
            if isinstance(state, DeviceArray):
                state.copy_from(np.zeros(state.shape, DTYPES[made.types[k]]))
            else:
                state[...] = 0
        return made.named()

    def backward(self, cotangents: Optional[Mapping[str, Array]] = None, *,
                 inputs: Iterable[str] = (), accumulate: bool = False) -> Dict[str, np.ndarray]:
        """The gradients of all parameters, and of these inputs, for the last forward call, whose arrays
        are still there and unchanged.

        cotangents: of outputs, by name; those that are not given are zero. By default 1 for the loss, the
        first scalar output. accumulate: adds the gradients of parameters to those that are there."""
        params, taken, outputs = self._last("backward")
        given, wanted = self._cotangents(outputs, cotangents), self._wanted(taken, inputs)
        if accumulate and self._gradients is None:
            raise self._refusal("gradients are added to those of a backward call")
        made = self._terms if accumulate else self._gradients
        if made is None:
            made = params.derivatives().make_all()
        with self.library.lock:
            workspace = self._memory(self._sizes.backward_workspace)
            assert self._saved is not None
            self._call("attn_backward", params.address, taken.address, outputs.address,
                       self._saved.lent, given.address, made.address, wanted.address, workspace)
        if not accumulate:
            self._gradients = made
        else:
            assert self._gradients is not None
            self._terms = made
            self.library.call("attn_add", len(made), self._gradients.address, made.address, 1.0)
        return {**self._gradients.named(), **wanted.named()}

    def forward_backward(self, *given: Array, cotangents: Optional[Mapping[str, Array]] = None,
                         inputs: Iterable[str] = (), **named: Array) -> Outputs:
        """Forward and backward in one call, which takes less memory than the two: the outputs for these
        inputs; the gradients are in `gradients`, those of the inputs that `inputs` names in
        `input_gradients`. No backward and no probe may follow.

        cotangents: as of backward."""
        params = self._ready()
        self._inputs = self._outputs = None
        taken = self._take(given, named, None)
        outputs = Tensors(self.library, self.description.outputs)
        with self.library.lock:
            self._shape_outputs(params, taken, outputs)
            for k in range(len(outputs.arguments)):
                outputs.make(k)
            of_outputs, wanted = self._cotangents(outputs, cotangents), self._wanted(taken, inputs)
            made = self._gradients
            if made is None:
                made = params.derivatives().make_all()
            count = c.c_int64()
            arguments = of_outputs.address, made.address, wanted.address
            self._call("attn_forward_backward_workspace", params.address, taken.address, *arguments,
                       c.addressof(count))
            self._call("attn_forward_backward", params.address, taken.address, outputs.address,
                       *arguments, self._memory(count.value))
            self._gradients, self._input_gradients = made, wanted
        return outputs_of(outputs)

    @property
    def input_gradients(self) -> Mapping[str, np.ndarray]:
        """Of the inputs that the last forward_backward call named."""
        return types.MappingProxyType({} if self._input_gradients is None
                                      else self._input_gradients.named())

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

    def probe(self, name: str) -> Any:
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
                       self._saved.lent, result.address,
                       self._memory(self._sizes.probe_workspace))
        return array

    def jvp(self, inputs: Mapping[str, Array], tangents: Mapping[str, Array]) -> Tuple[Outputs, Outputs]:
        """The outputs for these inputs, and how they change along tangents of parameters and inputs, by
        name; what is not given is zero. For models compiled with derive=["jvp"]."""
        params, taken = self._ready(), self._take((), inputs, None)
        along, along_inputs = self._tangents(params, taken, tangents)
        outputs = Tensors(self.library, self.description.outputs)
        with self.library.lock:
            self._shape_outputs(params, taken, outputs)
            for k in range(len(outputs)):
                outputs.make(k)
            changes = outputs.derivatives().make_all()
            self._call("attn_jvp", params.address, taken.address, along.address, along_inputs.address,
                       outputs.address, changes.address, self._memory(self._sizes.jvp_workspace))
        return outputs_of(outputs), outputs_of(changes)

    def hvp(self, inputs: Mapping[str, Array], tangents: Mapping[str, Array]) -> Dict[str, np.ndarray]:
        """How the gradient of the loss, the first scalar output, changes along these tangents: for each
        parameter and real input. For models compiled with derive=["hvp"]."""
        params, taken = self._ready(), self._take((), inputs, None)
        along, along_inputs = self._tangents(params, taken, tangents)
        with self.library.lock:
            self._call("attn_call_sizes", params.address, taken.address, c.addressof(self._sizes))
            made, made_inputs = params.derivatives().make_all(), taken.derivatives().make_all()
            self._call("attn_hvp", params.address, taken.address, along.address, along_inputs.address,
                       made.address, made_inputs.address, self._memory(self._sizes.hvp_workspace))
        return {**made.named(), **made_inputs.named()}


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
