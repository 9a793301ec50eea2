"""What bench/ times of ours, without what it is compared with: that it runs, and gives what float64 gives."""

import helper

helper.require("numpy")

import sys  # noqa: E402
import unittest  # noqa: E402

import numpy as np  # noqa: E402

sys.path.insert(0, str(helper.ROOT / "bench"))
import attention  # noqa: E402
import linear  # noqa: E402
import timing  # noqa: E402
import training  # noqa: E402


class Bench(unittest.TestCase):
    def agree(self, got, expected, tolerance=2e-5):
        self.assertLess(timing.error_of(got, expected), tolerance)

    def test_attention(self):
        for named in ({"key_heads": 1, "causal": True}, {"variant": "relative"}):
            with self.subTest(**named):
                problem = attention.make_problem(2, 19, 8, **named)
                z, gradients = attention.expected(problem)
                for direction, expected in (("forward", [z]), ("both", gradients)):
                    call, result = attention.our_contestant(problem, direction)
                    call()
                    self.agree(result(), expected)

    def test_linear(self):
        layer = linear.Layer(7, 5, 3)
        for what in linear.WANTED:
            call, result = linear.our_layer(layer, what)
            call()
            self.agree(result(), layer.expected(what))

    def test_training(self):
        setting = training.Setting("small", 2, 5, 8, 2, 1, 11)
        before = {name: a.copy() for name, a in setting.weights.items()}
        step, result = training.our_step(setting)
        losses = []
        for _ in range(3):
            step()
            losses.append(float(result()[0]))
        self.assertAlmostEqual(losses[0], np.log(11), delta=0.5)
        self.assertLess(losses[2], losses[1])
        self.assertLess(losses[1], losses[0])
        for name, a in before.items():  # which the other contestants begin with
            self.assertTrue(np.array_equal(a, setting.weights[name]), name)
        self.assertEqual(len(result()), 1 + len(training.joined(setting, setting.weights)))


if __name__ == "__main__":
    helper.main()
