"""What the calls of a model share: their arguments, checked by name, and their memory."""

from __future__ import annotations

import ctypes as c
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from ._arrays import Array, Tensors
from ._description import Argument, Description
from ._device import DeviceArray, is_on_host
from ._library import Block, Lent, Library
from .errors import Error


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


def outputs_of(tensors: Tensors) -> Outputs:
    named = tensors.named()
    return Outputs.of(named, named.values())


class Calls:
    """The last forward call of a model, and what the next one needs."""

    def __init__(self, library: Library, table: int) -> None:
        self.library = library
        self.table = table
        self.description = Description.of(library.describe(table))
        self._arguments = self.description.inputs + self.description.states
        self._params: Optional[Tensors] = None
        self._gradients: Optional[Tensors] = None
        self._terms: Optional[Tensors] = None  # gradients that are then added
        self._input_gradients: Optional[Tensors] = None
        self._inputs: Optional[Tensors] = None  # of the last forward call
        self._outputs: Optional[Tensors] = None
        self._saved: Optional[Block] = None
        self._workspace: Optional[Block] = None
        self._sizes = library.Sizes()

    def _call(self, name: str, *arguments: Any) -> None:
        self.library.call(name, self.table, *arguments)

    def _refusal(self, text: str) -> Error:
        return Error(f"{self.description.name}: {text}")

    def _ready(self) -> Tensors:
        if self._params is None:
            if self.description.params:
                raise self._refusal("the parameters are not there yet: call init or load")
            self._params = Tensors(self.library, ())
        return self._params

    def _last(self, what: str) -> Tuple[Tensors, Tensors, Tensors]:
        if self._inputs is None or self._outputs is None:
            raise self._refusal(f"{what} needs a forward call before it")
        return self._ready(), self._inputs, self._outputs

    def _cotangents(self, outputs: Tensors, given: Optional[Mapping[str, Array]]) -> Tensors:
        if not self.description.gradient:
            raise self._refusal("the model was compiled without gradients")
        taken = outputs.derivatives()
        for name, value in ({self._loss(): 1.0} if given is None else given).items():
            taken.put(self._position(taken.arguments, name, "output"), value, "cotangent of ")
        return taken

    def _wanted(self, taken: Tensors, names: Iterable[str]) -> Tensors:
        """The gradients of these inputs."""
        wanted = taken.derivatives()
        for name in names:
            wanted.make(self._differentiable(wanted.arguments, name, "input"))
        return wanted

    def _made_gradients(self, what: str) -> Tensors:
        if self._gradients is None:
            raise self._refusal(f"{what} needs a backward call before it")
        return self._gradients

    def _memory(self, count: int) -> Lent:
        if self._workspace is None or self._workspace.count < count:
            self._workspace = None
            self._workspace = self.library.allocate(count)
        return self._workspace.lent

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

    def _writable(self, value: Array, name: str) -> None:
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise Error(f"{name}: the array is read-only")
        if not self.library.device.is_host and is_on_host(value) and not isinstance(value, DeviceArray):
            raise Error(f"{name}: what is written is on {self.library.device}; this array is on the host")

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

    def _tangents(self, params: Tensors, taken: Tensors,
                  given: Mapping[str, Array]) -> Tuple[Tensors, Tensors]:
        groups, left = (params.derivatives(), taken.derivatives()), dict(given)
        for group in groups:
            for k, a in enumerate(group.arguments):
                if a.name in left:
                    group.put(k, left.pop(a.name), "tangent of ")
        if left:
            raise self._refusal(f"has no parameter or input {next(iter(left))}")
        return groups

    def _shape_outputs(self, params: Tensors, taken: Tensors, outputs: Tensors) -> None:
        """The extents of the outputs, and what memory calls take, for these arguments."""
        sizes = self._read_sizes(params, taken)
        self.library.require(self.library.plain("attn_shapes", self.table, sizes, None, None,
                                                outputs.address))
        self._call("attn_call_sizes", params.address, taken.address, c.addressof(self._sizes))

    def _read_sizes(self, params: Tensors, taken: Tensors) -> Any:
        sizes = (c.c_int64 * (len(self.description.sizes) + 1))()
        self._call("attn_read_sizes", params.address, taken.address, sizes)
        return sizes

    def _shaped(self, arguments: Sequence[Argument], given: Mapping[str, int], group: int,
                first: int = 0) -> Tensors:
        """The extents of parameters (group 0) or inputs (1) for the given run-time sizes; those from
        `first` on need no others."""
        names = [s.name for s in self.description.sizes]
        for name, value in given.items():
            if name not in names:
                raise self._refusal(f"has no run-time size {name}")
            if value < 0:
                raise self._refusal(f"size {name} is negative")

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
