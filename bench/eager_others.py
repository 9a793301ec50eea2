"""Models of images, with experts, and with states in eager PyTorch; see eager_text.py."""

import functools
import math

import torch
import torch.nn.functional as F

from eager_parts import (angles_of_pairs, attend, feed_forward, join_heads, layer_norm, multi_head,
                         rms_norm, rotated_pairs, split_heads, token_loss)


def classified(y, w, label):
    """The loss and the scores of all classes."""
    score = F.linear(y, w["head.weight"], w["head.bias"])
    return [F.cross_entropy(score, label), score]


def vit(w, x, s):
    p = w.at("patch_embed")
    y = F.conv2d(x["image"], p["weight"], p["bias"], stride=s["P"]).flatten(2).mT
    y = torch.cat((w["cls_token"].expand(y.shape[0], 1, -1), y), 1) + w["pos_embed"]
    for l in range(s["L"]):
        at, a = w.at(f"blocks.{l}"), w.at(f"blocks.{l}.attn")
        qkv = F.linear(layer_norm(y, at.at("norm1"), 1e-6), a["qkv.weight"], a["qkv.bias"])
        z = attend(*(split_heads(t, s["H"]) for t in qkv.chunk(3, -1)))
        y = y + F.linear(join_heads(z), a["proj.weight"], a["proj.bias"])
        y = y + feed_forward(layer_norm(y, at.at("norm2"), 1e-6), at.at("mlp"))
    return classified(layer_norm(y[:, 0], w.at("norm"), 1e-6), w, x["label"])


def windows(y, m):
    """[B, N, N, C] as [B A A, M M, C]."""
    b, n, _, c = y.shape
    y = y.view(b, n // m, m, n // m, m, c)
    return y.transpose(2, 3).reshape(-1, m * m, c)


def joined_windows(y, n, m):
    y = y.view(-1, n // m, n // m, m, m, y.shape[-1])
    return y.transpose(2, 3).reshape(-1, n, n, y.shape[-1])


@functools.cache
def distance_indices(m):
    """For pixels of a window, the row of the table of biases."""
    i, j = torch.arange(m * m) // m, torch.arange(m * m) % m
    return (i[:, None] - i + m - 1) * (2 * m - 1) + j[:, None] - j + m - 1


@functools.cache
def window_mask(n, m, shift, dtype):
    """-inf where the shift brought together what is far apart, [A A, 1, M M, M M]."""
    wraps = (torch.arange(n) + shift >= n).long()
    region = windows((2 * wraps[:, None] + wraps)[None, ..., None], m)[..., 0]
    apart = region[:, None, :, None] != region[:, None, None, :]
    return torch.zeros(apart.shape, dtype=dtype).masked_fill(apart, -math.inf)


def window_attention(y, w, m, heads, shift):
    n = y.shape[1]
    if shift:
        y = y.roll((-shift, -shift), (1, 2))
    qkv = F.linear(windows(y, m), w["qkv.weight"], w["qkv.bias"])
    bias = F.embedding(distance_indices(m), w["relative"]).permute(2, 0, 1)
    if shift:
        bias = (bias + window_mask(n, m, shift, y.dtype)).repeat(y.shape[0], 1, 1, 1)
    z = attend(*(split_heads(t, heads) for t in qkv.chunk(3, -1)), attn_mask=bias)
    y = joined_windows(F.linear(join_heads(z), w["proj.weight"], w["proj.bias"]), n, m)
    return y.roll((shift, shift), (1, 2)) if shift else y


def swin(w, x, s):
    p = w.at("patch_embed")
    y = F.conv2d(x["image"], p["weight"], p["bias"], stride=s["P"]).permute(0, 2, 3, 1)
    y = layer_norm(y, p.at("norm"))
    for stage in range(4):
        for l in range(s[f"L{stage + 1}"]):
            names = ("first", "second") if stage == 3 else ("plain", "shifted")
            for name, shift in zip(names, (0, 0 if stage == 3 else s["M"] // 2)):
                at = w.at(f"layers.{stage}.{l}.{name}")
                n = layer_norm(y, at.at("norm1"))
                y = y + window_attention(n, at.at("attn"), s["M"], 3 * 2**stage, shift)
                y = y + feed_forward(layer_norm(y, at.at("norm2")), at.at("mlp"))
        if stage < 3:
            at = w.at(f"downsample.{stage}")
            y = torch.cat([y[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)
            y = F.linear(layer_norm(y, at.at("norm")), at["reduction"])
    return classified(layer_norm(y, w.at("norm")).mean((1, 2)), w, x["label"])


def perceiver(w, x, s):
    c = w.at("cross")
    n = layer_norm(x["input"], c.at("norm_input"))
    k, v = (F.linear(n, c[name])[:, None] for name in ("wk", "wv"))
    y = w["latent"].expand(n.shape[0], -1, -1)
    for _ in range(s["R"]):
        q = F.linear(layer_norm(y, c.at("norm_latent")), c["wq"])[:, None]
        y = y + F.linear(attend(q, k, v)[:, 0], c["wo"])
        y = y + feed_forward(layer_norm(y, c.at("norm")), c.at("ffn"))
        for l in range(s["L"]):
            at = w.at(f"layers.{l}")
            y = y + multi_head(layer_norm(y, at.at("norm1")), at.at("attention"))
            y = y + feed_forward(layer_norm(y, at.at("norm2")), at.at("ffn"))
    return classified(y.mean(1), w, x["label"])


def mixtral(w, x, s):
    y = x["x"].flatten(0, 1)
    n = rms_norm(y, w.at("norm"), 1e-5, "weight")
    best, chosen = F.linear(n, w["gate"]).topk(2, -1)
    part = best.softmax(-1)
    for expert in range(s["X"]):
        token, place = torch.where(chosen == expert)
        m = n[token]
        h = F.silu(F.linear(m, w["w1"][expert])) * F.linear(m, w["w3"][expert])
        h = F.linear(h, w["w2"][expert]) * part[token, place, None]
        y = y.index_add(0, token, h)
    return [y.view(x["x"].shape)]


def switch(w, x, s):
    y = x["x"].flatten(0, 1)
    n = rms_norm(y, w.at("norm"))
    gate = F.linear(n, w["router"]).softmax(-1)
    best, chosen = gate.max(-1)
    for expert in range(s["X"]):
        token = torch.where(chosen == expert)[0]
        h = F.linear(F.relu(F.linear(n[token], w["wi"][expert])), w["wo"][expert])
        y = y.index_add(0, token, best[token, None] * h)
    share = F.one_hot(chosen, s["X"]).to(y.dtype).mean(0)
    return [y.view(x["x"].shape), s["X"] * (share * gate.mean(0)).sum()]


def linear_attention(w, x, s):
    """In the form that is parallel over a text, which eager PyTorch computes fastest at such lengths."""
    y = x["x"]
    for l in range(s["L"]):
        at, a = w.at(f"layers.{l}"), w.at(f"layers.{l}.attention")
        n = layer_norm(y, at.at("norm1"))
        q, k, v = (split_heads(F.linear(n, a[name].flatten(0, 1)), s["H"])
                   for name in ("wq", "wk", "wv"))
        p = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
        z = (p @ v) / (p.sum(-1, keepdim=True) + 1e-6)
        y = y + F.linear(join_heads(z), a["wo"].flatten(1))
        y = y + feed_forward(layer_norm(y, at.at("norm2")), at.at("ffn"))
    return [y]


def mamba(w, x, s):
    token = x["token"]
    y = F.embedding(token, w["embedding"])
    for l in range(s["L"]):
        m = w.at(f"layers.{l}.mixer")
        n = rms_norm(y, w.at(f"layers.{l}.norm"), 1e-5, "weight")
        a, gate = F.linear(n, m["in_proj.weight"]).chunk(2, -1)
        channels, _, width = m["conv1d.weight"].shape
        a = F.conv1d(a.mT, m["conv1d.weight"], m["conv1d.bias"], padding=width - 1, groups=channels)
        a = F.silu(a[..., :token.shape[1]].mT)
        rank, states = m["dt_proj.weight"].shape[1], m["A_log"].shape[1]
        dt, into, out = F.linear(a, m["x_proj.weight"]).split((rank, states, states), -1)
        dt = F.softplus(F.linear(dt, m["dt_proj.weight"], m["dt_proj.bias"]))[..., None]
        left = torch.exp(-dt * m["A_log"].exp())
        added = dt * a[..., None] * into[:, :, None]
        state, kept = torch.zeros_like(left[:, 0]), []
        for left_t, added_t in zip(left.unbind(1), added.unbind(1)):
            state = left_t * state + added_t
            kept.append(state)
        scanned = (torch.stack(kept, 1) @ out[..., None]).squeeze(-1)
        y = y + F.linear((scanned + m["skip"] * a) * F.silu(gate), m["out_proj.weight"])
    return [token_loss(rms_norm(y, w.at("norm_f"), 1e-5, "weight"), w["embedding"], x["next"])]


def retention(w, x, s, retained):
    y, p, g = x["x"], w.at("project"), w.at("gate")
    cos, sin = angles_of_pairs(y.shape[1], s["D"] // s["H"], y)
    q, k, v = (split_heads(F.linear(y, p[name]), s["H"]) for name in ("wq", "wk", "wv"))
    q, k = rotated_pairs(q, cos, sin), rotated_pairs(k / math.sqrt(k.shape[-1]), cos, sin)
    z = retained(q, k, v, 1 - 2.0 ** (-5 - torch.arange(s["H"], dtype=y.dtype)))
    z = F.silu(F.linear(y, g["wg"])) * join_heads(rms_norm(z, g.at("norm")))
    return [F.linear(z, g["wo"])]


def in_parallel(q, k, v, left):
    place = torch.arange(q.shape[-2], dtype=q.dtype)
    decay = torch.exp(left.log()[:, None, None] * (place[:, None] - place)).tril()
    return ((q @ k.mT) * decay) @ v


def as_recurrence(q, k, v, left):
    state, z = 0, []
    for q_t, k_t, v_t in zip(q.unbind(-2), k.unbind(-2), v.unbind(-2)):
        state = left[:, None, None] * state + k_t[..., None] * v_t[..., None, :]
        z.append((q_t[..., None, :] @ state).squeeze(-2))
    return torch.stack(z, -2)


def retention_parallel(w, x, s):
    return retention(w, x, s, in_parallel)


def retention_recurrent(w, x, s):
    return retention(w, x, s, as_recurrence)
