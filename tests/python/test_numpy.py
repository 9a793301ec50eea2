"""Models called with NumPy arrays: results, gradients, training, files, and what is refused."""

import helper

np = helper.require("numpy")

import concurrent.futures  # noqa: E402
import gc  # noqa: E402
import inspect  # noqa: E402
import math  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

import attn  # noqa: E402

TYPES = """
size B, N
model types(x: f32[B, N], half: f16[B], brain: bf16[B], many: f64[N], n: int[B], keep: bool[B],
            a: f32) -> real, wide, whole, short: f16, shorter: bf16 {
  real[b] = a * (sum[i] x[b,i]) + half[b] + brain[b] where keep[b]
  wide[i] = 2 * many[i]
  whole[b] = n[b] + 1
  short[b] = half[b]
  shorter[b] = brain[b]
}
"""

STATES = """
size B, S
model count(x: [B], at: int[B]) -> total {
  state seen: [B, S], calls: int[B]
  seen'[b, at[b]] = x[b]
  calls'[b] = calls[b] + 1
  total[b] = sum[s] seen'[b,s]
}
"""

PROBED = """
size T, D = 4
train model head(x: [T, D]) -> loss, probe map {
  param w: [D, D]
  s[i,j] = sum[d,e] x[i,d] * w[d,e] * x[j,e]
  map[i,j] = softmax[j where j <= i] (s[i,j])
  y[i,d] = sum[j] map[i,j] * x[j,d]
  loss = sum[i,d] y[i,d]^2
}
"""


def arrays(b=2, t=5, d=8):
    r = np.random.default_rng(1)
    return (r.standard_normal((b, t, d), np.float32), r.standard_normal((b, t, d), np.float32))


def expected(x, p):
    """The attention of helper.ATTENTION in float64."""
    x = x.astype(np.float64)
    q, k, v = (np.einsum("bid,hed->bhie", x, p[n].astype(np.float64)) for n in ("wq", "wk", "wv"))
    s = np.einsum("bhie,bhje->bhij", q, k) / math.sqrt(q.shape[-1])
    s = np.where(np.tril(np.ones(s.shape[-2:], bool)), s, -np.inf)
    s = np.exp(s - s.max(-1, keepdims=True))
    z = np.einsum("bhij,bhje->bhie", s / s.sum(-1, keepdims=True), v)
    return np.einsum("bhie,dhe->bid", z, p["wo"].astype(np.float64))


class Case(unittest.TestCase):
    def refuses(self, text, call, *arguments, **named):
        with self.assertRaises(attn.Error) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        return caught.exception


class Attention(Case):
    @classmethod
    def setUpClass(cls):
        cls.m = attn.compile_text(helper.ATTENTION)
        cls.x, cls.wanted = arrays()

    def setUp(self):
        self.m.init(seed=1)

    def test_gives_what_the_formulas_say(self):
        loss, y = self.m.forward(self.x, self.wanted)
        right = expected(self.x, self.m.parameters)
        np.testing.assert_allclose(y, right, atol=1e-5)
        np.testing.assert_allclose(loss, np.mean((right - self.wanted) ** 2), rtol=1e-5)
        self.assertEqual((loss.shape, y.shape, y.dtype), ((), (2, 5, 8), np.float32))

    def test_takes_inputs_by_name_and_gives_outputs_by_name(self):
        out = self.m.forward(wanted=self.wanted, x=self.x)
        self.assertIs(out.loss, out[0])
        self.assertIs(out["y"], out[1])
        self.assertEqual(len(out), 2)
        with self.assertRaises(KeyError):
            out["z"]
        with self.assertRaises(AttributeError):
            out.z

    def test_a_call_without_gradients_gives_the_same(self):
        y = self.m(self.x, self.wanted).y
        np.testing.assert_array_equal(y, self.m.forward(self.x, self.wanted).y)
        right = {n: g.copy() for n, g in self.m.backward().items()}
        self.m(self.x[:1], self.wanted[:1])  # is not what backward is about
        for name, gradient in self.m.backward().items():
            np.testing.assert_array_equal(gradient, right[name])
        self.m.init(seed=1)
        self.refuses("needs a forward call before it", self.m.backward)

    def test_gradients_are_those_of_differences(self):
        self.m.forward(self.x, self.wanted)
        gradients = self.m.backward(inputs=["x"])
        self.assertEqual(list(gradients), ["wq", "wk", "wv", "wo", "x"])

        def loss():
            y = expected(self.x, self.m.parameters)
            return np.mean((y - self.wanted) ** 2)

        for name, array in [*self.m.parameters.items(), ("x", self.x)]:
            array = array.reshape(-1)
            for k in (0, array.size // 2, array.size - 1):
                before, step = array[k], np.float32(1e-2)
                array[k] = before + step
                upper = loss()
                array[k] = before - step
                lower = loss()
                array[k] = before
                self.assertAlmostEqual(gradients[name].reshape(-1)[k], (upper - lower) / 2e-2, places=4)

    def test_cotangents_are_taken_by_name(self):
        self.m.forward(self.x, self.wanted)
        whole = {n: g.copy() for n, g in self.m.backward().items()}
        self.m.backward({"loss": 2.0})
        for name, g in whole.items():
            np.testing.assert_allclose(self.m.gradients[name], 2 * g, rtol=1e-5, atol=1e-7)
        self.m.backward({"y": np.zeros((2, 5, 8), np.float32)})
        self.assertEqual(self.m.gradient_norm(), 0)
        self.refuses("attention: has no output q: there are loss, y", self.m.backward, {"q": 1.0})
        self.refuses("cotangent of y: dimension 2 (T) is 4, must be 5", self.m.backward,
                     {"y": np.zeros((2, 4, 8), np.float32)})

    def test_gradients_of_two_batches_add_up(self):
        self.m.forward(self.x, self.wanted)
        self.m.backward()
        once = {n: g.copy() for n, g in self.m.gradients.items()}
        self.m.backward(accumulate=True)
        for name, g in once.items():
            np.testing.assert_allclose(self.m.gradients[name], 2 * g, rtol=1e-6)
        self.m.scale_gradients(0.5)
        np.testing.assert_allclose(self.m.gradients["wq"], once["wq"], rtol=1e-6)

    def test_both_in_one_call_give_the_same(self):
        loss, y = self.m.forward(self.x, self.wanted)
        two = self.m.backward(inputs=["x"])
        two = {n: g.copy() for n, g in two.items()}
        for _ in range(2):
            out = self.m.forward_backward(self.x, wanted=self.wanted, inputs=["x"])
            np.testing.assert_array_equal(out.loss, loss)
            np.testing.assert_array_equal(out.y, y)
            for name, g in {**self.m.gradients, **self.m.input_gradients}.items():
                np.testing.assert_array_equal(g, two[name])
        self.refuses("backward needs a forward call before it", self.m.backward)
        dy = np.ones_like(y)
        self.m.forward_backward(self.x, self.wanted, cotangents={"y": dy})
        one = self.m.gradients["wq"].copy()
        self.m.forward(self.x, self.wanted)
        self.m.backward({"y": dy})
        np.testing.assert_array_equal(self.m.gradients["wq"], one)
        self.refuses("has no output z", self.m.forward_backward, self.x, self.wanted,
                     cotangents={"z": dy})

    def test_steps_lower_the_loss(self):
        first = float(self.m.forward(self.x, self.wanted).loss)
        for _ in range(20):
            self.m.forward(self.x, self.wanted)
            self.m.backward()
            self.m.step(lr=0.5)
        self.assertLess(float(self.m.forward(self.x, self.wanted).loss), 0.7 * first)
        self.assertEqual(self.m.steps, 20)

    def test_groups_have_options_of_their_own(self):
        self.m.forward(self.x, self.wanted)
        self.m.backward()
        before = {n: p.copy() for n, p in self.m.parameters.items()}
        self.m.step(lr=0.1, groups=[attn.Group("wq", frozen=True), attn.Group("wk", {"lr": 0.2})])
        g, now = self.m.gradients, self.m.parameters
        np.testing.assert_array_equal(now["wq"], before["wq"])
        np.testing.assert_allclose(now["wk"], before["wk"] - 0.2 * g["wk"], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(now["wv"], before["wv"] - 0.1 * g["wv"], rtol=1e-5, atol=1e-7)
        self.refuses("no parameter is of the group nothing*", self.m.step,
                     [attn.Group("nothing*")], lr=0.1)
        self.refuses("its update has no option rate", self.m.step, rate=0.1)
        self.refuses("lr", self.m.step)

    def test_no_element_is_copied(self):
        y, loss = np.zeros((2, 5, 8), np.float32), np.zeros((), np.float32)
        out = self.m.forward(self.x, self.wanted, out={"y": y})
        self.assertIs(out.y, y)
        self.assertTrue(y.any())
        self.m.parameters["wo"][...] = 0
        self.assertFalse(self.m.forward(self.x, self.wanted, out={"loss": loss}).y.any())

        class Foreign:  # an array of another library
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = self.x.copy()
        self.m.init(seed=1)
        first = self.m.forward(Foreign(x), self.wanted)
        np.testing.assert_array_equal(first.y, self.m.forward(x, self.wanted).y)
        # A pointer to the same memory: what is changed before backward changes what it finds.
        self.assertEqual(self.m._inputs.arrays[0].ctypes.data, x.ctypes.data)

    def test_parameters_are_shared(self):
        other = attn.compile_text(helper.ATTENTION)
        self.refuses("the parameters are not there yet: call init or load", other.forward, self.x,
                     self.wanted)
        other.use(self.m.parameters)
        self.m.parameters["wq"][0, 0, 0] = 3
        self.assertEqual(other.parameters["wq"][0, 0, 0], 3)
        with self.assertRaises(TypeError):
            self.m.parameters["wq"] = self.x
        self.refuses("has a parameter wk, which is not given", other.use,
                     {"wq": self.m.parameters["wq"]})

    def test_weights_go_through_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.safetensors"
            self.m.save(path)
            other = attn.compile_text(helper.ATTENTION)
            self.assertEqual(other.load(path), [])
            for name, array in self.m.parameters.items():
                np.testing.assert_array_equal(other.parameters[name], array)
            self.m.forward(self.x, self.wanted)
            self.m.backward()
            self.m.step(lr=0.1, momentum=0.9)
            states = pathlib.Path(folder) / "states.safetensors"
            self.m.save_states(states)
            other.load_states(states)
            self.assertEqual(other.steps, 1)
            narrow = attn.compile_text(helper.ATTENTION, D=4)
            error = self.refuses('"wq" has shape [2, 4, 8], must have [2, 2, 4]', narrow.load, path)
            self.assertEqual(error.status, "bad file")
            error = self.refuses("No such file", narrow.load, path.parent / "none")
            self.assertEqual(error.status, "bad file")

    def test_differences_that_are_allowed_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.safetensors")
            self.m.save(path)
            part = attn.compile_text(
                "size B, D = 8, H = 2, E = 4\nmodel part(x: [B, D]) -> y {\n  param wq: [H, E, D]\n"
                "  y[b,h,e] = sum[d] x[b,d] * wq[h,e,d]\n}\n")
            self.refuses("is not in the model", part.load, path)
            told = part.load(path, ignore_extra=True)
            self.assertEqual(told, [f'"{n}" is not in the model' for n in ("wk", "wo", "wv")])

    def test_refuses_as_the_c_interface_does(self):
        x, wanted, m = self.x, self.wanted, self.m
        self.assertEqual(self.refuses("x: type is f64, must be f32", m.forward, x.astype(float),
                                      wanted).status, "refused")
        self.refuses("wanted: dimension 2 (T) is 4, must be 5", m.forward, x, wanted[:, :4].copy())
        self.refuses("x: rank is 2, must be 3", m.forward, x[0].copy(), wanted)
        self.refuses("x: rank is 9, must be 3", m.forward, x.reshape((1,) * 6 + x.shape), wanted)
        self.refuses("x: its elements are not next to each other", m.forward, x[:, ::2], wanted)
        self.refuses("x: type is int64, must be f32", m.forward, x.astype(np.int64), wanted)
        self.refuses("x: a list is no array", m.forward, [1.0], wanted)
        self.refuses("attention: input wanted is not given", m.forward, x)
        self.refuses("attention: takes 2 inputs, not 3", m.forward, x, wanted, x)
        self.refuses("attention: input x is given twice", m.forward, x, wanted, x=x)
        self.refuses("attention: has no input z", m.forward, x, z=wanted)
        self.refuses("attention: has no output z", m.forward, x, wanted, out={"z": x})
        self.refuses("which is written, overlaps", m.forward, x, wanted, out={"y": x})
        frozen = np.zeros((2, 5, 8), np.float32)
        frozen.flags.writeable = False
        self.refuses("y: the array is read-only", m.forward, x, wanted, out={"y": frozen})
        self.refuses("attention: it keeps no state", m.forward, x, wanted, states={})
        self.refuses("attention: it keeps no state", m.begin)
        self.refuses("attention: has no probe map", m.probe, "map")
        self.refuses("has no run-time size D", m.init, 1, D=4)
        self.refuses("attention: size B is negative", m.init, 1, B=-1)

    def test_says_what_it_is(self):
        text = repr(self.m)
        self.assertTrue(text.startswith(
            "attention(x: f32[B, T, D=8], wanted: f32[B, T, D=8]) -> loss: f32[], y: f32[B, T, D=8]\n"
            "  size B, T\n  param wq: f32[H=2, E=4, D=8]\n"), text)
        self.assertIn("step(lr, ", text)
        self.assertIn(text, inspect.getdoc(self.m))
        self.assertEqual(str(inspect.signature(self.m.forward)), "(x, wanted, *, states=None, out=None)")
        self.assertIn("x: f32[B, T, D=8]", inspect.getdoc(self.m.forward))
        self.assertEqual(self.m.description.params[0].init, "xavier")

    def test_threads_can_be_set_and_give_the_same(self):
        self.m.threads = 1
        one = self.m(self.x, self.wanted).y
        self.m.threads = 2
        self.assertEqual(self.m.threads, 2)
        np.testing.assert_array_equal(self.m(self.x, self.wanted).y, one)

    def test_callers_of_several_threads_wait_for_each_other(self):
        right = self.m(self.x, self.wanted).y
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for y in pool.map(lambda _: self.m(self.x, self.wanted).y, range(200)):
                np.testing.assert_array_equal(y, right)

    def test_results_outlive_the_model(self):
        m = attn.compile_text(helper.ATTENTION)
        m.init(seed=1)
        y = m.forward(self.x, self.wanted).y
        copy = y.copy()
        del m
        gc.collect()
        np.testing.assert_array_equal(y, copy)


class Types(Case):
    def test_all_of_them_go_in_and_out(self):
        m = attn.compile_text(TYPES)
        brain = (np.array([1.5, -2], np.float32).view(np.uint32) >> 16).astype(np.uint16)
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        out = m.forward(x, np.array([1, 2], np.float16), brain, np.array([1, 2, 3], np.float64),
                        np.array([4, 5], np.int32), np.array([True, False]), 2)
        np.testing.assert_array_equal(out.real, [2 * 3 + 1 + 1.5, 0])
        np.testing.assert_array_equal(out.wide, [2, 4, 6])
        np.testing.assert_array_equal(out.whole, [5, 6])
        np.testing.assert_array_equal(out.short, np.array([1, 2], np.float16))
        np.testing.assert_array_equal(out.shorter.view(np.uint16), brain)
        self.assertEqual([a.dtype for a in out], [np.float32, np.float64, np.int32, np.float16,
                                                  attn.bfloat16])
        self.refuses("has no gradient" if m.description.gradient else "without gradients", m.backward,
                     {"real": np.ones(2, np.float32)})

    def test_empty_tensors_are_tensors(self):
        m = attn.compile_text(helper.ATTENTION)
        m.init(seed=1)
        y = m.forward(np.zeros((0, 5, 8), np.float32), np.zeros((0, 5, 8), np.float32)).y
        self.assertEqual(y.shape, (0, 5, 8))


class States(Case):
    def test_change_in_place(self):
        m = attn.compile_text(STATES)
        states = m.begin(B=2, S=4)
        self.assertEqual([(n, a.shape, a.any()) for n, a in states.items()],
                         [("seen", (2, 4), False), ("calls", (2,), False)])
        for k in range(3):
            out = m.forward(np.array([k + 1, 10], np.float32), np.array([k, k], np.int32),
                            states=states)
        np.testing.assert_array_equal(out.total, [6, 30])
        np.testing.assert_array_equal(states["seen"][0], [1, 2, 3, 0])
        np.testing.assert_array_equal(states["calls"], [3, 3])

    def test_refusals(self):
        m = attn.compile_text(STATES)
        x, at = np.zeros(1, np.float32), np.array([9], np.int32)
        self.refuses("it keeps states", m.forward, x, at)
        self.refuses("B not given", m.begin, S=4)
        states = m.begin(B=1, S=4)
        error = self.refuses("at", m.forward, x, at, states=states)
        self.assertEqual(error.status, "bad data")
        self.refuses("state calls is not given", m.forward, x, at, states={"seen": states["seen"]})


class Probes(Case):
    def test_follow_a_forward_call(self):
        m = attn.compile_text(PROBED)
        m.init(seed=1)
        x = np.random.default_rng(1).standard_normal((6, 4), np.float32)
        self.refuses("needs a forward call before it", m.probe, "map")
        m.forward(x)
        map_ = m.probe("map")
        np.testing.assert_allclose(map_.sum(axis=1), np.ones(6), rtol=1e-5)
        self.assertEqual(np.triu(map_, 1).any(), False)


class Products(Case):
    def test_are_those_of_differences(self):
        m = attn.compile_text(PROBED, derive=["jvp", "hvp"])
        m.init(seed=1)
        r = np.random.default_rng(1)
        x, t = (r.standard_normal((3, 4), np.float32) for _ in range(2))
        tw = r.standard_normal((4, 4), np.float32)
        outputs, changes = m.jvp({"x": x}, {"x": t, "w": tw})
        products = m.hvp({"x": x}, {"x": t, "w": tw})
        np.testing.assert_allclose(outputs.loss, m.forward(x).loss, rtol=1e-5)
        w, step, found = m.parameters["w"].copy(), 1e-2, {}
        for sign in (1, -1):
            m.parameters["w"][...] = w + sign * step * tw
            loss = m.forward(x + np.float32(sign * step) * t).loss
            found[sign] = {"loss": loss, **{n: g.copy() for n, g in m.backward(inputs=["x"]).items()}}
        for name, product in [("loss", changes.loss), *products.items()]:
            right = (found[1][name] - found[-1][name]) / (2 * step)
            np.testing.assert_allclose(product, right, atol=0.02 * np.abs(right).max(), err_msg=name)

    def test_refusals(self):
        m = attn.compile_text(PROBED)
        m.init(seed=1)
        x = np.ones((3, 4), np.float32)
        self.refuses("head: was compiled without --derive=jvp", m.jvp, {"x": x}, {})
        self.refuses("head: was compiled without --derive=hvp", m.hvp, {"x": x}, {})
        self.refuses("head: has no parameter or input z", m.jvp, {"x": x}, {"z": x})


class Compiling(Case):
    def test_errors_have_the_diagnostics(self):
        with self.assertRaises(attn.CompileError) as caught:
            attn.compile_text("size T\nmodel m(x: [T]) -> y { y[i] = x[i] + nothing[i] }\n")
        self.assertIn("--> text.attn:2:", str(caught.exception))
        self.assertIn("nothing", str(caught.exception))
        with self.assertRaises(attn.CompileError) as caught:
            attn.compile("nowhere.attn")
        self.assertEqual(str(caught.exception), "nowhere.attn: No such file or directory")
        with self.assertRaises(attn.CompileError) as caught:
            attn.compile_text(helper.ATTENTION, Q=3)
        self.assertIn("Q", str(caught.exception))

    def test_a_file_of_several_models_asks_which(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "two.attn")
            pathlib.Path(path).write_text("size T\nmodel one(x: [T]) -> y { y[i] = x[i] }\n"
                                          "model two(x: [T]) -> y { y[i] = 2 * x[i] }\n")
            self.refuses("has the models one, two: choose one with model=", attn.compile, path)
            self.refuses("has no model three: there are one, two", attn.compile, path, model="three")
            y, = attn.compile(path, model="two").forward(np.ones(3, np.float32))
            np.testing.assert_array_equal(y, [2, 2, 2])

    def test_what_changed_is_compiled_again(self):
        with tempfile.TemporaryDirectory() as folder:
            part, path = pathlib.Path(folder) / "part.attn", pathlib.Path(folder) / "m.attn"
            part.write_text("block f(x: [...]) -> y { y[...] = 2 * x[...] }\n")
            path.write_text('use "part.attn"\nsize T\nmodel m(x: [T]) -> y { y = f(x) }\n')
            x = np.ones(2, np.float32)
            self.assertEqual(attn.compile(path)(x)[0][0], 2)
            part.write_text("block f(x: [...]) -> y { y[...] = 3 * x[...] }\n")
            self.assertEqual(attn.compile(path)(x)[0][0], 3)
            self.assertEqual(attn.compile(path, cache=False)(x)[0][0], 3)

    def test_two_processes_compile_at_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.attn"
            path.write_text("size T\nmodel m(x: [T]) -> y { y[i] = 5 * x[i] }\n")
            program = ("import attn, numpy as np, sys\n"
                       "print(attn.compile(sys.argv[1])(np.ones(1, np.float32))[0][0])\n")
            environment = {**os.environ, "ATTNC_CACHE_DIR": folder}
            running = [subprocess.Popen([sys.executable, "-c", program, str(path)], env=environment,
                                        stdout=subprocess.PIPE, text=True) for _ in range(4)]
            self.assertEqual([p.communicate()[0] for p in running], ["5.0\n"] * 4)
            made = sorted(p.suffix for p in (pathlib.Path(folder) / "models").iterdir())
            self.assertEqual(made, [".lock", ".so"])

    def test_libraries_are_loaded_without_a_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.attn"
            path.write_text("size T\nmodel m(x: [T]) -> y { y[i] = 7 * x[i] }\n")
            subprocess.run([os.environ["ATTNC"], "build", str(path), "--shared", "-t", "host", "-o",
                            folder], check=True, capture_output=True)
            program = ("import attn, numpy as np, sys\n"
                       "print(attn.load(sys.argv[1])(np.ones(1, np.float32))[0][0])\n")
            done = subprocess.run([sys.executable, "-c", program, str(path.with_suffix(".so"))],
                                  capture_output=True, text=True,
                                  env={"PYTHONPATH": os.environ.get("PYTHONPATH", "")})
            self.assertEqual(done.stdout, "7.0\n", done.stderr)
        build = pathlib.Path(os.environ["ATTNC"]).parents[1]
        m = attn.load(build / "tests/python/attn_python_shared/shared.so")
        np.testing.assert_array_equal(m(np.ones(2, np.float32)).y, [4, 4])
        self.refuses("No such file", attn.load, "/nowhere/libm.so")
        error = self.refuses("does not export the functions of attn/describe.h", attn.load,
                             "/lib/x86_64-linux-gnu/libm.so.6")
        self.assertEqual(error.status, "bad file")


if __name__ == "__main__":
    helper.main()
