"""Attention by other software, each at its defaults with as many threads as the problem says.

Every function here takes a Problem (attention.py) and a direction, "forward", "backward" or "both",
and gives a contestant's call and result; it raises where the software cannot do that. Libraries are
imported where they are used, so that those which are not installed are only absent.
"""

import importlib.util

import numpy as np

PACKAGES = {"PyTorch SDPA": "torch", "torch.compile": "torch", "FlexAttention": "torch",
            "ONNX Runtime": "onnxruntime", "ONNX Runtime MHA": "onnxruntime", "JAX": "jax",
            "OpenVINO": "openvino", "IREE": "iree", "PyTorch": "torch"}


def is_there(name):
    return importlib.util.find_spec(PACKAGES[name]) is not None


class Refused(Exception):
    """What a peer does not offer."""


def put(problem, array, is_real=True):
    """An array of the problem as a tensor on its device; of its type, where that stores numbers like it."""
    import torch
    tensor = torch.from_numpy(array)
    if problem.device == "cpu":
        return tensor
    types = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
    return tensor.to(problem.device, types[problem.storage] if is_real else tensor.dtype)


def placed(problem, arrays):
    """What our models are given: cotangents are f32, whatever the type of z."""
    import torch
    return {name: put(problem, a, a.dtype == np.float32) if not name.startswith("d") or name == "doc"
            else torch.from_numpy(a).to(problem.device) for name, a in arrays.items()}


def on_host(tensor):
    """As an array in which numbers can be compared."""
    return tensor.detach().float().cpu().numpy()


def torch_tensors(problem, direction):
    import torch
    torch.set_num_threads(problem.threads)
    torch._dynamo.reset()
    backward = direction != "forward"
    tensors = [put(problem, a) for a in (problem.q, problem.k, problem.v)]
    if problem.add is not None:
        tensors.append(put(problem, problem.add))
    return [t.detach().requires_grad_(backward) for t in tensors]


def torch_contestant(problem, direction, function, tensors):
    """`function` of the tensors, or its gradients with respect to them."""
    import torch
    kept = {}
    if direction == "forward":
        def call():
            with torch.no_grad():
                kept["z"] = function(*tensors)
        return call, lambda: [on_host(kept["z"])]
    dz = put(problem, problem.dz)
    z = function(*tensors) if direction == "backward" else None

    def backward():
        kept["d"] = torch.autograd.grad(z, tensors, dz, retain_graph=True)

    def both():
        kept["d"] = torch.autograd.grad(function(*tensors), tensors, dz)

    call = backward if direction == "backward" else both
    return call, lambda: [on_host(g) for g in kept["d"]]


def torch_add(problem, add):
    """What is learned, as it is added to the scores, [H, N, M]."""
    import torch
    if problem.variant != "relative":
        return add
    i = torch.arange(problem.n, device=problem.device)
    return add[:, i[:, None] - i[None, :] + problem.n - 1]


def sdpa(problem, direction):
    import torch
    if problem.variant == "soft_cap":
        raise Refused("no soft-cap")
    tensors = torch_tensors(problem, direction)
    visible = None if problem.visible is None else put(problem, problem.visible, False)
    mask = None if problem.is_causal else visible
    if problem.constant is not None:
        mask = put(problem, problem.constant).masked_fill(~visible, float("-inf"))[None]

    def function(q, k, v, add=None):
        if add is not None:
            learned = torch_add(problem, add).masked_fill(~visible, float("-inf"))[None]
        return torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask if add is None else learned, is_causal=problem.is_causal,
            enable_gqa=q.shape[1] != k.shape[1])

    return torch_contestant(problem, direction, function, tensors)


def compiled_formula(problem, direction):
    import torch
    tensors = torch_tensors(problem, direction)
    visible = None if problem.visible is None else put(problem, problem.visible, False)
    constant = None if problem.constant is None else put(problem, problem.constant)
    scale = problem.scale

    def function(q, k, v, add=None):
        s = q @ k.mT * scale
        if problem.variant == "soft_cap":
            s = 5 * torch.tanh(s / 5)
        if constant is not None:
            s = s + constant
        if add is not None:
            s = s + torch_add(problem, add)
        if visible is not None:
            s = s.masked_fill(~visible, float("-inf"))
        return torch.softmax(s, -1) @ v

    return torch_contestant(problem, direction, torch.compile(function, dynamic=False), tensors)


def flex(problem, direction):
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    tensors = torch_tensors(problem, direction)
    constant = None if problem.constant is None else put(problem, problem.constant)
    doc = None if problem.doc is None else put(problem, problem.doc, False)
    n, heads = problem.n, problem.q.shape[1]
    masks = {"causal": lambda b, h, i, j: j <= i,
             "window": lambda b, h, i, j: (j <= i) & (i - j < 256),
             "prefix": lambda b, h, i, j: (j <= i) | (j < 256),
             "document": lambda b, h, i, j: (j <= i) & (doc[i] == doc[j])}
    block_mask = None
    if problem.visible is not None:
        block_mask = create_block_mask(masks.get(problem.variant, masks["causal"]), None, None, n,
                                       problem.m, device=problem.device)

    def function(q, k, v, add=None):
        changes = {"alibi": lambda s, b, h, i, j: s + constant[h, i, j],
                   "bias": lambda s, b, h, i, j: s + add[h, i, j],
                   "relative": lambda s, b, h, i, j: s + add[h, i - j + n - 1],
                   "soft_cap": lambda s, b, h, i, j: 5 * torch.tanh(s / 5)}
        if problem.variant == "alibi":
            changes["alibi"] = lambda s, b, h, i, j: s + torch.exp2(-8 * (h + 1) / heads) * (j - i)
        return flex_attention(q, k, v, score_mod=changes.get(problem.variant),
                              block_mask=block_mask, enable_gqa=q.shape[1] != k.shape[1])

    return torch_contestant(problem, direction, torch.compile(function, dynamic=False), tensors)


def require_plain(problem, direction):
    if direction != "forward":
        raise Refused("no gradients")
    if problem.variant or not (problem.is_causal or problem.visible is None):
        raise Refused("not compared")


def onnx_session(problem, node, shapes):
    import onnxruntime
    from onnx import TensorProto, helper
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
              for name, shape in zip("qkv", shapes)]
    output = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "attention", inputs, [output])
    opsets = [helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = problem.threads, 1
    options.log_severity_level = 4
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    return onnxruntime.InferenceSession(model.SerializeToString(), options,
                                        providers=["CPUExecutionProvider"])


def onnx_attention(problem, direction):
    from onnx import helper
    require_plain(problem, direction)
    node = helper.make_node("Attention", ["q", "k", "v"], ["z"], is_causal=int(problem.is_causal))
    feeds = dict(zip("qkv", (problem.q, problem.k, problem.v)))
    session = onnx_session(problem, node, [a.shape for a in feeds.values()])
    kept = {}

    def call():
        kept["z"] = session.run(None, feeds)

    return call, lambda: kept["z"]


def onnx_multi_head(problem, direction):
    from onnx import helper
    require_plain(problem, direction)
    heads = problem.q.shape[1]
    if heads != problem.k.shape[1]:
        raise Refused("no grouped heads")
    node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["z"], domain="com.microsoft",
                            num_heads=heads, unidirectional=int(problem.is_causal))
    flat = [np.ascontiguousarray(a.transpose(0, 2, 1, 3)).reshape(1, a.shape[2], -1)
            for a in (problem.q, problem.k, problem.v)]
    feeds = dict(zip("qkv", flat))
    session = onnx_session(problem, node, [a.shape for a in flat])
    kept = {}

    def call():
        kept["z"] = session.run(None, feeds)[0]

    return call, lambda: [kept["z"].reshape(1, problem.n, heads, -1).transpose(0, 2, 1, 3)]


def openvino(problem, direction):
    import openvino as ov
    from openvino import opset13
    require_plain(problem, direction)
    if problem.q.shape[1] != problem.k.shape[1]:
        raise Refused("no grouped heads")
    arrays = (problem.q, problem.k, problem.v)
    inputs = [opset13.parameter(list(a.shape), np.float32) for a in arrays]
    result = opset13.scaled_dot_product_attention(*inputs, causal=problem.is_causal)
    compiled = ov.Core().compile_model(
        ov.Model([result], inputs, "attention"), "CPU",
        {"INFERENCE_NUM_THREADS": problem.threads, "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for k, a in enumerate(arrays):
        request.set_input_tensor(k, ov.Tensor(a, shared_memory=True))
    return request.infer, lambda: [np.array(request.get_output_tensor(0).data)]


def iree_attention(problem, direction):
    """From ONNX's operators on matrices: what IREE 3.13 makes of its own operator for attention is
    slower on a CPU, and it does not take the operator Attention of ONNX."""
    import pathlib
    import subprocess
    import sys
    import tempfile

    import onnx
    from iree import compiler, runtime
    from onnx import TensorProto, helper, numpy_helper
    require_plain(problem, direction)
    arrays = (problem.q, problem.k, problem.v)
    if problem.q.shape[1] != problem.k.shape[1]:
        raise Refused("not compared")
    constants = [numpy_helper.from_array(np.float32(problem.scale), "scale")]
    nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["q", "kt"], ["products"]),
             helper.make_node("Mul", ["products", "scale"], ["s"])]
    if problem.is_causal:
        hidden = np.where(problem.visible, 0, -np.inf).astype(np.float32)[None, None]
        constants.append(numpy_helper.from_array(hidden, "hidden"))
        nodes += [helper.make_node("Add", ["s", "hidden"], ["masked"])]
    nodes += [helper.make_node("Softmax", [nodes[-1].output[0]], ["p"], axis=-1),
              helper.make_node("MatMul", ["p", "v"], ["z"])]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, a.shape)
              for name, a in zip("qkv", arrays)]
    output = helper.make_tensor_value_info("z", TensorProto.FLOAT, problem.dz.shape)
    graph = helper.make_graph(nodes, "attention", inputs, [output], initializer=constants)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "attention.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "-o",
                        path.with_suffix(".mlir")], check=True, capture_output=True)
        code = compiler.compile_file(str(path.with_suffix(".mlir")), target_backends=["llvm-cpu"],
                                     extra_args=["--iree-llvmcpu-target-cpu=host",
                                                 "--iree-opt-level=O3"])
    config = runtime.Config("local-sync" if problem.threads == 1 else "local-task")
    function = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, code),
                                      config)["attention"]
    given = [runtime.asdevicearray(config.device, a) for a in arrays]
    kept = {}

    def call():
        kept["z"] = function(*given)

    return call, lambda: [kept["z"].to_host()]


def jax_function(problem):
    import jax
    import jax.numpy as jnp
    if not problem.variant:
        def library(q, k, v):
            rows = (a.transpose(0, 2, 1, 3) for a in (q, k, v))
            z = jax.nn.dot_product_attention(*rows, scale=problem.scale,
                                             is_causal=problem.is_causal)
            return z.transpose(0, 2, 1, 3)
        return library
    visible = jnp.asarray(problem.visible)
    constant = None if problem.constant is None else jnp.asarray(problem.constant)
    place = np.arange(problem.n)
    place = place[:, None] - place[None, :] + problem.n - 1

    def formula(q, k, v, add=None):
        s = jnp.einsum("bhie,bhje->bhij", q, k) * problem.scale
        if problem.variant == "soft_cap":
            s = 5 * jnp.tanh(s / 5)
        if add is not None:
            s = s + (add[:, place] if problem.variant == "relative" else add)
        if constant is not None:
            s = s + constant
        p = jax.nn.softmax(jnp.where(visible, s, -jnp.inf), axis=-1)
        return jnp.einsum("bhij,bhjf->bhif", p, v)

    return formula


def jax_attention(problem, direction):
    import jax
    arrays = [a for a in (problem.q, problem.k, problem.v, problem.add) if a is not None]
    arrays = [jax.device_put(a) for a in arrays]
    function, kept = jax_function(problem), {}
    if direction == "forward":
        forward = jax.jit(function)

        def call():
            kept["z"] = forward(*arrays).block_until_ready()

        return call, lambda: [np.asarray(kept["z"])]
    dz = jax.device_put(problem.dz)
    if direction == "backward":
        _, pull = jax.jit(lambda *a: jax.vjp(function, *a))(*arrays)
        step, given = jax.jit(lambda f, d: f(d)), (pull, dz)
    else:
        step, given = jax.jit(lambda *a: jax.vjp(function, *a[:-1])[1](a[-1])), (*arrays, dz)

    def call():
        kept["d"] = jax.block_until_ready(step(*given))

    return call, lambda: [np.asarray(g) for g in kept["d"]]


ATTENTION = {"PyTorch SDPA": sdpa, "torch.compile": compiled_formula, "FlexAttention": flex,
             "ONNX Runtime": onnx_attention, "ONNX Runtime MHA": onnx_multi_head, "JAX": jax_attention,
             "OpenVINO": openvino, "IREE": iree_attention}
