"""The samples of a step: which they are, how the networks see them, and the step's random numbers."""

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
        """Samples of the global batch, of each pool."""

    @property
    def batches(self) -> str:
        """Which pools they come from."""

    @property
    def together(self) -> int:
        """How many samples of one class come together, where batches are made of classes."""


class Batch:
    """One step's samples of this process, its random numbers, and the fraction of the stage that is `done`, in [0, 1).

    Parameters
    ----------
    x, index
        The samples as the networks see them, and their numbers in the training data.
    pools
        How many pools the samples come from, as many of each, one pool after the other.
    seed
        What the random numbers are seeded by.
    labels
        The class of each sample.
    batches
        The kind of batch, as `Stage.batches` names it.
    """

    def __init__(
        self,
        x: Tensor,
        index: Tensor,
        pools: int,
        seed: tuple[int, ...],
        labels: Tensor | None = None,
        batches: str = "mixed",
    ) -> None:
        self.x, self.index, self._pools, self._labels, self._batches = x, index, pools, labels, batches
        self._done, self.uses_length = 0.0, False
        # A hash mixes as well as numpy's seed sequence and takes a tenth of its time, which counts in every step.
        digest = hashlib.blake2b(repr(seed).encode(), digest_size=8).digest()
        self._generator = torch.Generator().manual_seed(int.from_bytes(digest) >> 1)

    @property
    def done(self) -> float:
        """The fraction of the stage that is done; a step that asks for it depends on the number of epochs (`uses_length`)."""
        self.uses_length = True
        return self._done

    @done.setter
    def done(self, fraction: float) -> None:
        self._done = fraction

    @property
    def labels(self) -> Tensor:
        """The class of each sample, numbered from 0 without gaps."""
        if self._labels is None:
            raise ValueError("a batch has labels only if the method needs them; set needs = 'labels'.")
        return self._labels

    def split_groups(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values of target and of background, from one for each sample of a batch of `groups`."""
        return self._halves(values, "groups")

    def split_draws(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values of the first and of the second draw, from one for each sample of a batch drawn `twice`."""
        return self._halves(values, "twice")

    def split_pairs(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values of the first and of the second sample of each pair, from a batch of `classes` in pairs."""
        return self._halves(values, "classes")

    def sets(self, values: Tensor) -> Tensor:
        """Return values (n, ...) in the sets of one class that came together: (together, sets, ...)."""
        return values.view(self._pools, -1, *values.shape[1:])

    def noise(self, *shape: int) -> Tensor:
        """Return standard normal noise of that shape for each sample, the same whatever the number of processes."""
        if distributed.world() == 1:
            return torch.randn((len(self.x), *shape), generator=self._generator, dtype=self.x.dtype).to(self.x.device)
        n = len(self.x) // self._pools * distributed.world()
        drawn = torch.randn((self._pools, n, *shape), generator=self._generator, dtype=self.x.dtype)
        return drawn[:, distributed.share(n)].reshape(len(self.x), *shape).to(self.x.device)

    def _halves(self, values: Tensor, batches: str) -> tuple[Tensor, Tensor]:
        if self._batches != batches or self._pools != 2:
            raise ValueError(
                f"this split needs a stage with batches={batches!r} and two pools; got {self._batches!r} with {self._pools}."
            )
        first, second = values.chunk(2)
        return first, second


@dataclass(frozen=True)
class TrainingData:
    """The training samples in memory, as the networks see them, and the order in which they come."""

    x: Tensor
    pools: Mapping[str, Sequence[Array]]
    dtype: torch.dtype
    device: torch.device
    labels: Tensor | None = None  # numbered from 0 without gaps

    @classmethod
    def of(cls, samples: Samples, x: Tensor, dtype: torch.dtype, device: torch.device, labelled: bool = False) -> TrainingData:
        """Take samples, whose values as the networks see them are `x`, and their classes if a method needs them."""
        every = np.arange(len(samples))
        pools = {"mixed": [every], "twice": [every, every]}
        if samples.groups is not None:
            pools["groups"] = [np.flatnonzero(samples.groups != BACKGROUND), np.flatnonzero(samples.groups == BACKGROUND)]
        if not labelled or samples.labels is None:
            return cls(x.to(device), pools, dtype, device)
        numbers = np.unique(samples.labels, return_inverse=True)[1].reshape(-1)
        return cls(x.to(device), pools, dtype, device, torch.from_numpy(numbers).to(device))

    def sizes(self, plan: Plan) -> tuple[int, int]:
        """Return the samples of a global batch (of each pool) and the steps of an epoch: one pass over the largest pool.

        In batches of classes there are as many pools as samples come together, and an epoch has as many samples as the data.
        """
        world = distributed.world()
        if plan.batches == "classes":
            n = len(self.x)
            size = min(math.ceil(plan.batch / plan.together), math.ceil(n / world) * world)
            if size % world:
                raise ValueError(
                    f"batch must give each of the {world} processes as many sets of {plan.together} samples; got {plan.batch}, "
                    f"which makes {size} sets; take a multiple of {plan.together * world}."
                )
            return size, math.ceil(n / (size * plan.together))
        largest = max(map(len, self.pools[plan.batches]))
        size = min(plan.batch, math.ceil(largest / world) * world)
        return size, math.ceil(largest / size)

    def order(self, plan: Plan, seed: int, epoch: int) -> Array:
        """Return the sample numbers of one epoch, (steps, pools, samples of the global batch), by seed and epoch alone."""
        size, steps = self.sizes(plan)
        if plan.batches == "classes":
            return self._by_class(np.random.default_rng((seed, epoch, 0)), (steps, size), plan.together)
        orders = []
        for number, pool in enumerate(self.pools[plan.batches]):
            rng = np.random.default_rng((seed, epoch, number))
            rounds = [rng.permutation(pool) for _ in range(math.ceil(steps * size / len(pool)))]
            orders.append(np.concatenate(rounds)[: steps * size].reshape(steps, size))
        return np.stack(orders, axis=1)

    def _by_class(self, rng: np.random.Generator, sets: tuple[int, int], together: int) -> Array:
        """Draw sets of samples of one class, (steps, together, sets of a step).

        No sample comes twice in a set as long as its class has enough, nor leads a second set before all have led one.
        """
        if self.labels is None:
            raise ValueError("batches of classes need labels; the samples have none; set the method's needs = 'labels'.")
        labels = self.labels.cpu().numpy()
        shuffled = rng.permutation(len(labels))
        order = shuffled[np.argsort(labels[shuffled], kind="stable")]  # class by class, at random within each
        sizes = np.bincount(labels)
        starts = np.cumsum(sizes) - sizes
        many = math.prod(sets)
        rounds = [rng.permutation(len(order)) for _ in range(math.ceil(many / len(order)))]
        leaders = np.concatenate(rounds)[:many].reshape(sets[0], 1, sets[1])
        start, size = (column[labels[order[leaders]]] for column in (starts, sizes))
        # The next samples of a class follow the leader, cyclically: a random order makes them a random set.
        index: Array = order[start + (leaders - start + np.arange(together)[:, None]) % size]
        return index

    def batch(self, index: Array, seed: tuple[int, ...], batches: str = "mixed") -> Batch:
        """Return this process's share of the samples with the given numbers (pools, n)."""
        mine = torch.from_numpy(index[:, distributed.share(index.shape[1])].reshape(-1)).to(self.device)
        labels = None if self.labels is None else self.labels.index_select(0, mine)
        return Batch(as_float(self.select(mine), self.dtype), mine, len(index), seed, labels, batches)

    def select(self, index: Tensor) -> Tensor:
        """Return some samples, in the memory layout of all."""
        # index_select is several times as fast as indexing, but loses the channels-last layout: so it is applied in that one.
        if self.x.is_contiguous():
            return self.x.index_select(0, index)
        return self.x.permute(0, 2, 3, 1).index_select(0, index).permute(0, 3, 1, 2)


def as_float(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return samples as the networks see them: bytes become floats in [0, 1]."""
    return x.to(dtype).div_(255) if x.dtype == torch.uint8 else x.to(dtype)
