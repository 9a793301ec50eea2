"""Whole training steps of a small language model: forward, backward, AdamW. The model of models/gpt.attn
and the same in PyTorch begin with the same weights; loss and all gradients are compared with those
of PyTorch in float64."""

import numpy as np

import ours
from timing import Case, Contestant

RATE, DECAY = 1e-4, 0.01


class Setting:
    def __init__(self, label, batch, tokens, width, heads, layers, vocabulary):
        self.label, self.layers, self.heads = label, layers, heads
        r = np.random.default_rng(1)
        self.token = ours.aligned((batch, tokens), np.int32)
        self.next = ours.aligned((batch, tokens), np.int32)
        for a in (self.token, self.next):
            a[...] = r.integers(0, vocabulary, a.shape)
        self.sizes = {"D": width, "H": heads, "L": layers, "V": vocabulary}
        call = self.our_call({})
        self.weights = {a.name: call.arrays[a.name].copy() for a in call.params.arguments}
        rows = batch * tokens
        # Products with weights, and causal scores with their sums; backward is twice forward.
        products = layers * 12 * width * width + vocabulary * width
        self.work = 3 * (2.0 * rows * products + layers * 2.0 * rows * tokens * width)

    def our_call(self, weights):
        model = ours.Model("gpt", **self.sizes)
        dloss = ours.aligned(())
        dloss[...] = 1
        return model.call({"token": self.token, "next": self.next, "dloss": dloss, **weights})


def torch_loss(setting, w, token, target):
    """The model of gpt.attn; `w` has a tensor for every parameter there, by name."""
    import torch
    F = torch.nn.functional
    tokens, width = token.shape[1], w["embedding"].shape[1]

    def norm(x, name):
        return F.layer_norm(x, (width,), w[name + ".gamma"], w[name + ".beta"], 1e-5)

    x = w["embedding"][token] + w["position"][:tokens]
    for l in range(setting.layers):
        at = f"layers.{l}"
        n = norm(x, at + ".norm1")
        qkv = F.linear(n, w[at + ".attn.wqkv"], w[at + ".attn.bqkv"])
        q, k, v = (t.view(-1, tokens, setting.heads, width // setting.heads).transpose(1, 2)
                   for t in qkv.split(width, dim=2))
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        z = z.transpose(1, 2).reshape(x.shape)
        x = x + F.linear(z, w[at + ".attn.wo"], w[at + ".attn.bo"])
        h = F.gelu(F.linear(norm(x, at + ".norm2"), w[at + ".ffn.w1"], w[at + ".ffn.b1"]))
        x = x + F.linear(h, w[at + ".ffn.w2"], w[at + ".ffn.b2"])
    logits = F.linear(norm(x, "norm"), w["head"])
    return F.cross_entropy(logits.view(-1, logits.shape[2]), target.reshape(-1))


def joined(setting, arrays):
    """Arrays named as our parameters, with those of the projections to q, k and v made one, as is
    usual in PyTorch. (The gradient of k's bias alone is 0, which rounding never is.)"""
    w, width = dict(arrays), setting.sizes["D"]
    for l in range(setting.layers):
        at = f"layers.{l}.attn."
        for kind, shape in (("w", (width, width)), ("b", (width,))):
            parts = [w.pop(f"{at}{kind}{x}").reshape(shape) for x in "qkv"]
            w[f"{at}{kind}qkv"] = np.concatenate(parts)
        w[at + "wo"] = w[at + "wo"].reshape(width, width)
    return w


def torch_weights(setting, dtype):
    import torch
    return {name: torch.tensor(a, dtype=dtype).requires_grad_(True)
            for name, a in joined(setting, setting.weights).items()}


def torch_results(loss, w):
    """The loss, and the gradients in the order of their names."""
    return [loss.detach().numpy()] + [w[name].grad.numpy() for name in sorted(w)]


def expected(setting):
    import torch
    torch.set_num_threads(1)
    w = torch_weights(setting, torch.float64)
    loss = torch_loss(setting, w, torch.tensor(setting.token).long(),
                      torch.tensor(setting.next).long())
    loss.backward()
    return torch_results(loss, w)


def our_step(setting):
    # Of its own: the update writes to them.
    call = setting.our_call({name: a.copy() for name, a in setting.weights.items()})
    adamw = call.step(lr=RATE, decay=DECAY)

    def step():
        call.forward_keeping()
        call.backward()
        adamw()

    def result():
        d = joined(setting, {name: call.arrays["d" + name] for name in setting.weights})
        return [call.arrays["loss"]] + [d[name] for name in sorted(d)]

    return step, result


def torch_step(setting, compiled=False):
    import torch
    torch.set_num_threads(1)
    torch._dynamo.reset()
    w = torch_weights(setting, torch.float32)
    token = torch.tensor(setting.token).long()
    target = torch.tensor(setting.next).long()
    optimizer = torch.optim.AdamW(w.values(), lr=RATE, weight_decay=DECAY, fused=True)
    function = lambda: torch_loss(setting, w, token, target)
    function = torch.compile(function) if compiled else function
    kept = {}

    def step():
        optimizer.zero_grad()
        kept["loss"] = function()
        kept["loss"].backward()
        optimizer.step()

    return step, lambda: torch_results(kept["loss"], w)


CONTESTANTS = {"ours": our_step, "PyTorch": torch_step,
               "torch.compile": lambda s: torch_step(s, compiled=True)}


def training(quick):
    settings = [lambda: Setting("nanoGPT on a CPU: d128, 4 layers, 4 heads, 12 x 64, vocabulary 65",
                                12, 64, 128, 4, 4, 65)]
    if not quick:
        settings.append(lambda: Setting("d256, 4 layers, 8 heads, 8 x 256, vocabulary 512", 8, 256,
                                        256, 8, 4, 512))
    for make in settings:
        setting = make()

        def maker(name):
            return lambda: Contestant(name, *CONTESTANTS[name](setting))

        yield Case(setting.label, setting.work, expected(setting),
                   {name: maker(name) for name in CONTESTANTS}, tolerance=1e-4)
