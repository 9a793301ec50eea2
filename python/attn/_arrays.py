"""Arrays of NumPy, and of whoever speaks DLPack, as the tensors of a call; no element is copied."""

from __future__ import annotations

import ctypes as c
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._description import Argument
from ._device import DeviceArray, DLTensor, is_on_host, taken
from ._library import Library
from ._types import DTYPES, bfloat16, derivative_type, empty
from .errors import Error

Array = Any  # a NumPy array, or what has __dlpack__

_TYPES = {dtype: name for name, dtype in DTYPES.items()}
_KDLBFLOAT = 4


def _bits_of_bfloat16(value: Any, name: str) -> Optional[np.ndarray]:
    """A view of the bits of a bfloat16 array of another library, which NumPy does not take over; None
    where it is of another type."""
    capsule = value.__dlpack__()
    pointer = c.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
    t = DLTensor.from_address(pointer(capsule, b"dltensor"))
    if (t.code, t.bits, t.lanes) != (_KDLBFLOAT, 16, 1):
        return None
    shape = tuple(t.shape[k] for k in range(t.ndim))
    if t.strides:
        step = 1
        for k in reversed(range(t.ndim)):
            if shape[k] > 1 and t.strides[k] != step:
                raise _not_contiguous(name)
            step *= shape[k]
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, bfloat16)
    memory: Any = (c.c_uint16 * count).from_address(t.data + t.byte_offset)
    memory.owner = (capsule, value)
    array: np.ndarray = np.frombuffer(memory, bfloat16).reshape(shape)
    return array


def _not_contiguous(name: str) -> Error:
    return Error(f"{name}: its elements are not next to each other: give it np.ascontiguousarray({name})")


def array_of(value: Array, argument: Argument, type_: str, name: str) -> np.ndarray:
    """The array itself, or a view of another library's. A number stands for a tensor of rank 0."""
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, (bool, int, float, np.generic)) and not argument.extents:
        array = np.asarray(value, DTYPES[type_])
    elif hasattr(value, "__dlpack__"):
        try:
            array = np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as e:
            if type_ != "bf16":
                raise Error(f"{name}: {e}") from None
            bits = _bits_of_bfloat16(value, name)
            if bits is None:
                raise Error(f"{name}: {e}") from None
            array = bits
    else:
        raise Error(f"{name}: a {type(value).__name__} is no array of NumPy and has no __dlpack__")
    if type_ == "bf16" and array.dtype == np.uint16:
        array = array.view(bfloat16)
    if array.dtype not in _TYPES or (array.dtype == np.uint16 and type_ != "bf16"):
        raise Error(f"{name}: type is {array.dtype}, must be {type_}")
    if array.ndim > 8:
        raise Error(f"{name}: rank is {array.ndim}, must be {len(argument.extents)}")
    if not array.flags.c_contiguous:
        raise _not_contiguous(name)
    return array


class Tensors:
    """Tensors of one group of a model's arguments, as functions take them, and the arrays that hold
    their elements; None: there are none, as of a gradient that is not wanted."""

    def __init__(self, library: Library, arguments: Sequence[Argument], derivative: bool = False) -> None:
        self.library = library
        self.arguments = arguments
        self.arrays: List[Any] = [None] * len(arguments)  # of NumPy, or DeviceArray
        self.types = [derivative_type(a.type) if derivative else a.type for a in arguments]
        self.list = (library.Tensor * max(len(arguments), 1))()

    def __len__(self) -> int:
        return len(self.arguments)

    @property
    def address(self) -> int:
        return c.addressof(self.list)

    def put(self, k: int, value: Array, kind: str = "") -> None:
        a = self.arguments[k]
        if not self.library.device.is_host:
            return self._put_on_device(k, value, kind + a.name)
        if isinstance(value, DeviceArray) or not is_on_host(value):
            raise Error(f"{kind}{a.name}: it is on a device, the model is on the host: give it numpy()")
        array = array_of(value, a, self.types[k], kind + a.name)
        t = self.list[k]
        t.data = array.ctypes.data
        t.type = self.library.types.index(_TYPES[array.dtype])
        t.rank = array.ndim
        t.extent[:array.ndim] = array.shape
        self.arrays[k] = array

    def _put_on_device(self, k: int, value: Array, name: str) -> None:
        """What is on the host is copied there."""
        if isinstance(value, DeviceArray) and value.library is self.library:
            array = value
        elif not isinstance(value, DeviceArray) and is_on_host(value):
            host = array_of(value, self.arguments[k], self.types[k], name)
            array = DeviceArray.empty(self.library, host.shape, _TYPES[host.dtype], host.itemsize)
            if host.size > 0:
                array.copy_from(host)
        else:
            array = taken(self.library, value, name)
        if len(array.shape) > 8:
            raise Error(f"{name}: rank is {len(array.shape)}, must be {len(self.arguments[k].extents)}")
        self.list[k] = array.tensor()
        self.arrays[k] = array

    def shape(self, k: int) -> Tuple[int, ...]:
        t = self.list[k]
        return tuple(t.extent[:t.rank])

    def derivatives(self) -> "Tensors":
        """Gradients, cotangents or tangents of these: of their extents, without data."""
        made = Tensors(self.library, self.arguments, derivative=True)
        for to, its in zip(made.list, self.list):
            to.rank = its.rank
            to.extent[:] = its.extent[:]
        return made

    def make_all(self) -> "Tensors":
        """Arrays for those that are differentiable."""
        for k, a in enumerate(self.arguments):
            if a.differentiable:
                self.make(k)
        return self

    def make(self, k: int) -> Any:
        """An array for a tensor whose extents are known; the one that is there where it has them."""
        return self.make_of(k, self.shape(k))

    def make_of(self, k: int, shape: Sequence[int]) -> Any:
        type_, old = self.types[k], self.arrays[k]
        if old is not None and old.shape == tuple(shape):
            array = old
        elif self.library.device.is_host:
            array = empty(shape, type_)
        else:
            array = DeviceArray.empty(self.library, shape, type_, DTYPES[type_].itemsize)
        self.put(k, array)
        return array

    def named(self) -> Dict[str, Any]:
        return {a.name: array for a, array in zip(self.arguments, self.arrays) if array is not None}
