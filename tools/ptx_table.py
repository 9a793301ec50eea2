#!/usr/bin/env python3
"""What ptxas makes of our kernels for CUDA: the table of docs/gpu.md, one row a kernel.

Compiles tests/shell/ptx/forms.attn, assembles the PTX for sm_80 and sm_90a, and reads the machine
code (SASS) that nvdisasm prints. Instructions are those that a thread executes in one round of the
chunk loop: the outermost loop, or backward branch, that contains HMMA, or FFMA where there is none.
Counted is the shortest way through it that meets all of those: what is copied 16 bytes at a time,
and finite. A loop inside it counts as often as its counter says, or once where that is no number. A
kernel without such a loop is counted whole.

tools/setup_gpu_tests.sh brings ptxas and nvdisasm.
"""
import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHITECTURES = ("sm_80", "sm_90a")
# Bytes a thread may spill: tiles have more numbers than there are registers, and those of more than
# 64 features far more.
MOST_SPILLED = {"tiles": 64, "streaming": 64, "contraction": 16}
MOST_SPILLED_WIDE = 500
GROWTH = 1.1  # of registers and instructions, beyond the table
FORMS = ROOT / "tests/shell/ptx/forms.attn"
# `kernels`: by a kernel's number, for each of its main launches the row's name and how many results
# one thread has. Of more launches those with the most instructions are taken, and those with products
# by tensor cores first. `quick`: the test compiles it.
Program = collections.namedtuple("Program", "title options quick kernels source", defaults=[FORMS])


def attention(title, model, precision, width, quick=False):
    """The kernels of attention; the sweeps keep 64 x `width` results for 128 threads."""
    results = 64 * width // 128
    # The two numbers of a log-sum-exp, of each row of a thread.
    statistics = 2 * (8 if precision == "highest" else 2)
    tiles = [(name, results) for name in ("dq", "dk", "dv")]
    if model == "biased":
        tiles += [("dtable", 1), ("dbias", 2)]
    options = ["--model", model, "-D", f"E={width}", "--matmul-precision", precision]
    return Program(title, options, quick, {"forward_0": [("forward", results + statistics)],
                                           "backward_1": tiles})


def contraction(title, model, precision, results):
    return Program(title, ["--model", model, "--matmul-precision", precision], True,
                   {"forward_0": [("", results)]})


PROGRAMS = [
    Program("loops: gelu", ["--model", "gelu_of_all"], True, {"forward_0": [("", 1)]}),
    Program("row: softmax", ["--model", "softmax_of_rows"], True, {"forward_0": [("", 1)]}),
    Program("recurrence", ["--model", "recurrent"], True, {
        "recurrent_forward_1": [("step forward", 1)],
        "recurrent_backward_0": [("step backward", 1)],
        "step_f32_forward_0": [("update by adam", 1)]}),
    contraction("contraction, f32, highest", "product", "highest", 16),
    contraction("contraction, f32, high", "product", "high", 64),
    contraction("contraction, f32, medium", "product", "medium", 32),
    contraction("contraction, bf16", "product_of_halves", "high", 64),
    contraction("contraction, bf16, sums of 1024", "layer_of_halves", "high", 128),
    attention("attention, f32, highest, d 64", "full", "highest", 64),
    attention("attention, f32, high, d 64", "full", "high", 64),
    attention("causal attention, f32, high, d 64", "causal", "high", 64, quick=True),
    attention("attention with table and bias, f32, high, d 64", "biased", "high", 64),
    attention("attention, f32, high, d 128", "full", "high", 128),
    attention("attention, bf16, high, d 64", "full_halves", "high", 64),
    attention("causal attention, bf16, medium, d 64", "causal_halves", "medium", 64, quick=True),
    attention("causal attention, bf16, medium, d 128", "causal_halves", "medium", 128),
]


def output_of(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        sys.exit(f"ptx_table.py: {command[0]} failed: {text[-2000:]}")
    return text


def emitted(program, build, stage):
    return output_of([build / "bin/attnc", "emit", f"--stage={stage}", "--target", "cuda-sm80",
                      *program.options, program.source])


def forms_of(program, build):
    """The form of each kernel, by the beginning of its name: MODEL_FUNCTION_NUMBER."""
    forms, model, function, number = {}, "", "", 0
    for line in emitted(program, build, "plan").splitlines():
        if m := re.match(r"plan (\w+)$", line):
            model = m[1]
        elif m := re.match(r"  (\w+)$", line):
            function, number = m[1], 0
        elif m := re.match(r" +(loops|row|contraction|streaming|tiles) .* <- .*\)$", line):
            forms[f"{model}_{function}_{number}"] = m[1]
            number += 1
        elif line.startswith("    check "):
            number += 1
    return forms


def modules_of(program, build):
    """For each kernel its number, the PTX, and the launches in order: (entry, shared bytes)."""
    for part in re.split(r"^module name=", emitted(program, build, "statement"), flags=re.M)[1:]:
        ptx = re.search(r"^buffer cuda_gpu_source_kernels = {\n(.*?)\0", part, re.S | re.M)
        launch = r'halide_cuda_run\(cuda\[0\], "(\w+)", .*?(?:, 0( \+ \((\d+)\*(\d+)\))?), \(void'
        launches = [(m[1], int(m[3]) * int(m[4]) if m[2] else 0) for m in re.finditer(launch, part)]
        if ptx:
            yield re.match(r"\w+_(?:forward|backward|probe|check)_\d+", part)[0], ptx[1], launches


# ---- machine code

def opcode(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0].split(".")[0]


def functions_of(sass):
    """Of each function the instructions, where branches go, and loops: (first, beyond the last)."""
    result, name = {}, None
    for line in sass.splitlines():
        if section := re.match(r"\s*\.section\s+(\S+?),", line):
            name = section[1][6:] if section[1].startswith(".text.") else None
            instructions, labels = [], {}
            if name:
                result[name] = (instructions, labels)
        elif name and (label := re.match(r"(\.L_\S+):", line)):
            labels[label[1]] = len(instructions)
        elif name and (found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line)):
            if opcode(found[1]) != "NOP":
                instructions.append(found[1])
    for name, (instructions, labels) in result.items():
        targets = {}
        for at, instruction in enumerate(instructions):
            # ptxas also writes jumps out of loops as calls that do not return.
            to = re.search(r"\b(?:BRA|CALL\.REL\.NOINC)\b.*?(\.L_x_\d+)", instruction)
            if to and to[1] in labels:
                targets[at] = labels[to[1]]
        loops = [(to, at + 1) for at, to in targets.items() if to < at]
        result[name] = (instructions, targets, loops)
    return result


def rounds_of(loop):
    """How often a loop runs whose counter goes to a number, from less than a step on; else 1."""
    steps = {}
    for s in loop:
        if m := re.match(r"(?:U?IADD3|VIADD) (U?R\d+), (?:U?P\d, )?U?R\d+, (0x[0-9a-f]+)", s):
            steps[m[1]] = int(m[2], 16)
    for s in loop:
        m = re.match(r"U?ISETP\.(?:NE|LT|GE)\S* U?P\w+, U?PT, (U?R\d+), (0x[0-9a-f]+), U?PT", s)
        if m and m[1] in steps:
            return int(m[2], 16) // steps[m[1]]
    return 1


def way_through(instructions, edges, first, last, stops):
    """The shortest way from `first` to `last` that visits the `stops` in order."""
    way = []
    for stop in [*stops, last]:
        came_from, queue = {first: None}, collections.deque([first])
        while queue and stop not in came_from:
            at = queue.popleft()
            for to in edges[at]:
                if to not in came_from:
                    came_from[to] = at
                    queue.append(to)
        if stop not in came_from:
            sys.exit(f"ptx_table.py: no way leads to {instructions[stop]}")
        part, at = [], stop
        while at != first:
            part.append(at)
            at = came_from[at]
        way += reversed(part)
        first = stop
    return way


def counted(instructions, targets, loops, product):
    """Instructions by opcode of a round of the chunk loop, or of the whole."""
    has = [l for l in loops if any(opcode(s) == product for s in instructions[l[0]:l[1]])]
    if not has:
        return collections.Counter(map(opcode, instructions))
    outer = max(has, key=lambda l: l[1] - l[0])
    inner = [l for l in has if l != outer and outer[0] <= l[0] and l[1] <= outer[1]]
    edges = {}
    for at in range(*outer):
        is_always = not instructions[at].startswith("@")
        ends = opcode(instructions[at]) in ("EXIT", "RET") or at in targets
        edges[at] = [] if ends and is_always else [at + 1]
        if at in targets:
            edges[at].append(targets[at])
        edges[at] = [to for to in edges[at] if outer[0] < to < outer[1] and
                     not any(to == l[0] and l[0] <= at < l[1] for l in loops)]
    stops = [at for at in range(*outer) if opcode(instructions[at]) == product]
    total = collections.Counter([opcode(instructions[outer[0]])])
    for at in way_through(instructions, edges, outer[0], outer[1] - 1, stops):
        times = 1
        for l in inner:
            if l[0] <= at < l[1]:
                times *= rounds_of(instructions[l[0]:l[1]])
        total[opcode(instructions[at])] += times
    return total


def body_of(ptx, entry):
    return re.search(r"\.entry " + re.escape(entry) + r"\(.*?\n}\n", ptx, re.S)[0]


def stores_of(ptx, entry):
    """Numbers that a kernel's text stores."""
    widths = re.findall(r"st\.global(?:\.v([24]))?\.", body_of(ptx, entry))
    return sum(int(w or 1) for w in widths)


Kernel = collections.namedtuple("Kernel", "registers spilled stack counts")


def assembled(ptx, tools, folder):
    """For each entry and architecture what ptxas says and the machine code has."""
    source, cubin = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(ptx)
    kernels = collections.defaultdict(dict)
    for architecture in ARCHITECTURES:
        said = output_of([tools["ptxas"], f"-arch={architecture}", "-v", "-o", cubin, source])
        sass = output_of([tools["nvdisasm"], "-c", cubin]) if tools["nvdisasm"] else ""
        code = functions_of(sass)
        for entry, stack, stored, loaded, registers in re.findall(
                r"properties for (\w+)\n\s+(\d+) bytes stack frame, (\d+) bytes spill stores, "
                r"(\d+) bytes spill loads\n.*?Used (\d+) registers", said):
            counts = None
            if entry in code:
                has_units = any(opcode(s) == "HMMA" for s in code[entry][0])
                counts = counted(*code[entry], "HMMA" if has_units else "FFMA")
            kernels[entry][architecture] = Kernel(int(registers), max(int(stored), int(loaded)),
                                                  int(stack), counts)
    return kernels


# ---- rows

Row = collections.namedtuple(
    "Row", "form registers spilled shared instructions product products stores results")


class Run:
    def __init__(self, args, tools, folder, problems):
        self.args, self.tools, self.folder, self.problems = args, tools, folder, problems

    def row(self, title, form, by, shared, stores, results):
        kernels = [by[a] for a in ARCHITECTURES]
        counts = [k.counts for k in kernels]
        if self.args.detail:
            for a, c in zip(ARCHITECTURES, counts):
                print(f"  {title}, {a}: {dict((c or {}).items())}")
        product = "HMMA" if counts[0] and counts[0]["HMMA"] else "FFMA"
        return title, Row(form, [k.registers for k in kernels], [k.spilled for k in kernels],
                          shared, [sum(c.values()) if c else 0 for c in counts], product,
                          counts[0][product] if counts[0] else 0, stores, results)

    def rows_of(self, program):
        """Titles and rows of a program's main kernels. All its kernels are checked."""
        forms = forms_of(program, self.args.build)
        for number, ptx, launches in modules_of(program, self.args.build):
            form = forms.get(number, "other")
            wanted = next((w for end, w in program.kernels.items() if number.endswith(end)), [])
            if self.args.keep:
                name = f"{program.title} {number}.ptx".replace(" ", "_")
                (self.args.keep / name).write_text(ptx)
            kernels = assembled(ptx, self.tools, self.folder)
            self.check(program.title, form, ptx, kernels)
            # Those with products by tensor cores first: what looks for data that is not finite is long.
            def size(entry):
                counts = kernels[entry]["sm_80"].counts or {}
                return counts.get("HMMA", 0) > 0, sum(counts.values()) or len(body_of(ptx, entry))

            main = sorted(launches, key=lambda launch: size(launch[0]), reverse=True)[:len(wanted)]
            in_order = [launch for launch in launches if launch in main]
            for (entry, shared), (name, results) in zip(in_order, wanted):
                title = f"{program.title}{', ' if name else ''}{name}"
                yield self.row(title, form, kernels[entry], shared, stores_of(ptx, entry), results)

    def rows_of_file(self, file):
        ptx = file.read_text().rstrip("\0")
        for entry, by in assembled(ptx, self.tools, self.folder).items():
            stores = stores_of(ptx, entry)
            yield self.row(f"{file.stem} {entry}", "tiles", by, "", stores, stores)

    def check(self, title, form, ptx, kernels):
        for entry, by in kernels.items():
            for architecture, k in by.items():
                most = MOST_SPILLED_WIDE if "d 128" in title and form in MOST_SPILLED else \
                    MOST_SPILLED.get(form, 0)
                if max(k.spilled, k.stack) > most:
                    self.problems.append(
                        f"{title}: {entry} has {k.stack} bytes of local memory and spills "
                        f"{k.spilled} on {architecture}; {most} are allowed")
            if stores_of(ptx, entry) == 0:
                self.problems.append(f"{title}: {entry} stores nothing")


def both(numbers):
    return " / ".join(map(str, numbers if len(set(numbers)) > 1 else numbers[:1]))


def table_line(title, r):
    in_loop = r.form in ("contraction", "streaming", "tiles") and r.products > 0
    products = f"{r.products} {'mma' if r.product == 'HMMA' else 'fma'}" if in_loop else "-"
    ratio = f"{r.instructions[0] / r.products:.1f}" if in_loop else "-"
    return (f"| {title} | {both(r.registers)} | {both(r.spilled)} | {r.shared} | "
            f"{both(r.instructions)} | {products} | {ratio} | {r.stores} of {r.results} |")


HEAD = ("| kernel | registers | bytes spilled | shared memory | instructions | products | each "
        "| stores |\n"
        "|---|---|---|---|---|---|---|---|")


def table_of(page):
    """Registers and instructions of the rows of a page, and the ptxas that it names."""
    text = page.read_text()
    version = re.search(r"ptxas (\d+\.\d+\.\d+)", text)
    numbers = {}
    for line in text.splitlines():
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) == 8 and re.search(r" of \d+$", cells[-1]):
            pair = [[int(n) for n in cells[k].split(" / ")] for k in (1, 4)]
            numbers[cells[0]] = [p * 2 if len(p) == 1 else p for p in pair]
    return numbers, version[1] if version else ""


def compare(title, row, known, problems):
    if title not in known:
        problems.append(f"{title}: no row of the table")
        return
    for what, now, then in (("registers", row.registers, known[title][0]),
                            ("instructions", row.instructions, known[title][1])):
        for architecture, n, t in zip(ARCHITECTURES, now, then):
            if n > GROWTH * t:
                problems.append(f"{title}: {n} {what} on {architecture}; the table says {t}")


def tool(name, package):
    """The one that tools/setup_gpu_tests.sh brings, whose figures the table has; or any."""
    ours = ROOT / ".deps" / package
    return next(ours.glob(f"nvidia/*/bin/{name}"), None) or shutil.which(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, epilog="",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path,
                        help="PTX to measure, or .attn to check, instead")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="its folder")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the PTX of all kernels")
    parser.add_argument("--quick", action="store_true", help="only what the test compiles")
    parser.add_argument("--only", default="", help="programs whose title contains this")
    parser.add_argument("--detail", action="store_true", help="instructions by name")
    parser.add_argument("--check", type=pathlib.Path, help="a page with the table")
    args = parser.parse_args()
    tools = {"ptxas": tool("ptxas", "ptxas"), "nvdisasm": tool("nvdisasm", "nvdisasm")}
    for name, path in tools.items():
        if not path:
            print(f"there is no {name}; tools/setup_gpu_tests.sh fetches it")
    if not tools["ptxas"]:
        return 77
    version = re.search(r"V(\d+\.\d+\.\d+)", output_of([tools["ptxas"], "--version"]))[1]
    known, of_version = table_of(args.check) if args.check else ({}, version)
    if args.check and version != of_version:
        print(f"the table is of ptxas {of_version}, and this is {version}: growth is not checked")
    print(f"ptxas {version}\n\n{HEAD}")
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        run = Run(args, tools, pathlib.Path(folder), problems)
        programs = [p for p in PROGRAMS if (p.quick or not args.quick) and args.only in p.title]
        if args.files:
            programs = [Program(f.name, [], True, {}, f) for f in args.files if f.suffix == ".attn"]
        for file in [f for f in args.files if f.suffix == ".ptx"]:
            for title, row in run.rows_of_file(file):
                print(table_line(title, row))
        for program in programs:
            for title, row in run.rows_of(program):
                print(table_line(title, row), flush=True)
                if row.stores > row.results:
                    problems.append(f"{title}: {row.stores} stores of {row.results} results")
                if args.check and version == of_version:
                    compare(title, row, known, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
