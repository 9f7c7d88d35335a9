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

from untwine._typing import Array
from untwine.samples import BACKGROUND, Samples
from untwine.training import distributed


class Plan(Protocol):
    """What a stage says of its batches."""

    @property
    def batch(self) -> int:
        """Rows of the global batch, of each pool."""

    @property
    def batches(self) -> str:
        """Which pools they come from."""

    @property
    def together(self) -> int:
        """How many rows of one class come together, where batches are made of classes."""


class Batch:
    """One step's rows of this process, the step's chance, and the part of the stage that is `done`, in [0, 1)."""

    def __init__(self, x: Tensor, index: Tensor, pools: int, seed: tuple[int, ...], labels: Tensor | None = None) -> None:
        self.x, self.index, self._pools, self._labels = x, index, pools, labels
        self.done = 0.0
        # A hash mixes as well as numpy's seed sequence and takes a tenth of its time, which counts in every step.
        digest = hashlib.blake2b(repr(seed).encode(), digest_size=8).digest()
        self._generator = torch.Generator().manual_seed(int.from_bytes(digest) >> 1)

    @property
    def labels(self) -> Tensor:
        """The class of each row, numbered from 0 without gaps."""
        if self._labels is None:
            raise ValueError("the batch must be labels, but the samples have none; the method's needs must be 'labels'.")
        return self._labels

    def split(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of target and background; of pairs of one class, or of two draws, the first and the second rows."""
        target, background = rows.chunk(2)
        return target, background

    def sets(self, rows: Tensor) -> Tensor:
        """Return rows (n, ...) in the sets of one class that came together: (together, sets, ...)."""
        return rows.view(self._pools, -1, *rows.shape[1:])

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
    labels: Tensor | None = None  # numbered from 0 without gaps

    @classmethod
    def of(cls, samples: Samples, x: Tensor, dtype: torch.dtype, device: torch.device, labelled: bool = False) -> Rows:
        """Take the rows of `samples`, whose values in the networks' units are `x`, and their classes if a method needs them."""
        every = np.arange(len(samples))
        pools = {"mixed": [every], "twice": [every, every]}
        if samples.groups is not None:
            pools["groups"] = [np.flatnonzero(samples.groups != BACKGROUND), np.flatnonzero(samples.groups == BACKGROUND)]
        if not labelled or samples.labels is None:
            return cls(x.to(device), pools, dtype, device)
        numbers = np.unique(samples.labels, return_inverse=True)[1].reshape(-1)
        return cls(x.to(device), pools, dtype, device, torch.from_numpy(numbers).to(device))

    def sizes(self, plan: Plan) -> tuple[int, int]:
        """Return the rows of a global batch (of each pool) and the steps of an epoch: one pass over the largest pool.

        In batches of classes there are as many pools as rows come together, and an epoch is as many rows as there are.
        """
        world = distributed.world()
        if plan.batches == "classes":
            rows = len(self.x)
            size = min(math.ceil(plan.batch / plan.together), math.ceil(rows / world) * world)
            if size % world:
                raise ValueError(
                    f"batch expected as many sets of {plan.together} rows for each of the {world} processes, but {plan.batch} "
                    f"rows make {size} sets; take a multiple of {plan.together * world}."
                )
            return size, math.ceil(rows / (size * plan.together))
        largest = max(map(len, self.pools[plan.batches]))
        size = min(plan.batch, math.ceil(largest / world) * world)
        return size, math.ceil(largest / size)

    def order(self, plan: Plan, seed: int, epoch: int) -> Array:
        """Return the row numbers of one epoch, (steps, pools, rows of the global batch), by seed and epoch alone."""
        size, steps = self.sizes(plan)
        if plan.batches == "classes":
            return self._by_class(np.random.default_rng((seed, epoch, 0)), (steps, size), plan.together)
        pools = self.pools[plan.batches]
        orders = []
        for number, pool in enumerate(pools):
            chance = np.random.default_rng((seed, epoch, number))
            rounds = [chance.permutation(pool) for _ in range(math.ceil(steps * size / len(pool)))]
            orders.append(np.concatenate(rounds)[: steps * size].reshape(steps, size))
        return np.stack(orders, axis=1)

    def _by_class(self, chance: np.random.Generator, sets: tuple[int, int], together: int) -> Array:
        """Draw sets of rows of one class, (steps, together, sets of a step).

        No row comes twice in a set as long as its class has enough, nor leads a second one before all have led.
        """
        if self.labels is None:
            raise ValueError("batches of classes must be labels, but the rows have none; the method's needs must be 'labels'.")
        labels = self.labels.cpu().numpy()
        shuffled = chance.permutation(len(labels))
        order = shuffled[np.argsort(labels[shuffled], kind="stable")]  # class by class, at random within each
        sizes = np.bincount(labels)
        starts = np.cumsum(sizes) - sizes
        many = math.prod(sets)
        rounds = [chance.permutation(len(order)) for _ in range(math.ceil(many / len(order)))]
        leaders = np.concatenate(rounds)[:many].reshape(sets[0], 1, sets[1])
        start, size = (column[labels[order[leaders]]] for column in (starts, sizes))
        # The next rows of a class follow the leader, round and round: a random order makes them random company.
        found: Array = order[start + (leaders - start + np.arange(together)[:, None]) % size]
        return found

    def batch(self, rows: Array, seed: tuple[int, ...]) -> Batch:
        """Return this process's share of the given rows (pools, rows)."""
        index = torch.from_numpy(rows[:, distributed.share(rows.shape[1])].reshape(-1)).to(self.device)
        labels = None if self.labels is None else self.labels.index_select(0, index)
        return Batch(units(self.select(index), self.dtype), index, len(rows), seed, labels)

    def select(self, index: Tensor) -> Tensor:
        """Return some rows, laid out in memory as all are."""
        # To select is several times as fast as to index, but forgets that the channels lie last: so it is done where they do.
        if self.x.is_contiguous():
            return self.x.index_select(0, index)
        return self.x.permute(0, 2, 3, 1).index_select(0, index).permute(0, 3, 1, 2)


def units(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return rows as the networks see them: bytes become [0, 1]."""
    return x.to(dtype).div_(255) if x.dtype == torch.uint8 else x.to(dtype)
