"""What a program with one model weighs, how long it takes from its start to the first result, and how
long models take to compile. Every figure is of processes of their own."""

import importlib.util
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import ours

PROGRAM = r"""
#include <attn/attn.h>
#include <attn/model.h>
#include <stdio.h>
#include <string.h>
#include "one.h"
static float q[32 * 64], k[32 * 64], v[32 * 64], z[32 * 64];
static attn_tensor tensor(float* data) {
  attn_tensor t = {data, ATTN_F32, 4, {1, 1, 32, 64}};
  return t;
}
int main(void) {
  for (int i = 0; i < 32 * 64; ++i) q[i] = k[i] = v[i] = (float)(i % 7) - 3;
  attn_context* context = 0;
  attn_context_options options = {.threads = 1};
  if (attn_context_create(&options, &context)) return 1;
  const attn_model* m = one_model();
  attn_tensor inputs[] = {tensor(q), tensor(k), tensor(v)}, outputs[] = {tensor(z)};
  attn_sizes bytes;
  if (attn_call_sizes(context, m, 0, inputs, &bytes)) return 1;
  attn_block none = {0, 0}, workspace = {0, bytes.forward_workspace};
  workspace.data = attn_allocate(context, (size_t)workspace.bytes);
  if (attn_forward(context, m, 0, inputs, outputs, none, workspace)) return 1;
  char line[256];
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (strncmp(line, "VmHWM:", 6) == 0) fputs(line, stdout);
  return z[0] != z[0];
}
"""

# Every program ends by printing the most memory that it ever had. (What the system says of a child
# that has ended counts the memory of this process too.)
LAST = """
print(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")))
"""

# One attention of 32 queries and keys, as our program's; and the packages whose size counts.
PEERS = {
    "PyTorch from Python": (["torch"], """
import torch
torch.set_num_threads(1)
q = torch.ones(1, 1, 32, 64)
torch.nn.functional.scaled_dot_product_attention(q, q, q)
"""),
    "ONNX Runtime from Python": (["onnxruntime"], """
import sys, numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
q = numpy.ones((1, 1, 32, 64), numpy.float32)
session.run(None, {"q": q, "k": q, "v": q})
"""),
    "JAX from Python": (["jax", "jaxlib"], """
import jax
q = jax.numpy.ones((1, 32, 1, 64))
jax.jit(jax.nn.dot_product_attention)(q, q, q).block_until_ready()
"""),
}


def run_times(command, count):
    """Milliseconds from the start of the process to its end, median; and its resident megabytes."""
    times, resident = [], []
    for _ in range(count):
        begin = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        times.append((time.perf_counter() - begin) * 1e3)
        resident.append(int(done.stdout.split("VmHWM:")[1].split()[0]) / 1024)
    return statistics.median(times), max(resident)


def installed_megabytes(packages):
    folders = [pathlib.Path(importlib.util.find_spec(p).origin).parent for p in packages]
    return sum(f.stat().st_size for d in folders for f in d.rglob("*") if f.is_file()) / 2**20


def our_program(folder):
    """Built for all three instruction sets, as a program is that is given away; stripped."""
    archive = ours.build(ours.BENCH / "models/one.attn", {}, target=None, folder=folder)
    (folder / "one.c").write_text(PROGRAM)
    program = folder / "one"
    subprocess.run(["cc", "-O2", "-std=c11", "-s", f"-I{folder}",
                    f"-I{ours.ROOT}/runtime/include", str(folder / "one.c"), str(archive),
                    str(ours.RUNTIME), "-lm", "-lpthread", "-o", str(program)], check=True)
    return program


def onnx_file(folder):
    from onnx import TensorProto, helper
    shape = [1, 1, 32, 64]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n in "qkv"]
    output = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Attention", ["q", "k", "v"], ["z"])], "one", inputs,
                              [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
    path = folder / "one.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def starts(quick):
    """Rows of (label, figures)."""
    count = 3 if quick else 20
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = our_program(folder)
        size = program.stat().st_size / 2**20
        ms, resident = run_times([str(program)], count)
        yield "a C program with one of our models, stripped", [size, ms, resident]
        for label, (packages, text) in PEERS.items():
            if any(importlib.util.find_spec(p) is None for p in packages):
                continue
            command = [sys.executable, "-c", text + LAST]
            command += [str(onnx_file(folder))] if "onnxruntime" in packages else []
            ms, resident = run_times(command, min(count, 5))
            yield label, [installed_megabytes(packages), ms, resident]


TORCH_COMPILE = """
import time, torch
torch.set_num_threads(2)
D, H, T = 256, 8, 128
x = torch.randn(2, T, D)
w = [torch.randn(D, D, requires_grad=True) for _ in range(4)]
def block(x, wq, wk, wv, wo):
    q, k, v = ((x @ m).view(2, T, H, -1).transpose(1, 2) for m in (wq, wk, wv))
    s = (q @ k.mT * (D // H) ** -0.5).masked_fill(torch.ones(T, T).triu(1) > 0, float("-inf"))
    y = (torch.softmax(s, -1) @ v).transpose(1, 2).reshape(2, T, D) @ wo
    return (y * y).mean()
begin = time.perf_counter()
torch.compile(block)(x, *w).backward()
print(time.perf_counter() - begin)
"""


def seconds_of(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def compiling(quick):
    """Rows of (label, [wall seconds, processor seconds])."""
    file = ours.ROOT / "examples/attention/attention.attn"

    def both(function):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = seconds_of(function)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return [wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime]

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        yield "attention block with gradients, one instruction set", both(
            lambda: ours.build(file, {}, folder=folder, cache=False))
        if not quick:
            yield "the same, three instruction sets", both(
                lambda: ours.build(file, {}, target=None, folder=folder, cache=False))
        ours.build(file, {}, folder=folder)
        yield "the same, one instruction set, from the cache", both(
            lambda: ours.build(file, {}, folder=folder))
        if importlib.util.find_spec("torch") is not None:
            environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
            seconds = both(lambda: subprocess.run([sys.executable, "-c", TORCH_COMPILE], check=True,
                                                  env=environment, capture_output=True))
            yield "torch.compile of such a block, with its import, nothing cached", seconds
