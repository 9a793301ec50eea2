"""The types of tensors as NumPy has them."""

from __future__ import annotations

from typing import Any, Dict, Sequence

import numpy as np

try:
    import ml_dtypes

    bfloat16: Any = np.dtype(ml_dtypes.bfloat16)
except ImportError:  # the bits then stand for the numbers
    bfloat16 = np.dtype(np.uint16)

DTYPES: Dict[str, Any] = {
    "f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "f16": np.dtype(np.float16),
    "bf16": bfloat16, "i32": np.dtype(np.int32), "bool": np.dtype(np.bool_)}


def derivative_type(type_: str) -> str:
    """Of gradients and cotangents of tensors of a type."""
    return "f32" if type_ in ("f16", "bf16") else type_


def empty(shape: Sequence[int], type_: str) -> np.ndarray:
    """An array that begins at a cache line."""
    dtype = DTYPES[type_]
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(count + 64, np.uint8)
    begin = -raw.ctypes.data % 64
    made: np.ndarray = raw[begin:begin + count].view(dtype).reshape(shape)
    return made
