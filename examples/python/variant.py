"""Puts the attention of variant.attn into a PyTorch model of letters, and trains it.

    python variant.py [--steps 200] [--eager]   trains, with ours or with the same in PyTorch
    python variant.py --measure                 the table of README.md"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

import attn
import attn.torch

HERE = pathlib.Path(__file__).resolve().parent
TEXT = HERE / "../charlm/shakespeare.txt"
CAP = 30


class Eager(nn.Module):
    """variant.attn, as one writes it in PyTorch."""

    def __init__(self, heads):
        super().__init__()
        self.slope, self.sink = nn.Parameter(torch.zeros(heads)), nn.Parameter(torch.zeros(heads))

    def forward(self, q, k, v):
        n = torch.arange(q.shape[2])
        distance = n[:, None] - n[None, :]
        r = q @ k.transpose(2, 3) / q.shape[3] ** 0.5 - self.slope[:, None, None] * distance
        s = (CAP * torch.tanh(r / CAP)).masked_fill(distance < 0, float("-inf"))
        sink = self.sink[None, :, None, None].expand(*s.shape[:3], 1)
        return torch.softmax(torch.cat([s, sink], dim=3), dim=3)[..., :-1] @ v


def make_variant(heads, width, eager):
    """The variant with the slopes of ALiBi."""
    layer = Eager(heads) if eager else attn.torch.Module(
        attn.compile(HERE / "variant.attn", H=heads, E=width))
    with torch.no_grad():
        layer.slope.copy_(2.0 ** (-8 * (torch.arange(heads) + 1) / heads))
        layer.sink.zero_()
    return layer


class Layer(nn.Module):
    def __init__(self, width, heads, eager):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attention = make_variant(heads, width // heads, eager)
        self.ffn = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(self.attention(q, k, v).transpose(1, 2).reshape(b, t, d))
        return x + self.ffn(self.norm2(x))


class Letters(nn.Module):
    def __init__(self, letters, eager, width=128, heads=4, layers=2):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.layers = nn.Sequential(*(Layer(width, heads, eager) for _ in range(layers)))
        self.head = nn.Linear(width, letters)

    def forward(self, text):
        return self.head(self.layers(self.embed(text)))


class Training:
    def __init__(self, eager, batch=4, length=512):
        torch.manual_seed(1)
        text = TEXT.read_text()
        letters = sorted(set(text))
        self.text = torch.tensor([letters.index(x) for x in text])
        self.batch, self.length = batch, length
        self.model = Letters(len(letters), eager)
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.random = torch.Generator().manual_seed(1)

    def step(self):
        begin = torch.randint(len(self.text) - self.length - 1, (self.batch,), generator=self.random)
        text = torch.stack([self.text[b:b + self.length + 1] for b in begin.tolist()])
        loss = nn.functional.cross_entropy(self.model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()


def train(steps, eager):
    training = Training(eager)
    for step in range(steps):
        loss = training.step()
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:3d}  loss {loss:.4f}", flush=True)


# ---- measurement

def attention_call(eager, length):
    """Forward and backward of attention alone: 1 text, 8 heads of 64."""
    layer = make_variant(8, 64, eager)
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, 8, length, 64, requires_grad=True) for _ in range(3))

    def call():
        layer(q, k, v).sum().backward()
    return call


def training_call(eager, length):
    return Training(eager, length=length).step


CASES = {  # how a call is made, and the number of letters
    "attention, 512 letters": (attention_call, 512),
    "attention, 1024 letters": (attention_call, 1024),
    "attention, 2048 letters": (attention_call, 2048),
    "a step of training, 4 x 512": (training_call, 512),
    "a step of training, 4 x 1024": (training_call, 1024),
}


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def peak_bytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return 1024 * int(next(x for x in status.splitlines() if x.startswith("VmHWM")).split()[1])


def memory(case, eager):
    """What calls take at most, in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--memory", case] + ["--eager"] * eager,
                          capture_output=True, text=True, check=True)
    return int(done.stdout)


def print_memory(case, eager):
    make, length = CASES[case]
    make(eager, 16)()  # what a first call loads is not counted
    before = peak_bytes()
    call = make(eager, length)
    for _ in range(3):
        call()
    print(peak_bytes() - before)


def measure(rounds=15):
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, medians of {rounds} rounds "
          "by turns\n\n| | eager | attn | | eager memory | attn memory | |\n|---|---|---|---|---|---|---|")
    for name, (make, length) in CASES.items():
        calls = {eager: make(eager, length) for eager in (True, False)}
        times = {eager: [] for eager in calls}
        for round_ in range(rounds + 2):
            for eager, call in calls.items():
                seconds = timed(call)
                if round_ >= 2:
                    times[eager].append(seconds)
        old, new = (statistics.median(times[eager]) for eager in (True, False))
        more, less = (memory(name, eager) / 2**20 for eager in (True, False))
        print(f"| {name} | {1e3 * old:.1f} ms | {1e3 * new:.1f} ms | {old / new:.1f} x | {more:.0f} MiB | "
              f"{less:.0f} MiB | {more / less:.1f} x |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--eager", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--memory", choices=CASES)
    given = parser.parse_args()
    if given.memory:
        print_memory(given.memory, given.eager)
    elif given.measure:
        measure()
    else:
        train(given.steps, given.eager)
