"""What the models of eager_text.py and eager_others.py share: parameters by the names of ours, and the
parts of transformers."""

import torch
import torch.nn.functional as F

attend = F.scaled_dot_product_attention


class Weights:
    """The parameters below a place in the model, by the rest of their names."""

    def __init__(self, tensors, place=""):
        self.tensors, self.place = tensors, place

    def __getitem__(self, name):
        return self.tensors[self.place + name]

    def at(self, place):
        return Weights(self.tensors, f"{self.place}{place}.")


def split_heads(x, heads):
    """[..., T, H E] as [..., H, T, E]."""
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def join_heads(z):
    return z.transpose(-3, -2).flatten(-2)


def layer_norm(x, w, eps=1e-5, names=("gamma", "beta")):
    return F.layer_norm(x, x.shape[-1:], w[names[0]], w[names[1]], eps)


def rms_norm(x, w, eps=1e-6, name="gamma"):
    return F.rms_norm(x, x.shape[-1:], w[name], eps)


def feed_forward(x, w):
    return F.linear(F.gelu(F.linear(x, w["w1"], w["b1"])), w["w2"], w["b2"])


def feed_forward_gated(x, w):
    return F.linear(F.silu(F.linear(x, w["w1"])) * F.linear(x, w["w3"]), w["w2"])


def multi_head(x, w, causal=False):
    heads = w["wq"].shape[0]
    q, k, v = (split_heads(F.linear(x, w["w" + n].flatten(0, 1), w["b" + n].flatten()), heads)
               for n in "qkv")
    return F.linear(join_heads(attend(q, k, v, is_causal=causal)), w["wo"].flatten(1), w["bo"])


def rotated_pairs(x, cos, sin):
    """Rotary positions of features 2 k and 2 k + 1."""
    return x * cos + torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2) * sin


def angles_of_pairs(tokens, features, like):
    rates = 10000.0 ** (-torch.arange(0, features, 2, dtype=like.dtype) / features)
    angle = torch.outer(torch.arange(tokens, dtype=like.dtype), rates).repeat_interleave(2, 1)
    return angle.cos(), angle.sin()


def token_loss(x, table, target):
    return F.cross_entropy(F.linear(x, table).flatten(0, -2), target.flatten())
