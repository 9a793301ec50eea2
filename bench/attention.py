"""The tables about attention alone: q, k and v are given."""

import dataclasses
from typing import Optional

import numpy as np

import ours
import peers
import reference
from timing import Case, Contestant


@dataclasses.dataclass
class Problem:
    """Arrays have a leading batch of one. `add` is learned, `constant` is not; both go to the
    scores, as the variant says."""
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    dz: np.ndarray
    is_causal: bool = False
    variant: str = ""
    visible: Optional[np.ndarray] = None
    constant: Optional[np.ndarray] = None
    add: Optional[np.ndarray] = None
    doc: Optional[np.ndarray] = None
    threads: int = 1
    compiled: dict = dataclasses.field(default_factory=dict)  # sizes of ours besides features
    avx2: bool = False  # and no wider vectors
    device: str = "cpu"
    storage: str = "f32"  # of q, k, v and z
    precision: Optional[str] = None  # of our products

    @property
    def n(self):
        return self.q.shape[2]

    @property
    def m(self):
        return self.k.shape[2]

    @property
    def scale(self):
        return 1 / np.sqrt(self.q.shape[3])

    @property
    def groups(self):
        return self.q.shape[1] // self.k.shape[1]


def random(random_, *shape):
    array = ours.aligned(shape)
    array[...] = random_.standard_normal(shape, np.float32)
    return array


def make_problem(h, n, e, *, m=None, f=None, key_heads=None, causal=False, variant="", threads=1):
    m, f, key_heads = m or n, f or e, key_heads or h
    r = np.random.default_rng(1)
    p = Problem(random(r, 1, h, n, e), random(r, 1, key_heads, m, e), random(r, 1, key_heads, m, f),
                random(r, 1, h, n, f), is_causal=causal and not variant, variant=variant,
                threads=threads)
    i, j = np.arange(n)[:, None], np.arange(m)[None, :]
    if causal or variant:
        p.visible = j <= i
    if variant == "window":
        p.visible = p.visible & (i - j < 256)
    if variant == "prefix":
        p.visible = p.visible | (j < 256)
    if variant == "document":
        p.doc = ours.aligned((n,), np.int32)
        p.doc[...] = np.arange(n) // 300
        p.visible = p.visible & (p.doc[:, None] == p.doc[None, :])
    if variant == "alibi":
        slope = 2.0 ** (-8 * np.arange(1, h + 1) / h)
        p.constant = (slope[:, None, None] * (j - i)).astype(np.float32)
    if variant == "bias":
        p.add = random(r, h, n, n)
    if variant == "relative":
        p.add = random(r, h, 2 * n - 1)
    return p


def expected(p):
    """z, and the gradients of q, k, v and what is added."""
    def change(h, s):
        if p.variant == "soft_cap":
            t = np.tanh(s / 5)
            return 5 * t, 1 - t * t
        if p.variant == "relative":
            i = np.arange(p.n)
            return s + p.add[h][i[:, None] - i[None, :] + p.n - 1], 1.0
        for more in (p.constant, p.add):
            if more is not None:
                s = s + more[h]
        return s, 1.0

    k, v = (np.repeat(a[0], p.groups, axis=0) for a in (p.k, p.v))
    z, dq, dk, dv, ds = reference.attention(p.q[0], k, v, p.dz[0], visible=p.visible, change=change)
    dk, dv = (d.reshape(p.k.shape[1], p.groups, *d.shape[1:]).sum(axis=1) for d in (dk, dv))
    gradients = [dq, dk, dv]
    if p.variant == "bias":
        gradients.append(np.stack(ds))
    if p.variant == "relative":
        gradients.append(np.stack([reference.along_diagonals(d) for d in ds]))
    return z, gradients


def our_call(p):
    name = p.variant or ("causal" if p.is_causal else "plain")
    arrays = {"q": p.q, "k": p.k, "v": p.v, "dz": p.dz}
    sizes = {"E": p.q.shape[3], "F": p.v.shape[3], **p.compiled}
    if p.groups > 1:
        name, sizes["R"] = "grouped", p.groups
        shape = (1, p.k.shape[1], p.groups, p.n)
        arrays["q"] = p.q.reshape(*shape, -1)
        arrays["dz"] = p.dz.reshape(*shape, -1)
    if p.add is not None:
        arrays["add"] = p.add
    if p.doc is not None:
        arrays["doc"] = p.doc
    target = "x86-64-v3" if p.avx2 else "host"
    model = ours.Model(name, threads=p.threads, target=target, device=p.device, storage=p.storage,
                       precision=p.precision, **sizes)
    return model.call(peers.placed(p, arrays) if p.device != "cpu" else arrays)


def our_contestant(p, direction):
    call = our_call(p)
    if direction == "forward":
        return call.forward, lambda: [call.arrays["z"]]
    call.forward_keeping()
    names = ["dq", "dk", "dv"] + (["dadd"] if p.add is not None else [])

    def both():
        call.forward_keeping()
        call.backward()

    return (call.backward if direction == "backward" else both,
            lambda: [call.arrays[name] for name in names])


def pairs(p):
    """Of a query and a key that it sees."""
    return p.n * p.m if p.visible is None else int(p.visible.sum())


def cases(label, p, contestants, directions=("forward", "backward"), halved=False):
    """One for each direction. Operations: 2 for each visible pair and each feature of keys and
    values, times 2.5 backward; `halved` counts a causal N^2 as exactly a half, as is usual."""
    z, gradients = expected(p)
    seen = p.n * p.n / 2 if halved and p.is_causal else pairs(p)
    work = 2.0 * p.q.shape[1] * seen * (p.q.shape[3] + p.v.shape[3])

    def maker(name, function, direction):
        return lambda: Contestant(name, *function(p, direction))

    for direction in directions:
        make = {"ours": maker("ours", our_contestant, direction)}
        for name in contestants:
            make[name] = maker(name, peers.ATTENTION[name], direction)
        what = {"both": "forward + backward"}.get(direction, direction)
        yield Case(f"{label}, {what}", work * {"forward": 1, "backward": 2.5, "both": 3.5}[direction],
                   [z] if direction == "forward" else gradients, make,
                   tolerance=2e-5 if direction == "forward" else 1e-4, threads=p.threads,
                   lanes=8 if p.avx2 else 0)


def dense(quick):
    some = [name for name in peers.ATTENTION if name != "torch.compile"]
    shapes = [(12, 128, 64), (12, 512, 64), (4, 1024, 64), (4, 2048, 64), (4, 4096, 64),
              (4, 2048, 128)]
    for h, n, e in [(12, 512, 64), (4, 1024, 64)] if quick else shapes:
        for causal in (False, True):
            label = f"H{h} N{n} d{e}" + (" causal" if causal else "")
            yield from cases(label, make_problem(h, n, e, causal=causal), some, halved=True)


def avx2(quick):
    """The peers are held to AVX2 by the process's environment."""
    for h, n, e in [(4, 1024, 64)] if quick else [(12, 128, 64), (12, 512, 64), (4, 1024, 64),
                                                  (4, 2048, 128)]:
        for causal in (False, True):
            label = f"H{h} N{n} d{e}" + (" causal" if causal else "")
            p = dataclasses.replace(make_problem(h, n, e, causal=causal), avx2=True)
            yield from cases(label, p, ["PyTorch SDPA"], halved=True)


def shapes(quick):
    some = ["PyTorch SDPA", "ONNX Runtime", "JAX", "OpenVINO"]
    wanted = [
        ("d32, H4 N1024", dict(h=4, n=1024, e=32)),
        ("d80, H4 N1024", dict(h=4, n=1024, e=80)),
        ("d256, H4 N1024", dict(h=4, n=1024, e=256)),
        ("keys 64, values 128, H4 N1024", dict(h=4, n=1024, e=64, f=128)),
        ("12 heads of 4 groups, N1024 d64, causal",
         dict(h=12, n=1024, e=64, key_heads=4, causal=True)),
        ("N1000, H4 d64, causal", dict(h=4, n=1000, e=64, causal=True)),
        ("N1023, H4 d64, causal", dict(h=4, n=1023, e=64, causal=True)),
        ("cross 128 x 4096, H4 d64", dict(h=4, n=128, m=4096, e=64)),
    ]
    for label, arguments in wanted[1:2] if quick else wanted:
        yield from cases(label, make_problem(**arguments), some)
    one = make_problem(12, 1, 64, m=4096)
    yield from cases("decode 1 x 4096, H12 d64", one, some, ["forward"])
    alone = dataclasses.replace(one, compiled={"N": 1})
    yield from cases("decode, one query compiled in", alone, ["PyTorch SDPA"], ["forward"])


def variants(quick):
    h, n, e = (4, 512, 64) if quick else (4, 2048, 64)
    some = ["PyTorch SDPA", "torch.compile", "FlexAttention", "JAX"]
    yield from cases("plain causal", make_problem(h, n, e, causal=True), some)
    names = ["window", "alibi", "bias", "relative", "soft_cap", "prefix", "document"]
    for name in ["window", "bias"] if quick else names:
        label = {"window": "window of 256", "alibi": "ALiBi", "bias": "additive bias, learned",
                 "relative": "relative table, learned", "soft_cap": "soft-cap",
                 "prefix": "prefix of 256", "document": "documents of 300"}[name]
        yield from cases(label, make_problem(h, n, e, variant=name), some)


def threads(quick):
    some = ["PyTorch SDPA", "ONNX Runtime", "JAX", "OpenVINO"]
    n = 512 if quick else 2048
    for causal in (False, True):
        label = f"one head, N{n} d64" + (" causal" if causal else "")
        yield from cases(label, make_problem(1, n, 64, causal=causal, threads=2), some, halved=True)


def small(quick):
    some = ["PyTorch SDPA", "torch.compile", "ONNX Runtime", "JAX", "OpenVINO"]
    for n in (16, 64):
        p = make_problem(1, n, 64)
        for case in cases(f"one head, N{n} d64", p, some, ["forward", "both"]):
            case.work = 0
            yield case
