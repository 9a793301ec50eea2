"""One of two processes that train a model together: distributed.py FOLDER RANK. Each sees one half of the
batch; the first then trains alone, with all of it. Both leave their parameters in the folder."""

import pathlib
import sys

import torch

import attn
import attn.torch
import helper


def batch():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(2, 4, 5, 8, generator=generator).unbind()


def train(module, x, wanted):
    optimiser = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    for _ in range(10):
        optimiser.zero_grad()
        loss, _ = module(x, wanted)
        loss.backward()
        optimiser.step()


def main(folder, rank):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank,
                                         world_size=2)
    # Different seeds: DistributedDataParallel gives all processes the parameters of the first.
    layer = attn.torch.Module(attn.compile_text(helper.ATTENTION), seed=rank + 1)
    x, wanted = batch()
    half = slice(2 * rank, 2 * rank + 2)
    train(torch.nn.parallel.DistributedDataParallel(layer), x[half], wanted[half])
    torch.save(dict(layer.state_dict()), f"{folder}/{rank}.pt")
    if rank == 0:
        alone = attn.torch.Module(attn.compile_text(helper.ATTENTION), seed=1)
        train(alone, x, wanted)
        torch.save(dict(alone.state_dict()), f"{folder}/alone.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
