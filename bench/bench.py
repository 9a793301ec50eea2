"""Times models of ours beside other software; run.sh calls this. Every table runs in a process of its
own that may use as many processors as the table has threads, so that no library's threads or caches
reach another table."""

import argparse
import datetime
import gc
import importlib.metadata
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

BENCH = pathlib.Path(__file__).resolve().parent

# name: (title, unit, threads, module, function, columns where rows are figures and no contestants)
TABLES = {
    "dense": ("Attention, one thread", "GF/s", 1, "attention", "dense", None),
    "shapes": ("Attention of other shapes, one thread", "GF/s", 1, "attention", "shapes", None),
    "variants": ("Variants per operation that is not masked, one thread", "GF/s", 1, "attention",
                 "variants", None),
    "threads": ("One head, two threads", "GF/s", 2, "attention", "threads", None),
    "avx2": ("Attention with AVX2 alone, one thread", "GF/s", 1, "attention", "avx2", None),
    "small": ("Small calls, one thread", "us", 1, "attention", "small", None),
    "linear": ("Linear layers with a bias, one thread", "GF/s", 1, "linear", "linear", None),
    "training": ("Whole training steps with AdamW, one thread", "ms", 1, "training", "training",
                 None),
    "models": ("Published architectures, one thread", "ms", 1, "architectures", "models", None),
    "starts": ("Sizes and starts", "", 1, "starts", "starts",
               ["MB on disk", "ms from start to end", "MB resident"]),
    "compiling": ("Compile times", "", os.cpu_count(), "starts", "compiling",
                  ["seconds", "processor seconds"]),
}

# What a table's process has in its environment besides.
ENVIRONMENTS = {"avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2",
                         "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    value = lambda key: next((l.split(":")[1].strip() for l in info if l.startswith(key)), "?")
    flags = value("flags").split()
    sets = [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_tile") if f in flags]
    return (f"{value('model name')} (family {value('cpu family')}, model {value('model')}, "
            f"stepping {value('stepping')}; {', '.join(sets)}), {os.cpu_count()} processors, "
            f"{platform.system()} {platform.release()}")


def versions():
    found = []
    for package in ("torch", "onnxruntime", "jax", "openvino", "iree-base-compiler", "numpy"):
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} absent")
    return ", ".join(found)


def commit():
    done = subprocess.run(["git", "-C", str(BENCH), "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return done.stdout.strip()


def save(path, value):
    beside = path.with_suffix(".part")
    beside.write_text(json.dumps(value, indent=1))
    beside.rename(path)


def run_table(name, quick, seconds, path):
    """In the table's own process: fills the file after every row."""
    title, unit, threads, module, function, columns = TABLES[name]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    rows = getattr(__import__(module), function)(quick)
    table = {"title": title, "unit": unit, "columns": columns, "rows": [],
             "date": datetime.date.today().isoformat(), "machine": machine(),
             "versions": versions(), "commit": commit(), "quick": quick,
             "load": os.getloadavg()[0]}
    if columns:
        for label, figures in rows:
            table["rows"].append({"case": label, "figures": figures})
            save(path, table)
        return
    import peers
    import timing
    for case in rows:
        absent = [n for n in case.make if n != "ours" and not peers.is_there(n)]
        for n in absent:
            del case.make[n]
        print(f"  {case.label}", file=sys.stderr, flush=True)
        cells, peak = timing.measure(case, seconds)
        table["rows"].append({"case": case.label, "work": case.work, "peak": peak,
                              "tolerance": case.tolerance, "cells": cells, "absent": absent})
        save(path, table)
        del case
        gc.collect()  # the memory of a case's contestants, before the next has its own


def environment(name):
    threads = str(TABLES[name][2])
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return os.environ | {n: threads for n in names} | ENVIRONMENTS.get(name, {}) | {
        "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3",
        # Inductor's workers would be forked from a process in which JAX has threads.
        "TORCHINDUCTOR_COMPILE_THREADS": "1", "PYTHONWARNINGS": "ignore"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0] + ".")
    parser.add_argument("--quick", action="store_true", help="fewer cases and less time for each")
    parser.add_argument("--only", default=",".join(TABLES), metavar="TABLE,...",
                        help="of " + ", ".join(TABLES))
    parser.add_argument("--seconds", type=float, help="for each contestant of a case; default: 1")
    parser.add_argument("--out", default=str(BENCH / "out"), type=pathlib.Path,
                        help="folder of results.json, RESULTS.md and ratios.svg; other tables in a "
                        "results.json that is there stay; default: bench/out")
    parser.add_argument("--table", help=argparse.SUPPRESS)
    options = parser.parse_args()
    seconds = options.seconds or (0.3 if options.quick else 1)
    if options.table:
        return run_table(options.table, options.quick, seconds, options.out)
    wanted = options.only.split(",")
    for name in wanted:
        if name not in TABLES:
            parser.error(f"no table `{name}`: there are {', '.join(TABLES)}")
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.json"
    tables = json.loads(results.read_text()) if results.exists() else {}
    failed = []
    import report
    for name in wanted:
        begin = time.time()
        print(f"{name} …", file=sys.stderr)
        part = out / f"{name}.json"
        part.unlink(missing_ok=True)
        command = [sys.executable, __file__, "--table", name, "--out", str(part)]
        command += ["--seconds", str(seconds)] + (["--quick"] if options.quick else [])
        if subprocess.run(command, env=environment(name)).returncode:
            failed.append(name)
        if not part.exists():
            continue
        tables[name] = json.loads(part.read_text())
        part.unlink()
        print("\n" + report.table_text(tables[name]) + f"\n({time.time() - begin:.0f} s)\n",
              flush=True)
        save(results, {n: tables[n] for n in TABLES if n in tables})
    report.write(json.loads(results.read_text()), out)
    if failed:
        sys.exit("failed before their end: " + ", ".join(failed))


if __name__ == "__main__":
    main()
