"""Linear layers with a bias: y = x w' + b, and the gradients of x and of w and b."""

import numpy as np

import ours
from attention import random
from timing import Case, Contestant

SHAPES = [(512, 512, 512), (2048, 256, 1024), (2048, 1024, 256), (4096, 1024, 1024)]
WANTED = {"forward": [], "dx": ["dx"], "dW": ["dw", "dbias"]}


class Layer:
    def __init__(self, rows, inputs, outputs):
        r = np.random.default_rng(1)
        self.x, self.w = random(r, rows, inputs), random(r, outputs, inputs)
        self.bias, self.dy = random(r, outputs), random(r, rows, outputs)

    def expected(self, what):
        x, w, bias, dy = (a.astype(np.float64) for a in (self.x, self.w, self.bias, self.dy))
        return {"forward": lambda: [x @ w.T + bias], "dx": lambda: [dy @ w],
                "dW": lambda: [dy.T @ x, dy.sum(axis=0)]}[what]()


def our_layer(layer, what):
    arrays = {"x": layer.x, "w": layer.w, "bias": layer.bias, "dy": layer.dy}
    call = ours.Model("linear").call(arrays, wanted=WANTED[what])
    if what == "forward":
        return call.forward, lambda: [call.arrays["y"]]
    call.forward_keeping()
    return call.backward, lambda: [call.arrays[name] for name in WANTED[what]]


def torch_layer(layer, what, compiled=False):
    import torch
    torch.set_num_threads(1)
    torch._dynamo.reset()
    x, w, bias, dy = (torch.from_numpy(a) for a in (layer.x, layer.w, layer.bias, layer.dy))
    function = torch.nn.functional.linear
    function = torch.compile(function, dynamic=False) if compiled else function
    kept = {}
    if what == "forward":
        def call():
            with torch.no_grad():
                kept["y"] = function(x, w, bias)
        return call, lambda: [kept["y"].numpy()]
    wanted = [x] if what == "dx" else [w, bias]
    for t in wanted:
        t.requires_grad_(True)
    y = function(x, w, bias)

    def call():
        kept["d"] = torch.autograd.grad(y, wanted, dy, retain_graph=True)

    return call, lambda: [g.numpy() for g in kept["d"]]


def jax_layer(layer, what):
    import jax
    x, w, bias, dy = (jax.device_put(a) for a in (layer.x, layer.w, layer.bias, layer.dy))
    function, given = {"forward": (lambda x, w, b: [x @ w.T + b], (x, w, bias)),
                       "dx": (lambda dy, w: [dy @ w], (dy, w)),
                       "dW": (lambda dy, x: [dy.T @ x, dy.sum(axis=0)], (dy, x))}[what]
    jitted, kept = jax.jit(function), {}

    def call():
        kept["y"] = jax.block_until_ready(jitted(*given))

    return call, lambda: [np.asarray(a) for a in kept["y"]]


CONTESTANTS = {"ours": our_layer, "PyTorch": torch_layer,
               "torch.compile": lambda *a: torch_layer(*a, compiled=True), "JAX": jax_layer}


def linear(quick):
    def maker(name, layer, what):
        return lambda: Contestant(name, *CONTESTANTS[name](layer, what))

    for shape in SHAPES[:2] if quick else SHAPES:
        layer = Layer(*shape)
        for what in WANTED:
            yield Case(f"{'x'.join(map(str, shape))} {what}", 2.0 * np.prod(shape),
                       layer.expected(what),
                       {name: maker(name, layer, what) for name in CONTESTANTS})
