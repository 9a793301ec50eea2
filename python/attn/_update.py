"""The update that a model names with `using`: its options, and what it remembers."""

from __future__ import annotations

import ctypes as c
import dataclasses
import math
from typing import Any, List, Mapping, Optional, Sequence

from ._arrays import Tensors
from ._description import Argument, Description
from ._library import Library
from .errors import Error


@dataclasses.dataclass(frozen=True)
class Group:
    """Parameters that a step treats in a way of their own: those of names that match the pattern, in
    which `*` stands for any text and `?` for one character, and of at most this rank. Frozen ones stay
    as they are, and their gradients are not part of the norm that the update takes."""

    pattern: str = "*"
    options: Mapping[str, float] = dataclasses.field(default_factory=dict)
    frozen: bool = False
    max_rank: int = 8


class Update:
    def __init__(self, library: Library, table: int, description: Description) -> None:
        self.library, self.table, self.description = library, table, description
        self.steps = 0
        self._states: Optional[Tensors] = None
        self._workspace: Any = None

    def begin(self, params: Tensors) -> None:
        self.steps, self._states, self._workspace = 0, None, None

    def _made_states(self, params: Tensors) -> Tensors:
        """All states of all parameters, at first as they are before the first step."""
        if self._states is None:
            arguments = [Argument(f"state.{a.name}.{state}", "f64" if a.type == "f64" else "f32",
                                  a.extents) for state in self.description.step_states
                         for a in params.arguments]
            states = Tensors(self.library, arguments)
            for k, a in enumerate(arguments):
                states.make_of(k, params.shape(k % len(params)))
            self.library.call("attn_initialise_states", self.table, states.address)
            self._states = states
        return self._states

    def _options(self, params: Tensors, gradients: Any, given: Mapping[str, float],
                 groups: Sequence[Group]) -> Any:
        """A row for each parameter. Takes the gradients of frozen ones out of the list."""
        defaults = self.description.step_options
        assert defaults is not None
        names = list(defaults)

        def check(options: Mapping[str, float]) -> None:
            for name in options:
                if name not in defaults:
                    raise Error(f"{self.description.name}: its update has no option {name}: there are "
                                + ", ".join(names))

        check(given)
        everywhere = {n: math.nan if v is None else v for n, v in {**defaults, **given}.items()}
        rows = [dict(everywhere) for _ in params.arguments]
        for group in groups:
            check(group.options)
            chosen: List[int] = [
                k for k, a in enumerate(params.arguments) if len(a.extents) <= group.max_rank and
                self.library.plain("attn_name_matches", group.pattern.encode(), a.name.encode())]
            if not chosen:
                raise Error(f"{self.description.name}: no parameter is of the group {group.pattern}")
            for k in chosen:
                rows[k].update(group.options)
                if group.frozen:
                    gradients[k].data = 0
        values = [row[name] for row in rows for name in names]
        return (c.c_double * max(len(values), 1))(*values)

    def step(self, params: Tensors, gradients: Tensors, given: Mapping[str, float],
             groups: Sequence[Group]) -> None:
        list_ = type(gradients.list).from_buffer_copy(gradients.list)
        options = self._options(params, list_, given, groups)
        states = self._made_states(params)
        count = self.library.plain("attn_step_workspace", self.table, params.address)
        if self._workspace is None or self._workspace.count < count:
            self._workspace = self.library.allocate(count)
        self.library.call("attn_step_each", self.table, options, self.steps + 1, params.address,
                          c.addressof(list_), states.address, self._workspace.lent)
        self.steps += 1

    def save(self, params: Tensors, path: bytes) -> None:
        states = self._made_states(params)
        self.library.call("attn_states_save", self.table, states.address, self.steps, path)

    def load(self, params: Tensors, path: bytes) -> None:
        states, steps = self._made_states(params), c.c_int64(self.steps)
        self.library.call("attn_states_load", self.table, states.address, c.addressof(steps), path)
        self.steps = steps.value
