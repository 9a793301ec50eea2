"""Models of attn in Python: compiled from their formulas, called with NumPy arrays.

    import attn
    m = attn.compile("model.attn", D=256)
    m.init(seed=1)
    loss, y = m.forward(x, wanted)
    m.backward()
    m.step(lr=1e-3)

`print(m)` shows the model's inputs, parameters and outputs. `attn.torch` makes it an operator of
PyTorch."""

from __future__ import annotations

from typing import Any

from ._calls import Outputs
from ._compile import cache_folder, compile, compile_text, load
from ._description import Argument, Description, Extent, Size
from ._device import DeviceArray
from ._model import Model
from ._types import bfloat16
from ._update import Group
from .errors import CompileError, Error

__all__ = ["Argument", "CompileError", "Description", "DeviceArray", "Error", "Extent", "Group", "Model",
           "Outputs", "Size", "bfloat16", "cache_folder", "compile", "compile_text", "load", "torch"]


def __getattr__(name: str) -> Any:
    # Not before it is asked for: NumPy is all that the rest needs.
    if name == "torch":
        import importlib

        return importlib.import_module("attn.torch")
    raise AttributeError(f"module 'attn' has no attribute {name!r}")
