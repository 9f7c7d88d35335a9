"""Many processes that take the step of one: samples are sharded, codes gathered, gradients averaged.

Each process's loss is the mean over its own samples, or a function of the gathered batch. The backward pass of `gather` and of
`total` sums over processes; the loop then takes the mean of the gradients. Both kinds of loss thus give the gradient that one
process would have with all samples.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


def world() -> int:
    """How many processes train together."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """Which of them this one is."""
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


@contextmanager
def process_group() -> Iterator[None]:
    """Join the processes that torchrun started; alone, do nothing."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or world() > 1:
        yield
        return
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    try:
        yield
        dist.barrier()  # none leaves while another still talks to the first process, which holds the addresses
    finally:
        dist.destroy_process_group()


def share(n: int) -> slice:
    """Return which samples of a global batch are this process's."""
    mine = n // world()
    return slice(rank() * mine, (rank() + 1) * mine)


def gather(x: Tensor) -> Tensor:
    """Return the values of all processes in the order of the global batch, with gradient."""
    return x if world() == 1 else _Gather.apply(x)  # type: ignore[no-untyped-call]


def total(x: Tensor) -> Tensor:
    """Return the sum over all processes, with gradient."""
    return x if world() == 1 else _Total.apply(x)  # type: ignore[no-untyped-call]


def average(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """Return the mean over processes of each tensor, in one message."""
    if world() == 1:
        return tensors
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
    dist.all_reduce(flat)
    flat /= world()
    shards = torch.split(flat, [tensor.numel() for tensor in tensors])
    return [shard.view_as(tensor) for shard, tensor in zip(shards, tensors, strict=True)]


def barrier() -> None:
    """Wait until every process is here."""
    if world() > 1:
        dist.barrier()


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.n = len(x)
        shards = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(world())]
        dist.all_gather(shards, x.contiguous())
        return torch.cat(shards)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        grad = grads[0].contiguous().clone()
        dist.all_reduce(grad)
        return grad[rank() * ctx.n : (rank() + 1) * ctx.n]


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        x = x.contiguous().clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        grad = grads[0].contiguous().clone()
        dist.all_reduce(grad)
        return grad
