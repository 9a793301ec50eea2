"""Times attention of ours on a GPU beside PyTorch's; gpu.sh calls this. All are in one process and by
turns, and are checked against float64 first, on the first and the last head."""

import argparse
import dataclasses
import datetime
import random
import re
import statistics
import subprocess
import sys
import time

import numpy as np

import attention
import ours
import peers
from timing import Case, Contestant, prepare

HEADS = 16
ROUNDS = 30
VARIANTS = ["alibi", "soft_cap", "window", "prefix", "document", "bias", "relative"]
# Greatest differences from float64 over the largest magnitude, forward and backward: the inputs of bf16 are
# rounded before, so that storage and products are all that differ.
TOLERANCES = {"f32": (2e-4, 1e-3), "bf16": (2e-2, 4e-2)}


def with_backend(name):
    """scaled_dot_product_attention by one of PyTorch's ways alone."""
    def contestant(problem, direction):
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(getattr(SDPBackend, name)):
            call, result = peers.sdpa(problem, direction)

        def chosen():
            with sdpa_kernel(getattr(SDPBackend, name)):
                call()
        return chosen, result
    return contestant


def of_medium_precision(problem, direction):
    if problem.storage == "f32":
        raise peers.Refused("its error is that of bf16")
    return attention.our_contestant(dataclasses.replace(problem, precision="medium"), direction)


CONTESTANTS = {
    "medium": of_medium_precision,
    "flash": with_backend("FLASH_ATTENTION"), "cuDNN": with_backend("CUDNN_ATTENTION"),
    "memory-efficient": with_backend("EFFICIENT_ATTENTION"), "FlexAttention": peers.flex,
    "torch.compile": peers.compiled_formula}


def rounded(array, storage):
    """The numbers that a type stores, in f32: to nearest, ties to even."""
    if storage != "bf16":
        return array
    bits = array.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
    return bits.astype(np.uint32).view(np.float32).reshape(array.shape)


def problem_of(n, e, storage, device, variant="", causal=False, precision=None):
    p = attention.make_problem(HEADS, n, e, variant=variant, causal=causal)
    values = {name: rounded(getattr(p, name), storage) for name in ("q", "k", "v", "dz", "add")
              if getattr(p, name) is not None}
    return dataclasses.replace(p, **values, device=device, storage=storage, precision=precision)


def expected(p):
    """z and gradients of the first and the last head."""
    few = [0, p.q.shape[1] - 1]
    part = {name: getattr(p, name)[:, few] for name in ("q", "k", "v", "dz")}
    part.update({name: getattr(p, name)[few] for name in ("constant", "add")
                 if getattr(p, name) is not None})
    return attention.expected(dataclasses.replace(p, **part))


def on_host(array):
    """Results of ours are on the device."""
    if not isinstance(array, ours.attn.DeviceArray):
        return array
    import torch
    return peers.on_host(torch.from_dlpack(array))


def few_heads(arrays):
    """Of results of all heads, which are the second extent, or the first of what is learned."""
    return [a[:, [0, -1]] if a.ndim == 4 else a[[0, -1]] for a in map(on_host, arrays)]


def cases(label, p, beside):
    """Forward and backward: in operations as attention.cases counts them."""
    z, gradients = expected(p)
    work = 2.0 * p.q.shape[1] * attention.pairs(p) * (p.q.shape[3] + p.v.shape[3])
    contestants = {"ours": attention.our_contestant, **beside}
    for direction, factor, wanted, tolerance in zip(
            ("forward", "backward"), (1, 2.5), ([z], gradients), TOLERANCES[p.storage]):
        def maker(name, direction=direction):
            def make():
                call, result = contestants[name](p, direction)
                return Contestant(name, call, lambda: few_heads(result()))
            return make
        yield Case(f"{label}, {direction}", factor * work, wanted,
                   {name: maker(name) for name in contestants}, tolerance)


def settings(quick, device):
    """The label of each problem, and a function that makes it."""
    for storage in ("bf16", "f32"):
        for n in (1024,) if quick else (4096, 16384):
            for e in (64,) if quick else (64, 128):
                for causal in (False, True):
                    label = f"{storage}, N{n} d{e}" + (" causal" if causal else "")
                    yield label, dict(n=n, e=e, storage=storage, device=device, causal=causal)
        for variant in VARIANTS[:1] if quick else VARIANTS:
            yield (f"{storage}, {variant}, N{1024 if quick else 4096} d64",
                   dict(n=1024 if quick else 4096, e=64, storage=storage, device=device, variant=variant))


def measure(case, wait):
    """As timing.measure, but each turn ends where the device has done it all: several calls that take
    five milliseconds together."""
    def turn(call, count):
        wait()
        begin = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        return (time.perf_counter() - begin) / count

    ready, cells = prepare(case)
    for contestant in ready:  # launch graphs are made of the second call
        turn(contestant.call, 3)
    counts = {c.name: max(1, min(200, int(5e-3 / max(turn(c.call, 1), 1e-6)))) for c in ready}
    samples = {c.name: [] for c in ready}
    order = random.Random(1)
    for _ in range(ROUNDS):
        for contestant in order.sample(ready, len(ready)):
            samples[contestant.name].append(turn(contestant.call, counts[contestant.name]))
    for name, times in samples.items():
        cells[name]["median"] = statistics.median(times)
    return cells


def shown(case, cell):
    if "refused" in cell:
        return "\N{EN DASH}"
    if "wrong" in cell:
        return f"wrong ({cell['wrong']:.0e})"
    return f"{case.work / cell['median'] / 1e12:.1f}"


def card():
    """What nvidia-smi says of the card and its clocks now."""
    asked = "name,driver_version,clocks.sm,clocks.max.sm,power.draw,temperature.gpu"
    try:
        done = subprocess.run(["nvidia-smi", f"--query-gpu={asked}", "--format=csv"],
                              capture_output=True, text=True)
    except OSError:
        return "nvidia-smi is not there: card and clocks are not known"
    return done.stdout.strip() or done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu.sh", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short sequences, one variant")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="settings whose label matches this")
    parser.add_argument("--beside", default=",".join(CONTESTANTS), help="beside which of PyTorch's ways")
    options = parser.parse_args()
    beside = {name: CONTESTANTS[name] for name in options.beside.split(",") if name}
    import torch
    if not torch.cuda.is_available():
        sys.exit("bench/gpu.sh: PyTorch has no GPU here")
    ordinal = int(options.device.partition(":")[2] or 0)
    torch.cuda.set_device(ordinal)
    wait = lambda: torch.cuda.synchronize(ordinal)
    print(f"{datetime.date.today()}, {torch.cuda.get_device_name(ordinal)}, PyTorch {torch.__version__}, "
          f"CUDA {torch.version.cuda}\n{card()}\n")
    names = ["ours", *beside]
    print(f"TFLOP/s, {HEADS} heads, medians of {ROUNDS} turns. Products of ours are of the precision "
          "`high`, and those of `medium` too are ours.\n")
    print("| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    notes, is_right = [], True
    for label, setting in settings(options.quick, f"cuda:{ordinal}"):
        if not re.search(options.only, label):
            continue
        for case in cases(label, problem_of(**setting), beside):
            cells = measure(case, wait)
            print(f"| {case.label} | " + " | ".join(shown(case, cells[n]) for n in names) + " |", flush=True)
            is_right = is_right and "median" in cells["ours"]
            notes += [f"- {case.label}, {n}: {cells[n]['refused']}" for n in names if "refused" in cells[n]]
    print("\n" + card())
    print("\nRefused:\n" + "\n".join(notes) if notes else "")
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
