"""What a model has, as its table says, and how that reads."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Extent:
    """One dimension: its text in the source, its value where that is known, and the position of the
    run-time size that it is, if it is one."""

    text: str
    value: Optional[int] = None
    size: Optional[int] = None

    def __str__(self) -> str:
        known = self.value is not None and str(self.value) != self.text
        return f"{self.text}={self.value}" if known else self.text


@dataclasses.dataclass(frozen=True)
class Argument:
    """A parameter, input, state, output or probe."""

    name: str
    type: str  # "f32"
    extents: Tuple[Extent, ...]
    differentiable: bool = False
    weight_name: str = ""
    init: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.type}[{', '.join(map(str, self.extents))}]"


@dataclasses.dataclass(frozen=True)
class Size:
    """A size that each call reads off its arguments."""

    name: str
    least: int
    greatest: Optional[int]

    def __str__(self) -> str:
        upper = "" if self.greatest is None else str(self.greatest)
        return self.name if not self.least and not upper else f"{self.name} in {self.least}..{upper}"


def _extents(list_: List[Dict[str, Any]]) -> Tuple[Extent, ...]:
    return tuple(Extent(e.get("text", ""), e.get("value"), e.get("size")) for e in list_)


def _arguments(list_: List[Dict[str, Any]]) -> Tuple[Argument, ...]:
    return tuple(Argument(a["name"], a["type"], _extents(a["extents"]), a["differentiable"],
                          a["weight_name"], a["init"]) for a in list_)


@dataclasses.dataclass(frozen=True)
class Description:
    """A model's table."""

    name: str
    sizes: Tuple[Size, ...]
    params: Tuple[Argument, ...]
    inputs: Tuple[Argument, ...]
    states: Tuple[Argument, ...]
    outputs: Tuple[Argument, ...]
    probes: Tuple[Argument, ...]
    saved: Tuple[Tuple[str, Tuple[Extent, ...]], ...]
    gradient: bool
    jvp: bool
    hvp: bool
    step_options: Optional[Dict[str, Optional[float]]]  # None: the model names no update
    step_states: Tuple[str, ...]
    source_hash: str

    @classmethod
    def of(cls, d: Dict[str, Any]) -> "Description":
        step = d["step"]
        return cls(
            d["name"],
            tuple(Size(s["name"], s["least"], s["greatest"]) for s in d["sizes"]),
            _arguments(d["params"]), _arguments(d["inputs"]), _arguments(d["states"]),
            _arguments(d["outputs"]), _arguments(d["probes"]),
            tuple((part["type"], _extents(part["extents"])) for part in d["saved"]),
            d["gradient"], d["jvp"], d["hvp"],
            None if step is None else {o["name"]: o["default"] for o in step["options"]},
            () if step is None else tuple(step["states"]), d["source_hash"])

    def __str__(self) -> str:
        """As the source has it: "name(x: f32[B, D=64]) -> y: f32[B]", parameters below."""
        outputs = ", ".join(str(a) for a in self.outputs)
        lines = [f"{self.name}({', '.join(str(a) for a in self.inputs)}) -> {outputs}"]
        if self.sizes:
            lines.append("  size " + ", ".join(str(s) for s in self.sizes))
        for what, list_ in (("param", self.params), ("state", self.states), ("probe", self.probes)):
            lines += [f"  {what} {a}" for a in list_]
        derivatives = [name for name in ("gradient", "jvp", "hvp") if getattr(self, name)]
        if derivatives:
            lines.append("  derivatives: " + ", ".join(derivatives))
        if self.step_options is not None:
            options = [n if v is None else f"{n}={v:g}" for n, v in self.step_options.items()]
            lines.append(f"  step({', '.join(options)})")
        return "\n".join(lines)
