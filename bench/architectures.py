"""The architectures of examples/models at the features of published sizes, with few layers and small
vocabularies, beside the same in eager PyTorch. Parameters are those that our `init` gives, with noise:
biases of 0 and gains of 1 would hide mistakes. Outputs, and the gradients of all parameters and real
inputs, are compared with those of PyTorch in float64."""

import dataclasses
from typing import Callable

import numpy as np
import torch

import eager_others
import eager_text
import ours
from eager_parts import Weights
from timing import Case, Contestant

FILES = ours.ROOT / "examples/models"


@dataclasses.dataclass(frozen=True)
class Architecture:
    """`function` is the model in PyTorch, of the same name as ours; `sizes` are compiled in, and `called`
    are of a call. `apart` names parameters of which PyTorch has a tensor for each expert. `tolerance` is
    of the gradients, which pass through all layers in f32; outputs have that of other tables."""
    label: str
    file: str
    function: Callable
    sizes: dict
    called: dict
    apart: tuple = ()
    tolerance: float = 1e-4

    @property
    def name(self):
        return self.function.__name__


GPT2 = {"D": 768, "H": 12, "L": 2, "V": 8192}
RETENTION = {"D": 2048, "H": 8}
MODELS = [
    Architecture("BERT as MiniLM, d384, 2 layers, 16 x 64", "bert", eager_text.bert,
                 {"D": 384, "H": 12, "L": 2, "V": 8192}, {"B": 16, "T": 64}),
    Architecture("GPT-2, d768, 2 layers, 128 tokens", "gpt2", eager_text.gpt2, GPT2,
                 {"B": 1, "T": 128}),
    Architecture("GPT-2, weights by heads", "gpt2_heads", eager_text.gpt2_heads, GPT2,
                 {"B": 1, "T": 128}),
    Architecture("GPT-2, columns by an index", "gpt2_indexed", eager_text.gpt2_indexed, GPT2,
                 {"B": 1, "T": 128}),
    Architecture("Llama 3.2 1B, d2048, 1 layer, 64 tokens", "llama", eager_text.llama,
                 {"D": 2048, "F": 8192, "H": 32, "G": 8, "L": 1, "V": 2048}, {"B": 1, "T": 64}),
    Architecture("Differential 3B, d3072, 1 layer, 64 tokens", "differential",
                 eager_text.differential, {"D": 3072, "F": 8192, "H": 12, "L": 1, "V": 2048},
                 {"B": 1, "T": 64}),
    # Rounding moves some of two million arguments of relu past 0, where each gets all of its gradient or
    # none: the row of one weight then differs by some percent.
    Architecture("T5 small, d512, 2 + 2 layers, 2 x (128 + 128)", "t5", eager_text.t5,
                 {"D": 512, "H": 8, "L": 2, "V": 4096, "N": 32, "M": 128},
                 {"B": 2, "S": 128, "T": 128}, tolerance=0.1),
    Architecture("Sigmoid attention, d1024, 1 layer, 256 tokens", "sigmoid",
                 eager_text.sigmoid_attention, {"D": 1024, "H": 16, "F": 4096, "L": 1},
                 {"B": 1, "T": 256}),
    Architecture("Talking heads, d768, 512 tokens", "talking_heads", eager_text.talking_heads,
                 {"D": 768, "H": 12}, {"B": 1, "T": 512, "S": 512}),
    Architecture("ViT-B/16, 2 layers, 1 image", "vit", eager_others.vit,
                 {"P": 16, "D": 768, "H": 12, "L": 2}, {"B": 1}),
    Architecture("Swin-T, 2 layers a stage, 1 image", "swin", eager_others.swin,
                 {"P": 4, "M": 7, "L1": 1, "L2": 1, "L3": 1, "L4": 1}, {"B": 1}),
    Architecture("Perceiver, d1024, 2 rounds of 1 layer, 2048 pixels", "perceiver",
                 eager_others.perceiver, {"R": 2, "L": 1}, {"B": 1, "S": 2048}),
    Architecture("Mixtral at a quarter, d1024, 8 experts, 128 tokens", "mixtral",
                 eager_others.mixtral, {"D": 1024, "F": 3584, "X": 8}, {"B": 1, "T": 128},
                 ("w1", "w2", "w3")),
    Architecture("Switch base, d768, 8 experts, 512 tokens", "switch", eager_others.switch,
                 {"D": 768, "F": 3072, "X": 8}, {"B": 4, "T": 128}, ("wi", "wo")),
    Architecture("Linear attention, d512, 2 layers, 2 x 256", "linear_attention",
                 eager_others.linear_attention, {"D": 512, "H": 8, "L": 2}, {"B": 2, "T": 256}),
    Architecture("Mamba 130M, d768, 1 layer, 256 tokens", "mamba", eager_others.mamba,
                 {"D": 768, "L": 1, "V": 4096}, {"B": 1, "T": 256}),
    Architecture("Retention in parallel, d2048, 128 tokens", "retention",
                 eager_others.retention_parallel, RETENTION, {"B": 1, "T": 128}),
    Architecture("Retention as a recurrence, d2048, 64 tokens", "retention",
                 eager_others.retention_recurrent, RETENTION, {"B": 1, "T": 64}),
]


class Setting:
    """A model with its arrays, and what PyTorch gives for them in float64."""

    def __init__(self, architecture):
        self.architecture = architecture
        model = ours.Model(architecture.name, file=FILES / f"{architecture.file}.attn",
                           **architecture.sizes)
        d, r = model.model.description, np.random.default_rng(1)
        self.inputs = {a.name: self.input(a, self.shape(d, a), r) for a in d.inputs}
        model.model.init(seed=1)
        self.params = {}
        for a, array in zip(d.params, model.model._params.arrays):
            self.params[a.name] = ours.aligned(array.shape)
            self.params[a.name][...] = array + 0.02 * r.standard_normal(array.shape)
        self.outputs = [a.name for a in d.outputs]
        # A model with a loss is trained by it, whatever else it gives.
        differentiated = ["loss"] if "loss" in self.outputs else self.outputs
        self.cotangents = {a.name: self.cotangent(self.shape(d, a), r) for a in d.outputs
                           if a.name in differentiated}
        self.wanted = [a.name for a in (*d.params, *d.inputs) if a.differentiable]
        self.call = model.call(self.inputs | self.params |
                               {"d" + name: a for name, a in self.cotangents.items()})
        self.expected = self.computed(torch.float64)

    def shape(self, description, argument):
        names = [s.name for s in description.sizes]
        return tuple(e.value if e.size is None else self.architecture.called[names[e.size]]
                     for e in argument.extents)

    def input(self, argument, shape, r):
        """Numbers around 0; or classes, tokens, or lengths from half of the longest."""
        if argument.differentiable:
            array = ours.aligned(shape)
            array[...] = r.standard_normal(shape)
            return array
        called, array = self.architecture.called, ours.aligned(shape, np.int32)
        longest = called.get("S", called.get("T"))
        least, most = {"length": (longest and longest // 2, longest and longest + 1),
                       "label": (0, 1000)}.get(argument.name, (0, self.architecture.sizes.get("V")))
        array[...] = r.integers(least, most, shape)
        return array

    def cotangent(self, shape, r):
        array = ours.aligned(shape)
        array[...] = r.standard_normal(shape) if shape else 1
        return array

    def leaves(self, dtype, gradients):
        """Parameters and inputs by name; those that are apart as lists."""
        def leaf(array):
            return torch.from_numpy(array).to(dtype).requires_grad_(gradients)

        params = {name: [leaf(a) for a in array] if name in self.architecture.apart else leaf(array)
                  for name, array in self.params.items()}
        inputs = {name: leaf(a) if a.dtype == np.float32 else torch.from_numpy(a).long()
                  for name, a in self.inputs.items()}
        return params, inputs

    def torch_call(self, dtype, gradients):
        """A call, and what gives its results: the outputs, then the gradients in our order."""
        params, inputs = self.leaves(dtype, gradients)
        function, sizes = self.architecture.function, self.architecture.sizes
        kept = {}

        def outputs():
            return function(Weights(params), inputs, sizes)

        if not gradients:
            def forward():
                with torch.no_grad():
                    kept["outputs"] = outputs()
            return forward, lambda: [t.numpy() for t in kept["outputs"]]

        leaves = [(params | inputs)[name] for name in self.wanted]
        flat = [t for leaf in leaves for t in (leaf if isinstance(leaf, list) else [leaf])]
        cotangents = {name: torch.from_numpy(a).to(dtype) for name, a in self.cotangents.items()}

        def training():
            kept["outputs"] = outputs()
            by_name = dict(zip(self.outputs, kept["outputs"]))
            kept["gradients"] = torch.autograd.grad(
                [by_name[name] for name in cotangents], flat, list(cotangents.values()),
                allow_unused=True, materialize_grads=True)  # an expert may have no token

        def result():
            left = iter(kept["gradients"])
            d = {name: np.stack([next(left).numpy() for _ in leaf]) if isinstance(leaf, list)
                 else next(left).numpy() for name, leaf in zip(self.wanted, leaves)}
            return [t.detach().numpy() for t in kept["outputs"]] + compared(d)

        return training, result

    def computed(self, dtype):
        call, result = self.torch_call(dtype, gradients=True)
        call()
        return result()


def compared(gradients):
    """The arrays to compare. The gradient of a key's bias is 0 in a softmax, which rounding never is, so
    it is compared beside that of the query's."""
    d = {name: a.ravel() for name, a in gradients.items()}
    for key, query in (("bk", "bq"), ("key.bias", "query.bias")):
        for name in [n for n in d if n.endswith("." + key)]:
            beside = name.removesuffix(key) + query
            d[beside] = np.concatenate([d[beside], d.pop(name)])
    return list(d.values())


def our_contestant(setting, gradients):
    call = setting.call
    made = [call.arrays[name] for name in setting.outputs]
    if not gradients:
        return call.forward, lambda: made, lambda: call.bytes[0] + sum(a.nbytes for a in made)

    d = {name: call.arrays["d" + name] for name in setting.wanted}
    return (call.forward_backward, lambda: made + compared(d),
            lambda: call.bytes[1] + sum(a.nbytes for a in made + list(d.values())))


def torch_contestant(setting, gradients):
    call, result = setting.torch_call(torch.float32, gradients)
    return call, result, lambda: torch_memory(call)


def torch_memory(call):
    """The most bytes that PyTorch's allocator has given out at once in a call."""
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    events = [e for e in profiler.profiler.kineto_results.events() if e.name() == "[memory]"]
    changes = [e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())]
    return int(np.cumsum(changes).max(initial=0))


CONTESTANTS = {"ours": our_contestant, "PyTorch": torch_contestant}


def models(quick):
    torch.set_num_threads(1)
    for architecture in MODELS[::4] if quick else MODELS:
        setting = Setting(architecture)

        def maker(name, gradients):
            return lambda: Contestant(name, *CONTESTANTS[name](setting, gradients))

        for gradients in (False, True):
            label = f"{architecture.label}, {'training' if gradients else 'forward'}"
            expected = setting.expected if gradients else setting.expected[:len(setting.outputs)]
            yield Case(label, 0, expected, {name: maker(name, gradients) for name in CONTESTANTS},
                       tolerance=architecture.tolerance if gradients else 2e-5)
