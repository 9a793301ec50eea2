"""Transformers of text in eager PyTorch, as those who use it write them. Each function computes what the
model of its name in examples/models does: of `w`, the parameters by our names, of `x`, the inputs by
name, and of `s`, the sizes that are compiled in. It gives the outputs in our order."""

import math

import torch
import torch.nn.functional as F

from eager_parts import (angles_of_pairs, attend, feed_forward_gated, join_heads, layer_norm,
                         multi_head, rms_norm, rotated_pairs, split_heads, token_loss)


def linear(x, w):
    return F.linear(x, w["weight"], w["bias"])


def bert(w, x, s):
    token, length = x["token"], x["length"]
    tokens = token.shape[1]
    keep = torch.arange(tokens) < length[:, None]
    mask = keep[:, None, None, :]

    def norm(y, w):
        return layer_norm(y, w, 1e-12, ("weight", "bias"))

    e = w.at("embeddings")
    y = norm(F.embedding(token, e["word"]) + e["position"][:tokens] + e["type"][0], e.at("norm"))
    for l in range(s["L"]):
        at = w.at(f"encoder.layer.{l}")
        q, k, v = (split_heads(linear(y, at.at("attention.self." + n)), s["H"])
                   for n in ("query", "key", "value"))
        z = join_heads(attend(q, k, v, attn_mask=mask))
        n = norm(y + linear(z, at.at("attention.output.dense")), at.at("attention.output.norm"))
        f = linear(F.gelu(linear(n, at.at("intermediate.dense"))), at.at("output.dense"))
        y = norm(n + f, at.at("output.norm"))
    pooled = (y * keep[..., None]).sum(1) / length[:, None]
    return [F.normalize(pooled, dim=-1, eps=1e-12)]


def gpt2(w, x, s, names=("weight", "bias")):
    token = x["token"]
    tokens = token.shape[1]

    def affine(y, w):  # matrices are [in, out]
        return torch.addmm(w["bias"], y.flatten(0, 1), w["weight"]).view(*y.shape[:2], -1)

    y = F.embedding(token, w["wte"]) + w["wpe"][:tokens]
    for l in range(s["L"]):
        at = w.at(f"h.{l}")
        qkv = affine(layer_norm(y, at.at("ln_1"), names=names), at.at("attn.c_attn"))
        q, k, v = (split_heads(t, s["H"]) for t in qkv.chunk(3, -1))
        z = join_heads(attend(q, k, v, is_causal=True))
        y = y + affine(z, at.at("attn.c_proj"))
        h = affine(layer_norm(y, at.at("ln_2"), names=names), at.at("mlp.c_fc"))
        y = y + affine(F.gelu(h, approximate="tanh"), at.at("mlp.c_proj"))
    return [token_loss(layer_norm(y, w.at("ln_f"), names=names), w["wte"], x["next"])]


def gpt2_indexed(w, x, s):
    return gpt2(w, x, s, ("gamma", "beta"))


def gpt2_heads(w, x, s):
    token = x["token"]
    y = F.embedding(token, w["wte"]) + w["wpe"][:token.shape[1]]
    for l in range(s["L"]):
        at = w.at(f"h.{l}")
        y = y + multi_head(layer_norm(y, at.at("ln_1")), at.at("attn"), causal=True)
        m = at.at("mlp")
        h = F.linear(layer_norm(y, at.at("ln_2")), m["w1"], m["b1"])
        y = y + F.linear(F.gelu(h, approximate="tanh"), m["w2"], m["b2"])
    return [token_loss(layer_norm(y, w.at("ln_f")), w["wte"], x["next"])]


def llama(w, x, s):
    token = x["token"]
    y = F.embedding(token, w["embed_tokens"])
    width = s["D"] // s["H"]
    rates = 500000.0 ** (-torch.arange(0, width, 2, dtype=y.dtype) / width)
    angle = torch.outer(torch.arange(token.shape[1], dtype=y.dtype), rates).repeat(1, 2)
    cos, sin = angle.cos(), angle.sin()

    def rotated(t):
        a, b = t.chunk(2, -1)
        return t * cos + torch.cat((-b, a), -1) * sin

    for l in range(s["L"]):
        at, a, m = (w.at(f"layers.{l}" + part) for part in ("", ".self_attn", ".mlp"))
        n = rms_norm(y, at.at("input_layernorm"), 1e-5, "weight")
        q = split_heads(F.linear(n, a["q_proj"]), s["H"])
        k, v = (split_heads(F.linear(n, a[name]), s["G"]) for name in ("k_proj", "v_proj"))
        z = attend(rotated(q), rotated(k), v, is_causal=True, enable_gqa=True)
        y = y + F.linear(join_heads(z), a["o_proj"])
        n = rms_norm(y, at.at("post_attention_layernorm"), 1e-5, "weight")
        h = F.silu(F.linear(n, m["gate_proj"])) * F.linear(n, m["up_proj"])
        y = y + F.linear(h, m["down_proj"])
    return [token_loss(rms_norm(y, w.at("norm"), 1e-5, "weight"), w["lm_head"], x["next"])]


def differential(w, x, s):
    token = x["token"]
    y = F.embedding(token, w["table"])
    width = s["D"] // (2 * s["H"])
    cos, sin = angles_of_pairs(token.shape[1], width, y)
    for l in range(s["L"]):
        at, a = w.at(f"layers.{l}"), w.at(f"layers.{l}.attention")
        start = 0.8 - 0.6 * math.exp(-0.3 * l)
        first, second = (a["lq"] * a["lk"]).sum(-1).exp()
        weight = first - second + start
        n = rms_norm(y, at.at("norm1"))
        # Both softmaxes of all heads in one call, [B, 2 H, T, E].
        q, k = (rotated_pairs(split_heads(F.linear(n, a[name].flatten(0, 2)), 2 * s["H"]), cos, sin)
                for name in ("wq", "wk"))
        v = split_heads(F.linear(n, a["wv"].flatten(0, 1)), s["H"])
        z1, z2 = attend(q, k, v.repeat(1, 2, 1, 1), is_causal=True).chunk(2, 1)
        z = (1 - start) * rms_norm(z1 - weight * z2, a.at("norm"))
        y = y + F.linear(join_heads(z), a["wo"])
        y = y + feed_forward_gated(rms_norm(y, at.at("norm2")), at.at("ffn"))
    return [token_loss(rms_norm(y, w.at("norm")), w["out"], x["next"])]


def buckets(distance, count, furthest):
    """Buckets of T5 for distances that are not negative: half are for one distance each."""
    exact = count // 2
    far = torch.log(distance.clamp(min=1).double() / exact) / math.log(furthest / exact)
    far = exact + (far * (count - exact) + 1e-3).long()
    return torch.where(distance < exact, distance, far.clamp(exact, count - 1))


def t5(w, x, s):
    length, n = x["length"], s["N"]

    def attention(y, w, memory, bias):
        q, k, v = (split_heads(F.linear(t, w[name]), s["H"])
                   for t, name in ((y, "q"), (memory, "k"), (memory, "v")))
        z = attend(q, k, v, attn_mask=bias, scale=1.0)
        return F.linear(join_heads(z), w["output.o"])

    def ffn(y, w):
        return F.linear(F.relu(F.linear(y, w["wi"])), w["wo"])

    def bias_of(table, bucket):
        return F.embedding(bucket, table).permute(2, 0, 1)

    def distances(tokens):  # from query i to key j
        place = torch.arange(tokens)
        return place - place[:, None]

    y = F.embedding(x["source"], w["shared"])
    away = distances(y.shape[1])
    bucket = buckets(away.abs(), n // 2, s["M"]) + (away > 0) * (n // 2)
    unseen = (torch.arange(y.shape[1]) >= length[:, None])[:, None, None, :]
    bias = bias_of(w["encoder.bias"], bucket).masked_fill(unseen, -math.inf)
    for l in range(s["L"]):
        at = w.at(f"encoder.block.{l}")
        m = rms_norm(y, at.at("norm1"))
        y = y + attention(m, at.at("attention"), m, bias)
        y = y + ffn(rms_norm(y, at.at("norm2")), at.at("ffn"))
    memory = rms_norm(y, w.at("encoder.norm"))
    y = F.embedding(x["before"], w["shared"])
    away = distances(y.shape[1])
    bias = bias_of(w["decoder.bias"], buckets((-away).clamp(min=0), n, s["M"]))
    bias = bias.masked_fill(away > 0, -math.inf)
    for l in range(s["L"]):
        at = w.at(f"decoder.block.{l}")
        m = rms_norm(y, at.at("norm1"))
        y = y + attention(m, at.at("attention"), m, bias)
        y = y + attention(rms_norm(y, at.at("norm2")), at.at("cross"), memory, ~unseen)
        y = y + ffn(rms_norm(y, at.at("norm3")), at.at("ffn"))
    y = rms_norm(y, w.at("decoder.norm")) / math.sqrt(s["D"])
    return [token_loss(y, w["shared"], x["wanted"])]


def sigmoid_attention(w, x, s):
    y, heads = x["x"], s["H"]
    tokens = y.shape[1]
    place = torch.arange(tokens, dtype=y.dtype)
    slope = 2.0 ** (-8 * torch.arange(1, heads + 1, dtype=y.dtype) / heads)
    bias = slope[:, None, None] * (place - place[:, None]) - math.log(tokens)
    bias = bias.masked_fill(place > place[:, None], -math.inf)
    for l in range(s["L"]):
        at, a = w.at(f"layers.{l}"), w.at(f"layers.{l}.attention")
        n = rms_norm(y, at.at("norm1"))
        q, k, v = (split_heads(F.linear(n, a["w" + name]), heads) for name in "qkv")
        q = layer_norm(q, a.at("q_norm")) / math.sqrt(q.shape[-1])
        z = torch.sigmoid(q @ layer_norm(k, a.at("k_norm")).mT + bias) @ v
        y = y + F.linear(join_heads(z), a["wo"])
        y = y + feed_forward_gated(rms_norm(y, at.at("norm2")), at.at("ffn"))
    return [y]


def talking_heads(w, x, s):
    def mixed(t, weight):  # sums over h of t[b, h, ...] weight[h, g]
        return (weight.mT @ t.flatten(2)).view(t.shape)

    q, k, v = (split_heads(F.linear(t, w[name].flatten(0, 1)), s["H"])
               for t, name in ((x["x"], "wq"), (x["memory"], "wk"), (x["memory"], "wv")))
    p = mixed((q / math.sqrt(q.shape[-1])) @ k.mT, w["before"]).softmax(-1)
    z = mixed(p, w["after"]) @ v
    return [F.linear(join_heads(z), w["wo"].flatten(1))]
