"""One of two processes that train a model together: distributed.py FOLDER RANK. Each sees one half of the
batch, first with all of the parameters (DistributedDataParallel), then with a part of them (FSDP, where this
PyTorch has it); the first then trains alone, with all of the batch. Parameters are left in the folder."""

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


def train_in_parts(x, wanted, path):
    """With FSDP: between calls each process holds half of every parameter."""
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        return
    layer = attn.torch.Module(attn.compile_text(helper.ATTENTION), seed=1)
    mesh = torch.distributed.init_device_mesh("cpu", (2,))
    fully_shard(layer, mesh=mesh)
    train(layer, x, wanted)
    assert layer.wq.to_local().numel() * 2 == layer.wq.numel()
    torch.save({name: p.full_tensor() for name, p in layer.state_dict().items()}, path)


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
    train_in_parts(x[half], wanted[half], f"{folder}/parts{rank}.pt")
    if rank == 0:
        alone = attn.torch.Module(attn.compile_text(helper.ATTENTION), seed=1)
        train(alone, x, wanted)
        torch.save(dict(alone.state_dict()), f"{folder}/alone.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]))
