"""Models of ours in this process: compiled by attnc, linked to a shared object, called through the C
interface of attn/abi.h on NumPy arrays."""

import ctypes as c
import hashlib
import os
import pathlib
import subprocess
import weakref

import numpy as np

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
ATTNC = ROOT / "build/bin/attnc"
RUNTIME = ROOT / "build/lib/libattn_rt.a"
CACHE = BENCH / "out/cache"

TYPES = {np.float32: 0, np.float64: 1, np.int32: 4, np.bool_: 5}  # attn_type
MAX_RANK = 8


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("type", c.c_int), ("rank", c.c_int32),
                ("extent", c.c_int64 * MAX_RANK), ("device", c.c_int32 * 2)]


class Sizes(c.Structure):
    _fields_ = [("forward_workspace", c.c_int64), ("backward_workspace", c.c_int64),
                ("saved", c.c_int64), ("jvp_workspace", c.c_int64),
                ("hvp_workspace", c.c_int64), ("probe_workspace", c.c_int64)]


class Argument(c.Structure):
    _fields_ = [("name", c.c_char_p), ("type", c.c_int), ("rank", c.c_int32),
                ("extent", c.c_char_p * MAX_RANK), ("differentiable", c.c_int32),
                ("weight_name", c.c_char_p), ("init", c.c_int), ("init_a", c.c_double),
                ("init_b", c.c_double), ("fan_in_mask", c.c_uint64), ("shape", c.c_int32)]


class Options(c.Structure):
    _fields_ = [("threads", c.c_int32), ("pool_bytes", c.c_int64), ("log", c.c_void_p),
                ("log_data", c.c_void_p), ("device", c.c_int32 * 2),
                ("device_functions", c.c_void_p), ("trace", c.c_void_p), ("trace_data", c.c_void_p)]


P = c.c_void_p


ABI_VERSION = 8  # of attn/abi.h, which the structures here follow


class Named(c.Structure):
    """attn_step_option and attn_step_state."""
    _fields_ = [("name", c.c_char_p), ("value", c.c_double)]


class Interface(c.Structure):
    """attn_model."""
    _fields_ = [("abi_version", c.c_uint32), ("name", c.c_char_p), ("source_hash", c.c_uint64),
                ("n_params", c.c_int32), ("n_inputs", c.c_int32), ("n_outputs", c.c_int32),
                ("n_sizes", c.c_int32), ("n_states", c.c_int32), ("params", c.POINTER(Argument)),
                ("inputs", c.POINTER(Argument)), ("outputs", c.POINTER(Argument)),
                ("size_names", c.POINTER(c.c_char_p)), ("has_backward", c.c_int32),
                ("has_jvp", c.c_int32), ("has_hvp", c.c_int32), ("n_probes", c.c_int32),
                ("probes", c.POINTER(Argument)), ("has_step", c.c_int32),
                ("n_step_options", c.c_int32), ("n_step_states", c.c_int32),
                ("step_options", c.POINTER(Named)), ("step_states", c.POINTER(Named)),
                ("program", P)]


def aligned(shape, dtype=np.float32):
    """Zeros that begin at a cache line, for every contestant to share."""
    count = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    raw = np.zeros(count + 64, np.uint8)
    begin = -raw.ctypes.data % 64
    return raw[begin:begin + count].view(dtype).reshape(shape)


def compiler_stamp():
    info = ATTNC.stat()
    return f"{info.st_size} {info.st_mtime_ns}"


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


def shared_object(file, sizes, target):
    """The file's models for one instruction set, from the cache where the compiler is the same."""
    key = compiler_stamp() + file.read_text() + target + repr(sorted(sizes.items()))
    folder = CACHE / hashlib.sha256(key.encode()).hexdigest()[:24]
    path = folder / "model.so"
    if not path.exists():
        archive = build(file, sizes, target, folder=folder)
        made = folder / f"model.{os.getpid()}.so"
        subprocess.run(["cc", "-shared", "-o", str(made), "-Wl,--whole-archive", str(archive),
                        str(RUNTIME), "-Wl,--no-whole-archive", "-Wl,-Bsymbolic", "-lm",
                        "-lpthread"], check=True)
        made.rename(path)
    return path


class Model:
    """The model of bench/models/NAME.attn, with the sizes that are compiled in."""

    def __init__(self, name, threads=1, target="host", **sizes):
        path = shared_object(BENCH / "models" / f"{name}.attn", sizes, target)
        self.library = c.CDLL(str(path))
        get = self.library[name + "_model"]
        get.restype = c.POINTER(Interface)
        self.interface = get().contents
        if self.interface.abi_version != ABI_VERSION:
            raise RuntimeError(f"bench/ours.py follows version {ABI_VERSION} of attn/abi.h, the "
                               f"library version {self.interface.abi_version}")
        self.library.attn_context_message.restype = c.c_char_p
        self.library.attn_context_message.argtypes = [P]
        self.library.attn_allocate.restype = P
        self.library.attn_allocate.argtypes = [P, c.c_size_t]
        self.library.attn_step_workspace.restype = c.c_int64
        self.about = c.byref(self.interface)
        self.context = P()
        options = Options(threads=threads)
        self.require(self.library.attn_context_create(c.byref(options), c.byref(self.context)))
        weakref.finalize(self, self.library.attn_context_destroy, self.context)

    def require(self, status):
        if status:
            raise RuntimeError(self.library.attn_context_message(self.context).decode())

    def arguments(self, group):
        i = self.interface
        count = {"params": i.n_params, "inputs": i.n_inputs, "outputs": i.n_outputs}[group]
        return [getattr(i, group)[k] for k in range(count)]

    def call(self, arrays, wanted=None):
        return Call(self, arrays, wanted)


def describe(tensor, array):
    tensor.data = array.ctypes.data
    tensor.type = TYPES[array.dtype.type]
    tensor.rank = array.ndim
    for k, extent in enumerate(array.shape):
        tensor.extent[k] = extent


class Call:
    """Everything that calls on the same arrays need, prepared once. `arrays` holds inputs,
    parameters, and cotangents as dNAME of the outputs; parameters that it lacks are initialised.
    Of the gradients, backward computes the `wanted` ones, by default all."""

    def __init__(self, model, arrays, wanted=None):
        self.model = model
        self.arrays = {}  # keeps alive what the tensors point to
        i = model.interface
        self.inputs, self.outputs = (Tensor * i.n_inputs)(), (Tensor * i.n_outputs)()
        self.params = (Tensor * max(i.n_params, 1))()
        for k, a in enumerate(model.arguments("inputs")):
            self.put(self.inputs[k], a.name.decode(), arrays[a.name.decode()])
        self.make_params(arrays)
        sizes = (c.c_int64 * (i.n_sizes + 1))()
        library = model.library
        model.require(library.attn_read_sizes(model.context, model.about, self.params, self.inputs,
                                              sizes))
        model.require(library.attn_shapes(model.about, sizes, None, None, self.outputs))
        self.allocate("outputs", self.outputs)
        need = Sizes()
        model.require(library.attn_call_sizes(model.context, model.about, self.params, self.inputs,
                                              c.byref(need)))
        self.saved = self.memory(need.saved)
        self.workspace = self.memory(max(need.forward_workspace, need.backward_workspace))
        self.cotangents = (Tensor * i.n_outputs)()
        for k, a in enumerate(model.arguments("outputs")):
            if "d" + a.name.decode() in arrays:
                self.put(self.cotangents[k], "d" + a.name.decode(), arrays["d" + a.name.decode()])
        self.param_gradients = self.gradients("params", self.params, wanted)
        self.input_gradients = self.gradients("inputs", self.inputs, wanted)
        self.prepare()

    def memory(self, count):
        """Bytes that live as long as this call."""
        library = self.model.library
        pointer = library.attn_allocate(None, max(count, 1))
        if not pointer:
            raise MemoryError(f"{count} bytes")
        weakref.finalize(self, library.attn_free, None, P(pointer))
        return pointer

    def put(self, tensor, name, array):
        assert array.flags.c_contiguous
        self.arrays[name] = array
        describe(tensor, array)

    def allocate(self, group, tensors):
        for k, a in enumerate(self.model.arguments(group)):
            t = tensors[k]
            self.put(t, a.name.decode(), aligned([t.extent[n] for n in range(t.rank)]))

    def make_params(self, arrays):
        """Those that are given; the others initialised, their extents read off the inputs'."""
        m, i, library = self.model, self.model.interface, self.model.library
        if not i.n_params:
            return
        sizes = (c.c_int64 * (i.n_sizes + 1))()
        m.require(library.attn_read_sizes(m.context, m.about, None, self.inputs, sizes))
        m.require(library.attn_shapes(m.about, sizes, self.params, None, None))
        self.allocate("params", self.params)
        m.require(library.attn_initialise_model(m.context, m.about, self.params, c.c_uint64(1)))
        for a in m.arguments("params"):
            if a.name.decode() in arrays:
                self.arrays[a.name.decode()][...] = arrays[a.name.decode()]

    def gradients(self, group, tensors, wanted):
        made = (Tensor * max(len(tensors), 1))()
        for k, a in enumerate(self.model.arguments(group)):
            name = "d" + a.name.decode()
            if a.differentiable and (wanted is None or name in wanted):
                self.put(made[k], name, aligned(self.arrays[a.name.decode()].shape))
            else:
                made[k] = tensors[k]
                made[k].data = None
        return made

    def prepare(self):
        """The three functions as calls whose arguments are converted already: what is left of a
        call is below a microsecond."""
        m, at = self.model, lambda array: P(c.addressof(array))
        given = (m.context, m.about, at(self.params), at(self.inputs), at(self.outputs))
        workspace, saved = P(self.workspace), P(self.saved)
        rest = (at(self.cotangents), at(self.param_gradients), at(self.input_gradients), workspace)
        forward, backward, require = m.library.attn_forward, m.library.attn_backward, m.require

        def bind(function, *arguments):
            def call(keep=self):  # alive, with all memory that the arguments point to
                status = function(*arguments)
                if status:
                    require(status)
            return call

        self.forward = bind(forward, *given, None, workspace)  # keeps nothing for backward
        self.forward_keeping = bind(forward, *given, saved, workspace)
        self.backward = bind(backward, *given, saved, *rest)

    def step(self, **options):
        """A function that takes one step of the model's update with all gradients, by the options
        that are given and the defaults of the others."""
        m, i = self.model, self.model.interface
        values = (c.c_double * max(i.n_step_options, 1))()
        for k in range(i.n_step_options):
            option = i.step_options[k]
            values[k] = options.pop(option.name.decode(), option.value)
        assert not options, f"its update has no {list(options)}"
        shapes = [self.arrays[a.name.decode()].shape for a in m.arguments("params")]
        arrays = [aligned(shape) for _ in range(i.n_step_states) for shape in shapes]
        states = (Tensor * max(len(arrays), 1))()
        for k, array in enumerate(arrays):
            array[...] = i.step_states[k // i.n_params].value
            describe(states[k], array)
        workspace = P(self.memory(m.library.attn_step_workspace(m.about, self.params)))
        steps = iter(range(1, 1 << 60))

        def run(keep=(self, arrays)):
            status = m.library.attn_step(m.context, m.about, values, c.c_int64(next(steps)),
                                         self.params, self.param_gradients, states, workspace)
            if status:
                m.require(status)

        return run
