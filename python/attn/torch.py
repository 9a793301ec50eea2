"""A model as an operator of PyTorch: its gradients are autograd's, torch.compile and
DistributedDataParallel take it as they take any other.

    f = attn.torch.function(m)            # y = f(x, wq, wk): inputs, states, parameters in order
    layer = attn.torch.Module(m, seed=1)  # an nn.Module with the model's parameters: y = layer(x)

Tensors are read and written where they are; those that are not contiguous are copied first. Calls use as
many threads as torch.get_num_threads() says. A model on "cuda" takes tensors of that GPU."""

from __future__ import annotations

import contextlib
import ctypes as c
import hashlib
import keyword
import math
import re
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import torch
from torch.utils.dlpack import from_dlpack

from ._description import Argument, Extent
from ._device import DeviceArray
from ._library import Block, Lent
from ._model import Model
from ._types import derivative_type
from .errors import Error

Result = Union[torch.Tensor, Tuple[torch.Tensor, ...]]

_DTYPES = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16,
           "bf16": torch.bfloat16, "i32": torch.int32, "bool": torch.bool}
_TYPES = {dtype: name for name, dtype in _DTYPES.items()}

_ZEROED = 1 << 18  # bytes that are set to zero in no time
_PLANS = 100  # shapes of calls that are remembered

# By their names, which PyTorch knows for the whole process, and exported programs across processes.
_operators: Dict[str, "Operator"] = {}


def _lent(block: torch.Tensor) -> Lent:
    return Lent(block.data_ptr(), block.numel())


def _identifiers(arguments: Sequence[Argument]) -> List[str]:
    """Names that a schema may have."""
    found = ["keep", "self"]
    for a in arguments:
        name = re.sub(r"\W", "_", a.name)
        while name in found or keyword.iskeyword(name):
            name += "_"
        found.append(name)
    return found[2:]


class Operator:
    """A model's forward and backward as two operators of PyTorch: `forward` takes inputs, states and
    parameters, and whether to keep what gradients need; it gives the outputs and the block that is
    kept."""

    def __init__(self, model: Model, name: str) -> None:
        d = model.description
        self.model = model
        self.device = torch.device(model.device)
        self.given = d.inputs + d.states
        self.arguments = self.given + d.params
        self.first_state, self.first_param = len(d.inputs), len(self.given)
        self.plans: Dict[Any, Tuple[List[List[int]], Any]] = {}  # by the shapes of all tensors
        self._workspace: Optional[Block] = None
        self._threads = 0
        # Each run-time size where it is an extent: (argument, dimension).
        self._places: Dict[Optional[int], Tuple[int, int]] = {
            e.size: (n, k) for n, a in reversed(list(enumerate(self.arguments)))
            for k, e in enumerate(a.extents) if e.size is not None}
        needed = [e for a in d.outputs for e in a.extents] + [e for _, p in d.saved for e in p]
        # Whether shapes follow for sizes that are symbols; where an extent is computed from several, a
        # traced graph is for the sizes that it was traced with.
        self._symbolic = all(e.value is not None or e.size in self._places for e in needed)

        names = _identifiers(self.arguments)
        states = names[self.first_state:self.first_param]
        schema = ", ".join(f"Tensor({chr(97 + k % 26)}{k}!) {n}" if n in states else f"Tensor {n}"
                           for k, n in enumerate(names))
        results = ", ".join(["Tensor"] * (len(d.outputs) + 1))
        self.forward: Any = torch.library.custom_op(
            name, self._forward, mutates_args=states, device_types=self.device.type,
            schema=f"({schema}, bool keep) -> ({results})")
        self.forward.register_fake(self._forward_shapes)
        if not d.gradient:
            return
        self.backward: Any = torch.library.custom_op(
            name + "_backward", self._backward, mutates_args=(), device_types=self.device.type,
            schema="(Tensor[] arguments, Tensor[] outputs, Tensor saved, Tensor?[] cotangents, "
                   "bool[] wanted) -> Tensor[]")
        self.backward.register_fake(self._backward_shapes)
        self.backward.register_autograd(self._refuse_second, setup_context=lambda ctx, inputs, output: None)
        self.forward.register_autograd(self._gradients, setup_context=self._keep)

    # ---- shapes

    def _shape(self, extents: Sequence[Extent], tensors: Sequence[torch.Tensor]) -> List[Any]:
        def extent(e: Extent) -> Any:
            if e.value is not None:
                return e.value
            argument, dimension = self._places[e.size]
            return tensors[argument].shape[dimension]
        return [extent(e) for e in extents]

    def _saved_bytes(self, tensors: Sequence[torch.Tensor]) -> Any:
        """At least what the block takes: its parts begin at multiples of 128 bytes."""
        total: Any = 128 + 8 * (1 + len(self.model.description.sizes))
        for type_, extents in self.model.description.saved:
            total = total + 128 + _DTYPES[type_].itemsize * math.prod(self._shape(extents, tensors))
        return total

    def _forward_shapes(self, *arguments: Any) -> Tuple[torch.Tensor, ...]:
        *tensors, keep = arguments
        d = self.model.description
        if self._symbolic:
            shapes = [self._shape(a.extents, tensors) for a in d.outputs]
            saved = self._saved_bytes(tensors) if keep else 0
        else:
            # No element is read: any address will do.
            call = _Call(self, [[int(n) for n in t.shape] for t in tensors], None)
            shapes, saved = call.output_shapes, call.need.saved if keep else 0
        made = [tensors[0].new_empty(shape, dtype=_DTYPES[a.type]) if tensors else
                torch.empty(shape, dtype=_DTYPES[a.type], device=self.device)
                for a, shape in zip(d.outputs, shapes)]
        return (*made, torch.empty([saved], dtype=torch.uint8,
                                   device=tensors[0].device if tensors else self.device))

    def _backward_shapes(self, arguments: List[torch.Tensor], outputs: List[torch.Tensor],
                         saved: torch.Tensor, cotangents: List[Optional[torch.Tensor]],
                         wanted: List[bool]) -> List[torch.Tensor]:
        return [t.new_empty(t.shape, dtype=_DTYPES[derivative_type(a.type)])
                for t, a, is_wanted in zip(arguments, self.arguments, wanted) if is_wanted]

    # ---- calls

    def _memory(self, count: int) -> Lent:
        if self._workspace is None or self._workspace.count < count:
            self._workspace = None
            self._workspace = self.model.library.allocate(count)
        return self._workspace.lent

    def _set_threads(self) -> None:
        threads = torch.get_num_threads()
        if threads != self._threads:
            self.model.library.threads = threads
            self._threads = threads

    @contextlib.contextmanager
    def _in_order(self) -> Iterator[None]:
        """Calls are in CUDA's default stream. Where PyTorch works in another, each waits for the other."""
        stream = torch.cuda.current_stream(self.device) if self.device.type == "cuda" else None
        is_other = stream is not None and stream.cuda_stream != 0
        if stream is not None and is_other:
            stream.synchronize()
        yield
        if is_other:
            self.model.library.wait()

    def _forward(self, *arguments: Any) -> Tuple[torch.Tensor, ...]:
        *tensors, keep = arguments
        library, d = self.model.library, self.model.description
        tensors = self._contiguous(tensors)
        with library.lock, self._in_order():
            self._set_threads()
            call = _Call(self, [t.shape for t in tensors], tensors)
            outputs = [torch.empty(shape, dtype=_DTYPES[a.type], device=self.device)
                       for a, shape in zip(d.outputs, call.output_shapes)]
            need = call.need.saved if not self._symbolic else self._saved_bytes(tensors)
            if need < call.need.saved:
                raise Error(f"{d.name}: {call.need.saved} bytes are kept, not {need}", "internal")
            # No one writes between the parts of the block. opcheck compares its bytes.
            make = torch.zeros if need <= _ZEROED else torch.empty
            saved = make([need if keep else 0], dtype=torch.uint8, device=self.device)
            list_ = call.pack(d.outputs, outputs)
            library.call("attn_forward", self.model.table, call.params, call.inputs,
                         c.addressof(list_), _lent(saved) if keep else Lent(),
                         self._memory(call.need.training_workspace if keep else
                                      call.need.forward_workspace))
        return (*outputs, saved)

    def _backward(self, arguments: List[torch.Tensor], outputs: List[torch.Tensor],
                  saved: torch.Tensor, cotangents: List[Optional[torch.Tensor]],
                  wanted: List[bool]) -> List[torch.Tensor]:
        library, d = self.model.library, self.model.description
        if saved.numel() == 0:
            raise Error(f"{d.name}: forward kept nothing for gradients")
        tensors = self._contiguous(arguments)
        if saved.data_ptr() % 64:
            saved = saved.clone()
        with library.lock, self._in_order():
            self._set_threads()
            call = _Call(self, [t.shape for t in tensors], tensors)
            made = [torch.empty(t.shape, dtype=_DTYPES[derivative_type(a.type)], device=self.device)
                    if is_wanted else None for t, a, is_wanted in zip(tensors, self.arguments, wanted)]
            results = call.pack(d.outputs, [t.contiguous() for t in outputs])
            given = call.pack(d.outputs, [None if t is None else t.contiguous() for t in cotangents],
                              "cotangent of ")
            params = call.pack(d.params, made[self.first_param:], "gradient of ")
            inputs = call.pack(self.given, made[:self.first_param], "gradient of ")
            library.call("attn_backward", self.model.table, call.params, call.inputs,
                         c.addressof(results), _lent(saved), c.addressof(given),
                         c.addressof(params), c.addressof(inputs),
                         self._memory(call.need.backward_workspace))
        return [t for t in made if t is not None]

    def _contiguous(self, tensors: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        for a, t in zip(self.arguments[self.first_state:self.first_param],
                        tensors[self.first_state:self.first_param]):
            if not t.is_contiguous():
                raise Error(f"{a.name}: a state changes in place: give it contiguous()")
        return [t.contiguous() for t in tensors]

    # ---- autograd

    @staticmethod
    def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, ...]) -> None:
        ctx.save_for_backward(*inputs[:-1], *output)
        ctx.set_materialize_grads(False)

    def _gradients(self, ctx: Any, *grads: Optional[torch.Tensor]) -> Tuple[Any, ...]:
        n = len(self.arguments)
        *kept, saved = ctx.saved_tensors  # once: checkpoint() computes them again
        tensors, outputs = kept[:n], kept[n:]
        cotangents = [None if g is None or not a.differentiable else
                      g.to(_DTYPES[derivative_type(a.type)])
                      for a, g in zip(self.model.description.outputs, grads)]
        wanted = [need and a.differentiable for need, a in zip(ctx.needs_input_grad, self.arguments)]
        made = iter(self.backward(tensors, outputs, saved, cotangents, wanted))
        return (*(next(made).to(t.dtype) if w else None for t, w in zip(tensors, wanted)), None)

    def _refuse_second(self, ctx: Any, *grads: Any) -> Any:
        raise Error(f"{self.model.name}: its gradients have no derivatives in PyTorch; "
                    "attn.compile(…, derive=['hvp']) and m.hvp give products with second ones")

    # ---- what users call

    def __call__(self, *arguments: torch.Tensor, **named: torch.Tensor) -> Result:
        names = [a.name for a in self.arguments]
        if named:
            given = dict(zip(names, arguments))
            for name in named:
                if name not in names or name in given:
                    raise Error(f"{self.model.name}: {name} is given twice" if name in given else
                                f"{self.model.name}: takes no {name}: there are {', '.join(names)}")
            given.update(named)
            missing = [name for name in names if name not in given]
            if missing:
                raise Error(f"{self.model.name}: {', '.join(missing)}: not given")
            arguments = tuple(given[name] for name in names)
        if len(arguments) != len(names):
            raise Error(f"{self.model.name}: takes {len(names)} tensors ({', '.join(names)}), not "
                        f"{len(arguments)}")
        keep = self.model.description.gradient and torch.is_grad_enabled() and \
            any(t.requires_grad for t in arguments)
        outputs: Tuple[torch.Tensor, ...] = self.forward(*arguments, keep)[:-1]
        return outputs[0] if len(outputs) == 1 else outputs

    def __deepcopy__(self, memo: Any) -> "Operator":
        return self  # a function has no state; a copied module has parameters of its own

    def __repr__(self) -> str:
        return f"attn.torch.function({self.model!r})"


class _Call:
    """The tensors of one call as functions take them, checked, and what follows from their shapes."""

    def __init__(self, op: Operator, shapes: Sequence[Sequence[int]],
                 tensors: Optional[Sequence[torch.Tensor]]) -> None:
        model, n = op.model, op.first_param
        self.library = model.library
        self._device = op.device
        self._place = (model.library.device.type, model.library.device.ordinal)
        self._lists: List[Any] = []
        d = model.description
        if tensors is None:
            groups = [self._shaped(op.given, shapes[:n]), self._shaped(d.params, shapes[n:])]
        else:
            groups = [self.pack(op.given, tensors[:n]), self.pack(d.params, tensors[n:])]
        self.inputs, self.params = map(c.addressof, groups)
        # Functions check their arguments in full; what follows from shapes is the same each time.
        key = tuple(map(tuple, shapes))
        if key not in op.plans:
            if len(op.plans) >= _PLANS:
                op.plans.clear()
            op.plans[key] = self._plan(model)
        self.output_shapes, self.need = op.plans[key]

    def _plan(self, model: Model) -> Tuple[List[List[int]], Any]:
        library, d = self.library, model.description
        sizes = (c.c_int64 * (len(d.sizes) + 1))()
        library.call("attn_read_sizes", model.table, self.params, self.inputs, sizes)
        outputs = (library.Tensor * max(len(d.outputs), 1))()
        library.require(library.plain("attn_shapes", model.table, sizes, None, None,
                                      c.addressof(outputs)))
        need = library.Sizes()
        library.call("attn_call_sizes", model.table, self.params, self.inputs, c.addressof(need))
        return [list(t.extent[:t.rank]) for t in outputs[:len(d.outputs)]], need

    def _shaped(self, arguments: Sequence[Argument], shapes: Sequence[Sequence[int]]) -> Any:
        list_ = (self.library.Tensor * max(len(arguments), 1))()
        for to, a, shape in zip(list_, arguments, shapes):
            to.data, to.type, to.rank = 128, self.library.types.index(a.type), len(shape)
            to.device_type, to.device_ordinal = self._place
            to.extent[:len(shape)] = shape
        self._lists.append(list_)
        return list_

    def pack(self, arguments: Sequence[Argument], tensors: Sequence[Optional[torch.Tensor]],
             kind: str = "") -> Any:
        list_ = (self.library.Tensor * max(len(arguments), 1))()
        for to, a, t in zip(list_, arguments, tensors):
            if t is None:
                continue
            if t.dtype not in _TYPES:
                raise Error(f"{kind}{a.name}: type is {t.dtype}, must be {a.type}")
            if t.device != self._device:
                raise Error(f"{kind}{a.name}: it is on {t.device}, the model is on {self._device}")
            if t.dim() > 8:
                raise Error(f"{kind}{a.name}: rank is {t.dim()}, must be {len(a.extents)}")
            to.data, to.type, to.rank = t.data_ptr(), self.library.types.index(_TYPES[t.dtype]), t.dim()
            to.device_type, to.device_ordinal = self._place
            to.extent[:t.dim()] = t.shape
        self._lists.append((list_, tensors))
        return list_


def function(model: Model) -> Operator:
    """The model as a function of tensors: its inputs, states and parameters in order, or by name. Gives
    its output, or a tuple of several.

    It is a custom operator of PyTorch: autograd takes the gradients that the model was compiled with, of
    inputs and parameters; torch.compile keeps it whole. States change in place."""
    if model.library.device.kind not in ("cpu", "cuda"):
        raise Error(f"{model.name}: it is on {model.device}, whose memory PyTorch does not know")
    what = repr(model.description) + ("" if model.device == "cpu" else model.device)
    digest = hashlib.sha256(what.encode()).hexdigest()[:12]
    name = f"attn::{re.sub(r'[^0-9A-Za-z]', '_', model.name)}_{digest}"
    if name not in _operators:
        _operators[name] = Operator(model, name)
    return _operators[name]


def _tensor(array: Any) -> torch.Tensor:
    """On the memory of an array."""
    if isinstance(array, DeviceArray):
        return from_dlpack(array)
    if array.dtype.itemsize == 2 and array.dtype.kind != "f":  # bfloat16, by its bits
        return torch.from_numpy(array.view("uint16")).view(torch.bfloat16)
    return torch.from_numpy(array)


class Module(torch.nn.Module):
    """The model with its parameters, under their names in the model: `state_dict()["attn.wq"]`. They are
    in the memory of m.parameters, so that m.save writes what PyTorch has trained. A model without
    parameters yet is initialised by `seed`, with the run-time sizes that they need."""

    def __init__(self, model: Model, seed: int = 0, **sizes: int) -> None:
        super().__init__()
        if not model.parameters:
            model.init(seed, **sizes)
        self.function = function(model)
        self._names = [a.name for a in model.description.params]
        for name, array in model.parameters.items():
            *path, last = name.split(".")
            where: torch.nn.Module = self
            for part in path:
                if part not in where._modules:
                    where.add_module(part, torch.nn.Module())
                where = where.get_submodule(part)
            tensor = _tensor(array)
            where.register_parameter(last, torch.nn.Parameter(
                tensor, requires_grad=tensor.is_floating_point()))

    def forward(self, *inputs: torch.Tensor, **named: torch.Tensor) -> Result:
        """The outputs for inputs and states, given in order or by name."""
        if named:
            names = [a.name for a in self.function.arguments[:self.function.first_param]]
            parameters = dict(zip(self._names, map(self.get_parameter, self._names)))
            return self.function(*inputs, **named, **{n: p for n, p in parameters.items()
                                                      if n not in names})
        return self.function(*inputs, *map(self.get_parameter, self._names))

    def extra_repr(self) -> str:
        return repr(self.function.model)
