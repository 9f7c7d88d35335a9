"""The rows of a step: which they are, in which units, and the step's chance."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from untwine import distributed
from untwine.samples import BACKGROUND, Array, Samples


class Plan(Protocol):
    """What a stage says of its batches."""

    @property
    def batch(self) -> int:
        """Rows of the global batch, of each pool."""

    @property
    def batches(self) -> str:
        """Which pools they come from."""


class Batch:
    """One step's rows of this process, and the step's chance."""

    def __init__(self, x: Tensor, index: Tensor, pools: int, seed: tuple[int, ...]) -> None:
        self.x, self.index, self._pools = x, index, pools
        # A hash mixes as well as numpy's seed sequence and takes a tenth of its time, which counts in every step.
        digest = hashlib.blake2b(repr(seed).encode(), digest_size=8).digest()
        self._generator = torch.Generator().manual_seed(int.from_bytes(digest) >> 1)

    def split(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of the target and those of the background."""
        target, background = rows.chunk(2)
        return target, background

    def noise(self, *shape: int) -> Tensor:
        """Return standard normal noise of that shape for each row, the same whatever the number of processes."""
        if distributed.world() == 1:
            return torch.randn((len(self.x), *shape), generator=self._generator, dtype=self.x.dtype).to(self.x.device)
        rows = len(self.x) // self._pools * distributed.world()
        drawn = torch.randn((self._pools, rows, *shape), generator=self._generator, dtype=self.x.dtype)
        return drawn[:, distributed.share(rows)].reshape(len(self.x), *shape).to(self.x.device)


@dataclass(frozen=True)
class Rows:
    """The training rows in memory, in the units of the networks, and the order in which they come."""

    x: Tensor
    pools: Mapping[str, Sequence[Array]]
    dtype: torch.dtype
    device: torch.device

    @classmethod
    def of(cls, samples: Samples, x: Tensor, dtype: torch.dtype, device: torch.device) -> Rows:
        """Take the rows of `samples`, whose values in the networks' units are `x`."""
        pools = {"mixed": [np.arange(len(samples))]}
        if samples.groups is not None:
            pools["groups"] = [np.flatnonzero(samples.groups != BACKGROUND), np.flatnonzero(samples.groups == BACKGROUND)]
        return cls(x.to(device), pools, dtype, device)

    def sizes(self, plan: Plan) -> tuple[int, int]:
        """Return the rows of a global batch (of each pool) and the steps of an epoch: one pass over the largest pool."""
        largest, world = max(map(len, self.pools[plan.batches])), distributed.world()
        size = min(plan.batch, math.ceil(largest / world) * world)
        return size, math.ceil(largest / size)

    def order(self, plan: Plan, seed: int, epoch: int) -> Array:
        """Return the row numbers of one epoch, (steps, pools, rows of the global batch), by seed and epoch alone."""
        pools = self.pools[plan.batches]
        size, steps = self.sizes(plan)
        orders = []
        for number, pool in enumerate(pools):
            chance = np.random.default_rng((seed, epoch, number))
            rounds = [chance.permutation(pool) for _ in range(math.ceil(steps * size / len(pool)))]
            orders.append(np.concatenate(rounds)[: steps * size].reshape(steps, size))
        return np.stack(orders, axis=1)

    def batch(self, rows: Array, seed: tuple[int, ...]) -> Batch:
        """Return this process's share of the given rows (pools, rows)."""
        index = torch.from_numpy(rows[:, distributed.share(rows.shape[1])].reshape(-1)).to(self.device)
        return Batch(units(self.select(index), self.dtype), index, len(rows), seed)

    def select(self, index: Tensor) -> Tensor:
        """Return some rows, laid out in memory as all are."""
        # To select is several times as fast as to index, but forgets that the channels lie last: so it is done where they do.
        if self.x.is_contiguous():
            return self.x.index_select(0, index)
        return self.x.permute(0, 2, 3, 1).index_select(0, index).permute(0, 3, 1, 2)


def units(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return rows as the networks see them: bytes become [0, 1]."""
    return x.to(dtype).div_(255) if x.dtype == torch.uint8 else x.to(dtype)
