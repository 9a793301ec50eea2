"""Models as operators of PyTorch: autograd, opcheck, torch.compile, modules, two processes."""

import helper

np = helper.require("numpy")
torch = helper.require("torch")

import copy  # noqa: E402
import os  # noqa: E402
import pathlib  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

import attn  # noqa: E402
import attn.torch  # noqa: E402
from test_numpy import STATES, TYPES  # noqa: E402

EXACT = """
size B, N, E = 4
train model exact(q: f64[B, N, E], k: f64[B, N, E], at: int[B], keep: bool[N]) -> z, top: f64 {
  param scale: f64[E] = ones
  s[b,i,j] = (sum[e] scale[e] * q[b,i,e] * k[b,j,e]) / sqrt(E)
  p[b,i,j] = softmax[j where j <= i + at[b] and keep[j]] (s[b,i,j])
  z[b,i,e] = sum[j] p[b,i,j] * k[b,j,e]
  top = sum[b,i,e] z[b,i,e]^2
}
"""

HALF = """
size B, N, E = 8
train model half(x: bf16[B, N, E]) -> y: bf16 {
  param w: f16[E, E], b: [E]
  y[b,i,e] = tanh(b[e] + (sum[d] x[b,i,d] * w[e,d]))
}
"""

JOINED = """
size P, S
train model joined(past: [P], new: [S]) -> y {
  y[j: P + S] = if j < P then past[j] * past[j] else new[j - P]
}
"""

SUCCESS = {"test_schema": "SUCCESS", "test_autograd_registration": "SUCCESS",
           "test_faketensor": "SUCCESS", "test_aot_dispatch_dynamic": "SUCCESS"}


def normal(*shape, dtype=torch.float32, grad=True):
    return torch.randn(*shape, dtype=dtype).requires_grad_(grad)


def reference(x, wanted, p):
    """The attention of helper.ATTENTION."""
    q, k, v = (torch.einsum("bid,hed->bhie", x, p[n]) for n in ("wq", "wk", "wv"))
    z = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    y = torch.einsum("bhie,dhe->bid", z, p["wo"])
    return torch.mean((y - wanted) ** 2), y


class Case(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def refuses(self, text, call, *arguments, **named):
        with self.assertRaises(attn.Error) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))

    def opcheck(self, operator, *arguments):
        self.assertEqual(torch.library.opcheck(operator, arguments), SUCCESS)


class Exact(Case):
    @classmethod
    def setUpClass(cls):
        cls.f = attn.torch.function(attn.compile_text(EXACT))

    def arguments(self, n=5):
        q, k = normal(2, n, 4, dtype=torch.float64), normal(2, n, 4, dtype=torch.float64)
        at, keep = torch.tensor([0, 1], dtype=torch.int32), torch.ones(n, dtype=torch.bool)
        keep[2] = False
        return q, k, at, keep, normal(4, dtype=torch.float64)

    def test_gradcheck(self):
        self.assertTrue(torch.autograd.gradcheck(self.f, self.arguments()))

    def test_opcheck_of_forward(self):
        self.opcheck(self.f.forward, *self.arguments(), True)
        self.opcheck(self.f.forward, *(t.detach() for t in self.arguments()), False)

    def test_opcheck_of_backward(self):
        given = [t.detach() for t in self.arguments()]
        *outputs, saved = self.f.forward(*given, True)
        self.opcheck(self.f.backward, given, outputs, saved, [torch.ones_like(outputs[0]), None],
                     [True, False, False, False, True])

    def test_only_what_is_wanted_is_computed(self):
        q, k, at, keep, scale = self.arguments()
        z, top = self.f(q.detach(), k, at, keep, scale.detach())
        top.backward()
        self.assertIsNone(q.grad)
        self.assertEqual(k.grad.shape, k.shape)

    def test_second_derivatives_are_refused(self):
        q, *rest = self.arguments()
        gradient, = torch.autograd.grad(self.f(q, *rest)[1], q, create_graph=True)
        self.refuses("its gradients have no derivatives in PyTorch", gradient.sum().backward)

    def test_compiled_graphs_are_whole_and_for_all_sizes(self):
        compiled = torch.compile(lambda *a: self.f(*a)[1] * 2, fullgraph=True, dynamic=True)
        for n in (5, 7, 9):
            arguments = self.arguments(n)
            compiled(*arguments).backward()
            right = self.arguments(n)
            for mine, other in zip(arguments, right):
                other.data.copy_(mine.data)
            (self.f(*right)[1] * 2).backward()
            torch.testing.assert_close(arguments[0].grad, right[0].grad)
            torch.testing.assert_close(arguments[4].grad, right[4].grad)
            if n == 5:
                torch.compiler.set_stance("fail_on_recompile")
        torch.compiler.set_stance("default")

    def test_checkpointing_computes_again(self):
        q, k, at, keep, scale = self.arguments()
        torch.utils.checkpoint.checkpoint(self.f, q, k, at, keep, scale, use_reentrant=False)[1].backward()
        first, q.grad = q.grad, None
        self.f(q, k, at, keep, scale)[1].backward()
        torch.testing.assert_close(first, q.grad, rtol=0, atol=0)


class Attention(Case):
    @classmethod
    def setUpClass(cls):
        cls.m = attn.compile_text(helper.ATTENTION)
        cls.x, cls.wanted = torch.randn(2, 5, 8), torch.randn(2, 5, 8)

    def setUp(self):
        super().setUp()
        self.m.init(seed=1)
        self.layer = attn.torch.Module(self.m)

    def test_agrees_with_pytorch(self):
        x = self.x.clone().requires_grad_()
        loss, y = self.layer(x, self.wanted)
        (loss + y.sum()).backward()
        mine = {n: p.grad for n, p in self.layer.named_parameters()}
        other = {n: p.detach().clone().requires_grad_() for n, p in self.layer.named_parameters()}
        z = self.x.clone().requires_grad_()
        right, right_y = reference(z, self.wanted, other)
        (right + right_y.sum()).backward()
        torch.testing.assert_close(loss, right)
        torch.testing.assert_close(y, right_y)
        torch.testing.assert_close(x.grad, z.grad)
        for name, p in other.items():
            torch.testing.assert_close(mine[name], p.grad, msg=name)

    def test_parameters_are_in_the_memory_of_the_model(self):
        self.assertEqual(list(self.layer.state_dict()), ["wq", "wk", "wv", "wo"])
        optimiser = torch.optim.SGD(self.layer.parameters(), lr=0.5)
        losses = []
        for _ in range(20):
            optimiser.zero_grad()
            loss, _ = self.layer(self.x, self.wanted)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], 0.9 * losses[0])
        self.assertEqual(self.m(self.x, self.wanted).loss, self.layer(self.x, self.wanted)[0].item())

    def test_names_with_dots_are_modules(self):
        m = attn.compile_text("use std.norm\nsize B, D = 4\ntrain model n(x: [B, D]) -> y {\n"
                              "  a = layer_norm(x) as first\n  y = layer_norm(a) as second\n}\n")
        layer = attn.torch.Module(m)
        self.assertEqual(list(layer.state_dict()),
                         ["first.gamma", "first.beta", "second.gamma", "second.beta"])
        x = torch.randn(3, 4)
        torch.testing.assert_close(layer(x), torch.nn.functional.layer_norm(x, [4]), atol=1e-3, rtol=0)
        twin = copy.deepcopy(layer)
        twin.second.gamma.data.zero_()
        self.assertFalse(twin(x).any())
        self.assertTrue(layer(x).any())

    def test_nothing_is_kept_without_gradients(self):
        arguments = [self.x, self.wanted, *self.layer.parameters()]
        with torch.no_grad():
            loss, _ = self.layer(self.x, self.wanted)
        self.assertFalse(loss.requires_grad)
        self.assertEqual(self.layer.function.forward(*arguments, False)[-1].numel(), 0)
        self.assertGreater(self.layer.function.forward(*arguments, True)[-1].numel(), 0)

    def test_arguments_may_be_transposed(self):
        x = self.x.transpose(0, 1).contiguous().transpose(0, 1)
        self.assertFalse(x.is_contiguous())
        torch.testing.assert_close(self.layer(x, self.wanted)[1], self.layer(self.x, self.wanted)[1],
                                   rtol=0, atol=0)

    def test_arguments_have_names(self):
        self.assertEqual(self.layer(wanted=self.wanted, x=self.x)[0],
                         self.layer(self.x, self.wanted)[0])
        f, parameters = self.layer.function, dict(self.layer.named_parameters())
        self.assertEqual(f(self.x, wanted=self.wanted, **parameters)[0],
                         self.layer(self.x, self.wanted)[0])
        self.refuses("attention: takes no z", f, self.x, z=self.x)
        self.refuses("attention: wanted, wq, wk, wv, wo: not given", f, x=self.x)
        self.refuses("attention: takes 6 tensors", f, self.x)
        self.refuses("attention: x is given twice", f, self.x, x=self.x)

    def test_refuses_as_the_c_interface_does(self):
        self.refuses("x: type is f64, must be f32", self.layer, self.x.double(), self.wanted)
        self.refuses("x: type is torch.int64, must be f32", self.layer, self.x.long(), self.wanted)
        self.refuses("wanted: dimension 2 (T) is 4, must be 5", self.layer, self.x, self.wanted[:, :4])
        self.refuses("x: rank is 2, must be 3", self.layer, self.x[0], self.wanted)

    def test_calls_have_the_threads_of_pytorch(self):
        before = torch.get_num_threads()
        for n in (1, 2):
            torch.set_num_threads(n)
            self.layer(self.x, self.wanted)
            self.assertEqual(self.layer.function.model.threads, n)
        torch.set_num_threads(before)

    def test_dlpack_takes_tensors(self):
        y = torch.zeros(2, 5, 8)
        self.m(self.x, self.wanted, out={"y": y.numpy()})
        torch.testing.assert_close(y, self.layer(self.x, self.wanted)[1])
        torch.testing.assert_close(torch.from_dlpack(self.m(self.x, self.wanted).y), y)


class Types(Case):
    def test_half_precision(self):
        m = attn.compile_text(HALF)
        layer = attn.torch.Module(m, seed=1)
        x = normal(2, 3, 8, dtype=torch.bfloat16)
        y = layer(x)
        self.assertEqual(y.dtype, torch.bfloat16)
        y.sum().backward()
        self.assertEqual([x.grad.dtype, layer.w.grad.dtype, layer.b.grad.dtype],
                         [torch.bfloat16, torch.float16, torch.float32])
        z = x.detach().float().requires_grad_()
        torch.tanh(layer.b + z @ layer.w.float().T).sum().backward()
        torch.testing.assert_close(x.grad.float(), z.grad, rtol=0.05, atol=0.05)
        self.opcheck(layer.function.forward, x, layer.w, layer.b, True)
        # NumPy has no bfloat16, but the model takes the tensor's memory all the same.
        out = m(x.detach()).y
        torch.testing.assert_close(torch.from_numpy(out.view(np.uint16)).view(torch.bfloat16), y)

    def test_all_types_without_gradients(self):
        f = attn.torch.function(attn.compile_text(TYPES))
        arguments = (torch.ones(2, 3), torch.ones(2).half(), torch.ones(2).bfloat16(),
                     torch.ones(3).double(), torch.ones(2, dtype=torch.int32),
                     torch.ones(2, dtype=torch.bool), torch.tensor(2.0))
        out = f(*arguments)
        self.assertEqual([t.dtype for t in out], [torch.float32, torch.float64, torch.int32,
                                                  torch.float16, torch.bfloat16])
        torch.testing.assert_close(out[0], torch.full((2,), 8.0))
        self.opcheck(f.forward, *arguments, False)

    def test_states_change_in_place(self):
        m = attn.compile_text(STATES)
        f = attn.torch.function(m)
        seen, calls = torch.zeros(2, 4), torch.zeros(2, dtype=torch.int32)
        for k in range(3):
            total = f(torch.full((2,), k + 1.0), torch.full((2,), k, dtype=torch.int32), seen, calls)
        torch.testing.assert_close(total, torch.full((2,), 6.0))
        torch.testing.assert_close(seen[0], torch.tensor([1.0, 2, 3, 0]))
        self.assertEqual(calls.tolist(), [3, 3])
        self.opcheck(f.forward, torch.ones(2), torch.zeros(2, dtype=torch.int32), seen, calls, False)
        self.refuses("a state changes in place", f, torch.ones(2), calls, torch.zeros(4, 2).T, calls)

    def test_extents_that_are_computed(self):
        f = attn.torch.function(attn.compile_text(JOINED))
        self.opcheck(f.forward, normal(3), normal(2), True)
        compiled = torch.compile(f, fullgraph=True, dynamic=True)
        for n in (3, 4):
            past, new = normal(n), normal(2)
            torch.testing.assert_close(compiled(past, new), torch.cat([past * past, new]))


class Distributed(unittest.TestCase):
    def test_two_processes_learn_what_one_does(self):
        script = pathlib.Path(__file__).with_name("distributed.py")
        with tempfile.TemporaryDirectory() as folder:
            running = [subprocess.Popen(
                [sys.executable, str(script), folder, str(rank)], stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True,
                env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"}) for rank in (0, 1)]
            for process in running:
                said = process.communicate(timeout=300)[0]
                self.assertEqual(process.returncode, 0, said)
            zero, one, alone = (torch.load(os.path.join(folder, f"{name}.pt"))
                                for name in ("0", "1", "alone"))
            parts = os.path.join(folder, "parts1.pt")
            in_parts = torch.load(parts) if os.path.exists(parts) else None
        if in_parts is None:
            print("SKIPPED: this PyTorch has no fully_shard: FSDP is not tested")
        for name, p in alone.items():
            if in_parts is not None:
                torch.testing.assert_close(in_parts[name], p, rtol=1e-4, atol=1e-6)
            torch.testing.assert_close(zero[name], one[name], rtol=0, atol=0)
            torch.testing.assert_close(zero[name], p, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    helper.main()
