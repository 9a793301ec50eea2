"""Devices: their names, arrays in their memory, and how those come and go by DLPack."""

from __future__ import annotations

import ctypes as c
import re
from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._types import empty
from .errors import Error

_KINDS: Dict[str, int] = {"cpu": 0, "cuda": 2, "opencl": 4}  # attn_device_type
_TARGETS: Dict[str, str] = {"cpu": "host", "cuda": "cuda", "opencl": "opencl"}
_DLPACK_CPU, _DLPACK_CUDA = 1, 2
_SEEN_BY_HOST = (_DLPACK_CPU, 3, 13)  # pinned and managed memory of CUDA, too
DEFAULT_STREAM = 1  # of CUDA, for the driver and for DLPack


class Device:
    """Of a name: "cpu", "cuda", "cuda:1", "opencl:0"."""

    def __init__(self, name: str) -> None:
        found = re.fullmatch(r"(cpu|cuda|opencl)(?::([0-9]{1,9}))?", name)
        if found is None:
            raise Error(f"device {name!r} is none of cpu, cuda, cuda:1, opencl, opencl:1")
        self.kind, self.ordinal = found[1], int(found[2] or 0)
        self.type = _KINDS[self.kind]

    def __str__(self) -> str:
        return "cpu" if self.is_host else f"{self.kind}:{self.ordinal}"

    @property
    def is_host(self) -> bool:
        return self.type == 0

    @property
    def target(self) -> str:
        """What models are compiled for, so that it runs them."""
        return _TARGETS[self.kind]


class DLTensor(c.Structure):
    """Of DLPack, whose layout is the same in all versions from 0.2 on."""

    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32),
                ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)),
                ("byte_offset", c.c_uint64)]


class _Managed(c.Structure):
    pass


_DELETER = c.CFUNCTYPE(None, c.POINTER(_Managed))
_Managed._fields_ = [("tensor", DLTensor), ("context", c.c_void_p), ("deleter", _DELETER)]
_FREE_CAPSULE = c.CFUNCTYPE(None, c.c_void_p)

# Type codes and bits of DLPack, by the names of types.
_CODES: Dict[str, Tuple[int, int]] = {"f32": (2, 32), "f64": (2, 64), "f16": (2, 16), "bf16": (4, 16),
                                      "i32": (0, 32), "bool": (6, 8)}
_TYPES = {code: name for name, code in _CODES.items()}

_lent: Dict[int, Any] = {}  # what capsules have that are not yet released, by their addresses


def _take_back(managed: Any) -> None:
    _lent.pop(c.addressof(managed.contents), None)


def _free_capsule(capsule: Any) -> None:
    # Nobody took what is in it.
    valid, pointer = c.pythonapi.PyCapsule_IsValid, c.pythonapi.PyCapsule_GetPointer
    valid.restype, valid.argtypes = c.c_int, [c.c_void_p, c.c_char_p]
    pointer.restype, pointer.argtypes = c.c_void_p, [c.c_void_p, c.c_char_p]
    if valid(capsule, b"dltensor"):
        _lent.pop(pointer(capsule, b"dltensor"), None)


# As C calls them, for as long as the process lives.
_TAKE_BACK: Any = _DELETER(_take_back)
_FREE: Any = _FREE_CAPSULE(_free_capsule)


class DeviceArray:
    """An array in the memory of a model's device. `numpy()` copies it to the host; PyTorch, CuPy and JAX
    take it where it is by DLPack: torch.from_dlpack(array)."""

    def __init__(self, library: Any, shape: Sequence[int], type_: str, address: int, owner: Any) -> None:
        self.library = library
        self.shape: Tuple[int, ...] = tuple(shape)
        self.type = type_
        self.address = address
        self._owner = owner

    @classmethod
    def empty(cls, library: Any, shape: Sequence[int], type_: str, element_bytes: int) -> "DeviceArray":
        count = int(np.prod(shape, dtype=np.int64)) * element_bytes
        block = library.allocate(count)
        return cls(library, shape, type_, block.lent.data, block)

    @property
    def device(self) -> str:
        return str(self.library.device)

    def numpy(self) -> np.ndarray:
        """A copy on the host; waits for the calls that write the array."""
        to = empty(self.shape, self.type)
        self.library.copy(self._on_host(to), self.tensor())
        return to

    def copy_from(self, array: np.ndarray) -> None:
        """Overwrites the elements by those of an array of the host, of the same shape and type."""
        self.library.copy(self.tensor(), self._on_host(array))

    def tensor(self) -> Any:
        """As the C interface takes it."""
        t = self.library.Tensor(type=self.library.types.index(self.type), rank=len(self.shape))
        t.data = self.address
        t.extent[:len(self.shape)] = self.shape
        t.device_type, t.device_ordinal = self.library.device.type, self.library.device.ordinal
        return t

    def _on_host(self, array: np.ndarray) -> Any:
        t = self.tensor()
        t.data, t.device_type, t.device_ordinal = array.ctypes.data, 0, 0
        return t

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __float__(self) -> float:
        return float(self.numpy())

    def __repr__(self) -> str:
        return f"attn.DeviceArray({self.type}[{', '.join(map(str, self.shape))}], {self.device})"

    def __dlpack_device__(self) -> Tuple[int, int]:
        if self.library.device.kind != "cuda":
            raise BufferError(f"memory of {self.device} has no meaning to others: numpy() copies it")
        return _DLPACK_CUDA, self.library.device.ordinal

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        """The elements themselves, in a capsule that keeps the array alive. Calls are in the default
        stream; for another, all that was begun is done on return."""
        kind, ordinal = self.__dlpack_device__()
        if stream not in (None, -1, DEFAULT_STREAM):
            self.library.wait()
        rank = len(self.shape)
        code, bits = _CODES[self.type]
        shape = (c.c_int64 * max(rank, 1))(*self.shape)
        managed = _Managed(DLTensor(self.address, kind, ordinal, rank, code, bits, 1,
                                    c.cast(shape, c.POINTER(c.c_int64)), None, 0), None, _TAKE_BACK)
        _lent[c.addressof(managed)] = (managed, shape, self)
        make = c.pythonapi.PyCapsule_New
        make.restype, make.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return make(c.addressof(managed), b"dltensor", c.cast(_FREE, c.c_void_p))


def dlpack_device(value: Any) -> Optional[Tuple[int, int]]:
    """Where an array of another library is: DLPack's number of the kind, and the ordinal."""
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        return None
    kind, ordinal = value.__dlpack_device__()
    return int(kind), int(ordinal)


def is_on_host(value: Any) -> bool:
    where = dlpack_device(value)
    return where is None or where[0] in _SEEN_BY_HOST


def taken(library: Any, value: Any, name: str) -> DeviceArray:
    """The array of another library, without a copy, if it is on the library's device. What was begun with
    it is done before what comes to the default stream, which is that of calls."""
    where = dlpack_device(value)
    if library.device.kind != "cuda" or where != (_DLPACK_CUDA, library.device.ordinal):
        kind, ordinal = where if where is not None else (_DLPACK_CPU, 0)
        text = f"cuda:{ordinal}" if kind == _DLPACK_CUDA else f"a device of DLPack's kind {kind}"
        raise Error(f"{name}: it is on {text}, the model is on {library.device}")
    capsule = value.__dlpack__(stream=DEFAULT_STREAM)
    pointer = c.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    t = DLTensor.from_address(pointer(capsule, b"dltensor"))
    type_ = _TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if type_ is None:
        raise Error(f"{name}: its type is code {t.code} of DLPack with {t.bits} bits, which no model has")
    shape, step = tuple(t.shape[k] for k in range(t.ndim)), 1
    for k in reversed(range(t.ndim if t.strides else 0)):
        if shape[k] > 1 and t.strides[k] != step:
            raise Error(f"{name}: its elements are not next to each other: give it contiguous()")
        step *= shape[k]
    return DeviceArray(library, shape, type_, (t.data or 0) + t.byte_offset, (capsule, value))
