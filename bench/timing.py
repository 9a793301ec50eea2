"""Checks contestants against float64, then times them by turns, with the processor's greatest rate of
fused multiply-adds measured between the turns."""

import ctypes
import dataclasses
import hashlib
import random
import statistics
import subprocess
import time
from typing import Callable

import numpy as np

import ours

LEAST_ROUNDS = 10
MOST_ROUNDS = 300


@dataclasses.dataclass
class Contestant:
    """One way to compute what a case asks. `result` gives the arrays that the last call made; `memory`,
    where a table asks, the most bytes that a call has allocated at once, its results among them."""
    name: str
    call: Callable[[], None]
    result: Callable[[], list]
    memory: Callable[[], int] | None = None


@dataclasses.dataclass
class Case:
    """What all contestants compute. `make` maps a contestant's name to a function that prepares it,
    which may raise; the first is ours. `work` is in floating-point operations; 0: only time counts.
    An error is the largest difference over the largest magnitude of the expected array."""
    label: str
    work: float
    expected: list
    make: dict
    tolerance: float = 2e-5
    threads: int = 1
    lanes: int = 0  # that contestants may use of a vector of f32; 0: all


def load_peak():
    source = ours.ROOT / "compiler/driver/peak.cpp"
    key = hashlib.sha256(source.read_bytes()).hexdigest()[:24]
    path = ours.CACHE / f"peak-{key}.so"
    if not path.exists():
        ours.CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{ours.ROOT}",
                        str(source), "-o", str(path)], check=True)
    rate = ctypes.CDLL(str(path)).attn_fma_peak
    rate.restype, rate.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_int]
    return rate


def error_of(got, expected):
    """The greatest error over all arrays; infinite where anything is NaN or of another shape."""
    worst = 0.0
    for g, e in zip(got, expected, strict=True):
        g, e = np.asarray(g, np.float64), np.asarray(e, np.float64)
        if g.size != e.size:
            return float("inf")
        difference = np.max(np.abs(g.reshape(e.shape) - e), initial=0.0)
        scale = max(np.max(np.abs(e), initial=0.0), 1e-30)
        worst = max(worst, difference / scale) if difference == difference else float("inf")
    return float(worst)


def first_line(error):
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[-1 if "\nException" in text else 0][:160]


def prepare(case):
    """The contestants that give the right result, and a cell for each of the others."""
    ready, cells = [], {}
    for name, make in case.make.items():
        try:
            contestant = make()
            contestant.call()
            error = error_of(contestant.result(), case.expected)
        except Exception as e:  # whatever a peer raises is its answer
            cells[name] = {"refused": first_line(e)}
            continue
        if error <= case.tolerance:
            ready.append(contestant)
            cells[name] = {"error": error}
            if contestant.memory:
                cells[name]["bytes"] = contestant.memory()
        else:
            cells[name] = {"wrong": error}
    return ready, cells


def repeats_of(call):
    """How many calls take two milliseconds together."""
    shortest = min(turn_of(call, 1) for _ in range(3))
    return max(1, min(2000, int(2e-3 / max(shortest, 1e-7))))


def turn_of(call, count, threads=1):
    """Seconds a call. What takes several calls to measure is called once before, to find its data
    and code where the call before would have left them; so is what has several threads, to find them
    awake."""
    if count > 1 or threads > 1:
        call()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def settle():
    """Waits until no thread of this process runs: some software frees memory, or spins, behind its
    calls, which the next contestant would pay for."""
    for _ in range(300):
        before = time.process_time()
        time.sleep(1e-3)
        if time.process_time() - before < 2e-4:
            return


def measure(case, seconds):
    """Cells by contestant: median and best seconds a call, the error, and refusals; and the peak.
    `seconds` is for one contestant, but no case has fewer than ten rounds."""
    peak_of = load_peak()
    ready, cells = prepare(case)
    repeats = {contestant.name: repeats_of(contestant.call) for contestant in ready}
    samples = {contestant.name: [] for contestant in ready}
    order = random.Random(1)
    peak, start = 0.0, time.perf_counter()
    for round_ in range(MOST_ROUNDS):
        late = time.perf_counter() - start > seconds * max(len(ready), 1)
        if round_ >= LEAST_ROUNDS and late:
            break
        for contestant in order.sample(ready, len(ready)):
            settle()
            samples[contestant.name].append(turn_of(contestant.call, repeats[contestant.name],
                                                      case.threads))
        peak = max(peak, peak_of(1e-3, case.lanes))
    for name, times in samples.items():
        cells[name] |= {"median": statistics.median(times), "best": min(times),
                        "rounds": len(times)}
    return cells, peak * case.threads
