"""A shared library of models, called through the C interface of runtime/include/attn.

What structs look like, and what the models have, is asked of the library itself (attn/describe.h):
only the arguments of functions are repeated here, and they are those of one version of the interface."""

from __future__ import annotations

import ctypes as c
import json
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional

from ._device import DEFAULT_STREAM, Device
from .errors import STATUSES, Error

ABI_VERSION = 18

_P, _I32, _I64, _F64, _TEXT = c.c_void_p, c.c_int32, c.c_int64, c.c_double, c.c_char_p


class Lent(c.Structure):
    """An attn_block: memory for a call. `Lent()` is none."""

    _fields_ = [("data", _P), ("bytes", _I64)]


# Functions that give a status and take the context first, then the model: what they take after these.
_MODEL_CALLS: Dict[str, List[Any]] = {
    "attn_read_sizes": [_P, _P, _P],
    "attn_call_sizes": [_P, _P, _P],
    "attn_forward": [_P] * 3 + [Lent] * 2,
    "attn_backward": [_P] * 3 + [Lent] + [_P] * 3 + [Lent],
    "attn_forward_backward": [_P] * 6 + [Lent],
    "attn_forward_backward_workspace": [_P] * 6,
    "attn_jvp": [_P] * 6 + [Lent],
    "attn_hvp": [_P] * 6 + [Lent],
    "attn_probe": [_I32] + [_P] * 3 + [Lent, _P, Lent],
    "attn_step_each": [_P, _I64, _P, _P, _P, Lent],
    "attn_initialise_model": [_P, c.c_uint64],
    "attn_initialise_states": [_P],
    "attn_states_save": [_P, _I64, _TEXT],
    "attn_states_load": [_P, _P, _TEXT],
    "attn_model_save": [_P, _TEXT],
    "attn_model_load_options": [_P, _TEXT, _P],
    "attn_model_load_shapes": [_P, _TEXT, _P],
}

# The others: result, arguments.
_OTHERS: Dict[str, List[Any]] = {
    "attn_describe_interface": [_I64, _P, _I64],
    "attn_describe_model": [_I64, _P, _P, _I64],
    "attn_context_create": [_I32, _P, _P],
    "attn_context_destroy": [None, _P],
    "attn_context_message": [_TEXT, _P],
    "attn_context_wait": [_I32, _P],
    "attn_device_refusal": [_TEXT, _I64],
    "attn_device_allocate": [_P, _P, c.c_size_t],
    "attn_device_free": [None, _P, _P],
    "attn_copy": [_I32, _P, _P, _P],
    "attn_context_threads": [_I32, _P],
    "attn_context_set_threads": [_I32, _P, _I32],
    "attn_allocate": [_P, _P, c.c_size_t],
    "attn_free": [None, _P, _P],
    "attn_shapes": [_I32, _P, _P, _P, _P, _P],
    "attn_probe_shape": [_I32, _P, _I32, _P, _P],
    "attn_step_workspace": [_I64, _P, _P],
    "attn_gradient_norm": [_F64, _P, _I32, _P],
    "attn_scale": [_I32, _P, _I32, _P, _F64],
    "attn_add": [_I32, _P, _I32, _P, _P, _F64],
    "attn_name_matches": [_I32, _TEXT, _TEXT],
}

REPORT = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)


def _struct(name: str, description: Dict[str, Any]) -> Any:
    """A ctypes structure with the fields that the library describes, at the places that it says."""
    kinds: Dict[int, Any] = {4: _I32, 8: _I64}
    fields = []
    for field in description["fields"]:
        kind = kinds[field["bytes"]]
        kind = kind if field["count"] == 1 else kind * field["count"]
        fields.append((field["name"].replace(".", "_"), kind))
    made = type(name, (c.Structure,), {"_fields_": fields})
    places = [getattr(made, field).offset for field, _ in fields]
    if c.sizeof(made) != description["bytes"] or \
            places != [field["offset"] for field in description["fields"]]:
        raise Error(f"{name} is laid out in a way that ctypes does not know", "internal")
    return made


class Library:
    """The models of a shared library, and a context (a device, threads, pooled memory) that they share.

    One call runs at a time; calls of several threads wait for each other."""

    def __init__(self, path: str, threads: int = 0, device: str = "cpu") -> None:
        self.path = path
        self.device = Device(device)
        try:
            self._c = c.CDLL(path)
        except OSError as e:
            raise Error(str(e), "bad file") from None
        if not hasattr(self._c, "attn_describe_interface"):
            raise Error(f"{path}: it does not export the functions of attn/describe.h; "
                        "`attnc build --shared` writes a library that does", "bad file")
        for name, (result, *arguments) in _OTHERS.items():
            self._declare(name, result, arguments)
        for name, arguments in _MODEL_CALLS.items():
            self._declare(name, _I32, [_P, _P] + arguments)
        interface = json.loads(self._text(self._c.attn_describe_interface))
        if interface["abi"] != ABI_VERSION:
            raise Error(f"{path} has version {interface['abi']} of the interface, this package "
                        f"version {ABI_VERSION}: compile the model anew", "bad file")
        self.types: List[str] = interface["types"]
        structs = {name: _struct(name, d) for name, d in interface["structs"].items()}
        self.Tensor = structs["attn_tensor"]
        self.Sizes = structs["attn_sizes"]
        self.LoadOptions = structs["attn_load_options"]
        self.lock = threading.RLock()
        self._context = c.c_void_p()
        options = structs["attn_context_options"](
            threads=threads, device_type=self.device.type, device_ordinal=self.device.ordinal)
        if self.device.kind == "cuda":
            options.cuda_stream = DEFAULT_STREAM
        status = self._c.attn_context_create(c.addressof(options), c.addressof(self._context))
        if status:
            # The struct of a device's type and ordinal, as a function takes it by value.
            id_ = self.device.type | self.device.ordinal << 32
            why = self._c.attn_device_refusal(id_)
            raise Error(f"device {self.device}: {why.decode()}" if why else
                        "a context could not be made", STATUSES[status])
        weakref.finalize(self, self._c.attn_context_destroy, self._context)

    def _declare(self, name: str, result: Any, arguments: List[Any]) -> None:
        function = getattr(self._c, name)
        function.restype, function.argtypes = result, arguments

    @staticmethod
    def _text(describe: Callable[..., int], *arguments: Any) -> str:
        size = describe(*arguments, None, 0) + 1
        text = c.create_string_buffer(size)
        describe(*arguments, text, size)
        return text.value.decode()

    def models(self) -> Dict[str, int]:
        """The addresses of the models' tables, by name, in the order of the source."""
        if not hasattr(self._c, "attn_library_model"):
            return {}
        self._declare("attn_library_model", _P, [_I32])
        found: Dict[str, int] = {}
        while True:
            table = self._c.attn_library_model(len(found))
            if table is None:
                return found
            found[self.describe(table)["name"]] = table

    def table(self, name: str) -> Optional[int]:
        """The table of a model, by its name, in a library that does not list them."""
        if not hasattr(self._c, name + "_model"):
            return None
        self._declare(name + "_model", _P, [])
        table: int = getattr(self._c, name + "_model")()
        return table

    def describe(self, table: int) -> Dict[str, Any]:
        description: Dict[str, Any] = json.loads(self._text(self._c.attn_describe_model, table))
        return description

    def call(self, name: str, *arguments: Any) -> None:
        """A function that takes the context first and gives a status."""
        with self.lock:
            self.require(getattr(self._c, name)(self._context, *arguments))

    def get(self, name: str, *arguments: Any) -> Any:
        """A function that takes the context first and gives a value."""
        with self.lock:
            return getattr(self._c, name)(self._context, *arguments)

    def plain(self, name: str, *arguments: Any) -> Any:
        """A function that takes no context."""
        return getattr(self._c, name)(*arguments)

    def require(self, status: int) -> None:
        if status:
            text = self._c.attn_context_message(self._context).decode(errors="replace")
            raise Error(text or "out of memory", STATUSES.get(status, "internal"))

    @property
    def threads(self) -> int:
        return int(self.get("attn_context_threads"))

    @threads.setter
    def threads(self, count: int) -> None:
        self.call("attn_context_set_threads", count)

    def allocate(self, count: int) -> "Block":
        return Block(self, count)

    def copy(self, to: Any, from_: Any) -> None:
        """Between two tensors of one shape, on the host or the device."""
        self.call("attn_copy", c.addressof(to), c.addressof(from_))

    def wait(self) -> None:
        """Until the device has done what calls have begun."""
        self.call("attn_context_wait")


class Block:
    """Bytes as kernels take them for workspaces and what is kept for gradients."""

    def __init__(self, library: Library, count: int) -> None:
        self.count = max(count, 1)
        if library.device.is_host:
            address = library.plain("attn_allocate", None, self.count)
        else:
            address = library.get("attn_device_allocate", self.count)
        if address is None:
            raise Error(f"out of memory: {self.count} bytes on {library.device}", "no memory")
        self.lent = Lent(address, self.count)
        if library.device.is_host:
            weakref.finalize(self, library.plain, "attn_free", None, address)
        else:
            weakref.finalize(self, library.get, "attn_device_free", address)
