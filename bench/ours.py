"""Models of ours in this process, through the package of python/, with calls that are prepared once: what
is left of a call is below a microsecond."""

import ctypes
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
BUILD = pathlib.Path(os.environ.get("ATTN_BUILD", ROOT / "build"))
ATTNC = pathlib.Path(os.environ.get("ATTNC", BUILD / "bin/attnc"))
RUNTIME = BUILD / "lib/libattn_rt.a"
CACHE = BENCH / "out/cache"

os.environ["ATTNC"] = str(ATTNC)
sys.path.insert(0, str(ROOT / "python"))
import attn  # noqa: E402
from attn._arrays import Tensors  # noqa: E402
from attn._library import Lent  # noqa: E402
from attn._types import empty  # noqa: E402

TYPES = {np.dtype(np.float32): "f32", np.dtype(np.int32): "i32"}


def aligned(shape, dtype=np.float32):
    """Zeros that begin at a cache line, for every contestant to share."""
    array = empty(shape, TYPES[np.dtype(dtype)])
    array[...] = 0
    return array


def build(file, sizes, target="host", folder=None, cache=True):
    """Runs attnc; gives the path of the archive."""
    folder = pathlib.Path(folder or CACHE)
    command = [str(ATTNC), "build", str(file), "-o", str(folder), "--progress", "off"]
    command += ["--target", target] if target else []
    command += [] if cache else ["--no-cache"]
    for name, value in sizes.items():
        command += ["-D", f"{name}={value}"]
    # A driver that is held to one processor compiles on all.
    everywhere = ["taskset", "-c", f"0-{os.cpu_count() - 1}"]
    done = subprocess.run(everywhere + command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return folder / (pathlib.Path(file).stem + ".a")


class Model:
    """A model of bench/models/NAME.attn, or of the file that is given, with the sizes that are compiled in.
    What a source leaves as f32 is of the type `storage`."""

    def __init__(self, name, threads=1, target="host", device="cpu", storage="f32", precision=None,
                 file=None, **sizes):
        mine = os.sched_getaffinity(0)
        os.sched_setaffinity(0, range(os.cpu_count()))  # attnc compiles on all processors
        text = pathlib.Path(file or BENCH / "models" / f"{name}.attn").read_text()
        if storage != "f32":
            text = re.sub(r": \[", f": {storage}[", text).replace("-> z {", f"-> z: {storage} {{")
        self.model = attn.compile_text(
            text, model=name, threads=threads, device=device, sizes=sizes, matmul_precision=precision,
            target=target if device == "cpu" else None)
        os.sched_setaffinity(0, mine)

    def call(self, arrays, wanted=None):
        return Call(self.model, arrays, wanted)


class Call:
    """Everything that calls on the same arrays need. `arrays` holds inputs, parameters, and cotangents
    as dNAME of the outputs; parameters that it lacks are initialised. Of the gradients, backward
    computes the `wanted` ones, by default all."""

    def __init__(self, model, arrays, wanted=None):
        self.model = m = model
        self.arrays = {}
        d, need = m.description, m._sizes
        self.inputs = self.put(Tensors(m.library, d.inputs), arrays)
        self.params = self.put(self.initialised(), arrays)
        self.outputs = Tensors(m.library, d.outputs)
        m._shape_outputs(self.params, self.inputs, self.outputs)
        self.put(self.outputs, arrays, make=True)
        self.saved = m.library.allocate(need.saved)
        workspaces = need.forward_workspace, need.training_workspace
        self.workspace = m.library.allocate(max(workspaces))
        self.cotangents = self.put(self.outputs.derivatives(), arrays, "d")
        self.gradients = [
            self.put(group.derivatives(), {}, "d", make=lambda a: a.differentiable and
                     (wanted is None or "d" + a.name in wanted)) for group in (self.params, self.inputs)]
        together = ctypes.c_int64()
        m.library.call("attn_forward_backward_workspace", m.table, self.params.address,
                       self.inputs.address, self.cotangents.address, *self.gradient_addresses(),
                       ctypes.addressof(together))
        self.together = m.library.allocate(together.value)
        # What a call takes besides its arguments: forward; forward and backward in one.
        self.bytes = workspaces[0], together.value
        self.prepare()

    def gradient_addresses(self):
        return self.gradients[0].address, self.gradients[1].address

    def put(self, tensors, arrays, before="", make=False):
        """The arrays that are given; those that are not, made."""
        for k, a in enumerate(tensors.arguments):
            name = before + a.name
            if name in arrays:
                tensors.put(k, arrays[name])
            elif make is True or (make and make(a)):
                made = tensors.make(k)
                if isinstance(made, np.ndarray):  # memory that was touched
                    made[...] = 0
            if tensors.arrays[k] is not None:
                self.arrays[name] = tensors.arrays[k]
        return tensors

    def initialised(self):
        """Parameters whose run-time sizes are those of the inputs."""
        m, names = self.model, [s.name for s in self.model.description.sizes]
        known = {names[e.size]: n for k, a in enumerate(self.inputs.arguments)
                 for e, n in zip(a.extents, self.inputs.shape(k)) if e.size is not None}
        m.init(seed=1, **known)
        return m._params

    def prepare(self):
        """The functions, with arguments that are converted already."""
        m, library = self.model, self.model.library
        given = (library._context, m.table, self.params.address, self.inputs.address,
                 self.outputs.address)
        rest = self.cotangents.address, *self.gradient_addresses()

        def bind(name, *arguments):
            function = getattr(library._c, name)

            def call(keep=self):  # alive, with all memory that the arguments point to
                status = function(*arguments)
                if status:
                    library.require(status)
            return call

        # The first keeps nothing for backward.
        self.forward = bind("attn_forward", *given, Lent(), self.workspace.lent)
        self.forward_keeping = bind("attn_forward", *given, self.saved.lent, self.workspace.lent)
        self.backward = bind("attn_backward", *given, self.saved.lent, *rest, self.workspace.lent)
        self.forward_backward = bind("attn_forward_backward", *given, *rest, self.together.lent)

    def step(self, **options):
        """A function that takes one step of the model's update with all gradients, by the options that
        are given and the defaults of the others."""
        m = self.model
        return lambda keep=self: m._update.step(self.params, self.gradients[0], options, ())
