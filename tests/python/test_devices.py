"""Models on a device: with the driver of CUDA that tests/cuda makes, which runs on the host. Where memory of
the device is has no meaning there, so what PyTorch does with it is not part of this test."""

import helper

np = helper.require("numpy")

import ctypes  # noqa: E402
import gc  # noqa: E402
import unittest  # noqa: E402

import attn  # noqa: E402
from attn import _device  # noqa: E402

DRIVER = ctypes.CDLL("libcuda.so.1")
if not hasattr(DRIVER, "fake_cuda_calls"):
    helper.skip("libcuda.so.1 is not that of tests/cuda")
DRIVER.fake_cuda_complaints.restype = ctypes.c_char_p

STATES = """
size B, S
model count(x: [B], at: int[B]) -> total {
  state seen: [B, S]
  seen'[b, at[b]] = x[b]
  total[b] = sum[s] seen'[b,s]
}
"""

RECURRENT = """
size B, T, V
size N = 5
train model recurrent(token: int[B, T], table: [V, N], h0: [B, N]) -> loss {
  param u: [N, N]
  scan t: T {
    h[b,t,m] = tanh(table[token[b,t],m] + (sum[k] h[b,t-1,k] * u[m,k])) from h0[b,m]
  }
  loss = sum[b,t,m] h[b,t,m]^2
}
"""


def calls(function):
    return DRIVER.fake_cuda_calls(function.encode())


class Foreign:
    """An array of another library, on CUDA: `at` is the ordinal that it claims."""

    def __init__(self, array, at=0):
        self.array, self.at, self.streams = array, at, []

    def __dlpack_device__(self):
        return 2, self.at

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream)


class Devices(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.there = attn.compile_text(helper.ATTENTION, device="cuda")
        cls.here = attn.compile_text(helper.ATTENTION)

    def tearDown(self):
        self.assertEqual(DRIVER.fake_cuda_complaints(), b"")

    def refuses(self, text, call, *arguments, **named):
        with self.assertRaises(attn.Error) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))
        return caught.exception

    def near(self, there, here):
        self.assertIsInstance(there, attn.DeviceArray)
        # Products of f32 are three of 11 bits: docs/gpu.md.
        scale = max(float(np.max(np.abs(here), initial=0)), 1e-3)
        np.testing.assert_allclose(there.numpy(), here, rtol=0, atol=1e-4 * scale)

    def test_trains_as_the_host_does(self):
        r = np.random.default_rng(1)
        x, wanted = r.standard_normal((2, 2, 5, 8), np.float32)
        self.assertEqual((self.there.device, self.here.device), ("cuda:0", "cpu"))
        for m in (self.there, self.here):
            m.init(seed=1)
        before = calls("cuGraphLaunch")
        for k in range(6):
            results = []
            for m in (self.there, self.here):
                out = m.forward(x + k, wanted)
                gradients = m.backward(inputs=["x"])
                m.step(lr=0.01)
                results.append((out, gradients))
            (there, there_gradients), (here, here_gradients) = results
            self.near(there.loss, here.loss)
            self.near(there["y"], here["y"])
            self.assertEqual(set(there_gradients), set(here_gradients))
            for name, gradient in here_gradients.items():
                self.near(there_gradients[name], gradient)
        for name, parameter in self.here.parameters.items():
            self.near(self.there.parameters[name], parameter)
        self.assertGreater(calls("cuGraphLaunch"), before)
        self.assertAlmostEqual(self.there.gradient_norm(), self.here.gradient_norm(), 5)
        self.there.wait()

    def test_recurrences_are_launched_as_one(self):
        there = attn.compile_text(RECURRENT, device="cuda")
        here = attn.compile_text(RECURRENT)
        r = np.random.default_rng(4)
        for m in (there, here):
            m.init(seed=4)
        # What a call is given lies where the call before had it.
        arguments = {n: attn.DeviceArray.empty(there.library, shape, t, 4) for n, t, shape in
                     (("token", "i32", (2, 6)), ("table", "f32", (3, 5)), ("h0", "f32", (2, 5)))}
        for k in range(5):
            given = {"token": r.integers(0, 3, (2, 6), np.int32),
                     "table": r.standard_normal((3, 5), np.float32),
                     "h0": r.standard_normal((2, 5), np.float32)}
            for name, array in given.items():
                arguments[name].copy_from(array)
            before = calls("cuLaunchKernel")
            loss, wanted = there.forward(**arguments).loss, here.forward(**given).loss
            launched = calls("cuLaunchKernel") - before
            self.near(loss, wanted)
            gradients, wanted = there.backward(inputs=["table"]), here.backward(inputs=["table"])
            for name, gradient in wanted.items():
                self.near(gradients[name], gradient)
            del loss, gradients
            if k == 0:
                first = launched
        self.assertLess(launched, first - 5)  # six steps and more

    def test_arrays_of_others_are_read_where_they_are(self):
        r = np.random.default_rng(2)
        x, wanted = r.standard_normal((2, 2, 5, 8), np.float32)
        for m in (self.there, self.here):
            m.init(seed=2)
        y = self.there(x, wanted).y
        self.near(y, self.here(x, wanted).y)
        copies = calls("cuMemcpyHtoDAsync")
        foreign = Foreign(y)
        taken = _device.taken(self.there.library, foreign, "x")
        self.assertEqual((taken.address, taken.shape, taken.type), (y.address, (2, 5, 8), "f32"))
        self.assertEqual(foreign.streams, [1])
        again = self.there(foreign, foreign)
        # The header of what is kept is all that was copied.
        self.assertLessEqual(calls("cuMemcpyHtoDAsync") - copies, 1)
        self.near(again.y, self.here(y.numpy(), y.numpy()).y)
        # Arrays live as long as a capsule, or who took it, wants them.
        del taken, again
        gc.collect()
        self.assertEqual(len(_device._lent), 0)
        address, capsule = y.address, y.__dlpack__()
        del y, foreign
        gc.collect()
        self.assertEqual([lent[2].address for lent in _device._lent.values()], [address])
        del capsule
        gc.collect()
        self.assertEqual(len(_device._lent), 0)

    def test_parameters_are_on_the_device(self):
        self.there.init(seed=3)
        self.here.init(seed=3)
        for name, parameter in self.here.parameters.items():
            np.testing.assert_array_equal(self.there.parameters[name].numpy(), parameter)
        ones = np.ones((8, 2, 4), np.float32)
        self.there.parameters["wo"].copy_from(ones)
        np.testing.assert_array_equal(np.asarray(self.there.parameters["wo"]), ones)
        self.assertEqual(repr(self.there.parameters["wo"]), "attn.DeviceArray(f32[8, 2, 4], cuda:0)")
        self.there.use(self.here.parameters)
        np.testing.assert_array_equal(self.there.parameters["wo"].numpy(), self.here.parameters["wo"])

    def test_states_and_integers(self):
        there = attn.compile_text(STATES, device="cuda:0")
        states = there.begin(B=2, S=3)
        x = np.asarray([1, 2], np.float32)
        for at, total in (([0, 1], [1, 2]), ([0, 2], [1, 4]), ([1, 0], [2, 6])):
            out = there(x, np.asarray(at, np.int32), states=states)
            np.testing.assert_array_equal(out.total.numpy(), np.asarray(total, np.float32))
        before = states["seen"].numpy()
        error = self.refuses("must be in 0..2", there, x, np.asarray([0, 3], np.int32), states=states)
        self.assertEqual(error.status, "bad data")
        np.testing.assert_array_equal(states["seen"].numpy(), before)
        self.refuses("what is written is on cuda:0", there, x, np.asarray([0, 1], np.int32),
                     states={"seen": np.zeros((2, 3), np.float32)})

    def test_refusals(self):
        x = np.zeros((2, 5, 8), np.float32)
        self.there.init(seed=1)
        self.here.init(seed=1)
        error = self.refuses("device cuda:99: there is one CUDA device, of ordinal 0",
                             attn.compile_text, helper.ATTENTION, device="cuda:99")
        self.assertEqual(error.status, "refused")
        self.refuses("device 'gpu' is none of", attn.compile_text, helper.ATTENTION, device="gpu")
        y = self.there(x, x).y
        self.refuses("x: it is on a device, the model is on the host", self.here, y, x)
        self.refuses("x: it is on cuda:1, the model is on cuda:0", self.there, Foreign(y, 1), x)
        self.refuses("y: what is written is on cuda:0", self.there, x, x, out={"y": np.empty_like(x)})
        self.refuses("wanted: dimension 2 (T) is 4, must be 5", self.there, x, x[:, :4].copy())
        host = attn.load(attn._compile.build(helper.ROOT / "tests/python/shared.attn", ["--target", "host"]),
                         model=None, device="cuda")
        with self.assertRaises(attn.Error) as caught:
            host.init(seed=1)
            host(*[np.zeros([2] * len(a.extents), np.float32) for a in host.description.inputs])
        self.assertIn("build it with --target cuda", str(caught.exception))


if __name__ == "__main__":
    helper.main()
