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
from untwine.training.conditions import Conditions
from untwine.training.sparse_samples import SparseSamples


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
    conditions
        What is known of each sample beside x.
    """

    def __init__(
        self,
        x: Tensor,
        index: Tensor,
        pools: int,
        seed: tuple[int, ...],
        labels: Tensor | None = None,
        batches: str = "mixed",
        conditions: Conditions = Conditions(),  # noqa: B008 (it is a tuple)
    ) -> None:
        self.x, self.index, self._pools, self._labels, self._batches = x, index, pools, labels, batches
        self.conditions = conditions
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

    def group_conditions(self) -> tuple[Conditions, Conditions]:
        """Return what is known of the target's samples and of the background's."""
        return self._halved_conditions("groups")

    def draw_conditions(self) -> tuple[Conditions, Conditions]:
        """Return what is known of the samples of the first and of the second draw."""
        return self._halved_conditions("twice")

    def pair_conditions(self) -> tuple[Conditions, Conditions]:
        """Return what is known of the first and of the second sample of each pair."""
        return self._halved_conditions("classes")

    def split_pools(self, values: Tensor) -> tuple[Tensor, ...]:
        """Return the values of each pool, in their order: of `targets` those of every target, then of the background."""
        return tuple(values.chunk(self._pools))

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

    def _halved_conditions(self, batches: str) -> tuple[Conditions, Conditions]:
        first = self.conditions.map(lambda known: self._halves(known, batches)[0])
        return first, self.conditions.map(lambda known: self._halves(known, batches)[1])

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

    x: Tensor | SparseSamples
    pools: Mapping[str, Sequence[Array]]
    dtype: torch.dtype
    device: torch.device
    labels: Tensor | None = None  # numbered from 0 without gaps
    covariates: Tensor | None = None
    counts: bool = False
    sources: Array | None = None

    @classmethod
    def of(
        cls,
        samples: Samples,
        x: Tensor | SparseSamples,
        dtype: torch.dtype,
        device: torch.device,
        labelled: bool = False,
        covariates: Tensor | None = None,
        counts: bool = False,
    ) -> TrainingData:
        """Take samples, whose values as the networks see them are `x`, and their classes if a method needs them.

        `covariates` are those of the samples as networks see them; `counts` says that x are counts, which have library sizes.
        """
        every = np.arange(len(samples))
        pools = {"mixed": [every], "twice": [every, every]}
        if samples.groups is not None:
            background = np.flatnonzero(samples.groups == BACKGROUND)
            targets = np.unique(samples.groups[samples.groups != BACKGROUND])
            pools["groups"] = [np.flatnonzero(samples.groups != BACKGROUND), background]
            pools["pairs"] = pools["groups"]
            pools["targets"] = [*(np.flatnonzero(samples.groups == target) for target in targets), background]
        labels = None
        if labelled and samples.labels is not None:
            labels = torch.from_numpy(np.unique(samples.labels, return_inverse=True)[1].reshape(-1)).to(device)
        return cls(x.to(device), pools, dtype, device, labels, covariates, counts, samples.sources)

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
            if plan.batches == "pairs":
                orders.append(self._partners(orders[0], np.random.default_rng((seed, epoch, 1))))
                break
        return np.stack(orders, axis=1)

    def _partners(self, targets: Array, rng: np.random.Generator) -> Array:
        """Return for each target a random sample of the background of its source; every source must have one."""
        if self.sources is None:
            raise ValueError("batches of pairs need sources; the samples have none; pass Samples(..., sources=...).")
        background = self.pools["pairs"][1]
        ordered = background[np.argsort(self.sources[background], kind="stable")]
        owner, own = self.sources[ordered], self.sources[targets]
        start, end = (np.searchsorted(owner, own, side) for side in ("left", "right"))
        index: Array = ordered[start + (rng.random(targets.shape) * (end - start)).astype(int)]
        return index

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
        x = as_float(self.select(mine), self.dtype)
        return Batch(x, mine, len(index), seed, labels, batches, self._conditions(x, mine))

    def _conditions(self, x: Tensor, index: Tensor) -> Conditions:
        covariates = None if self.covariates is None else self.covariates.index_select(0, index)
        return Conditions(covariates, x.sum(1, keepdim=True).clamp(min=1) if self.counts else None)

    def select(self, index: Tensor) -> Tensor:
        """Return some samples, in the memory layout of all; sparse ones dense."""
        if isinstance(self.x, SparseSamples):
            return self.x.index_select(index)
        # index_select is several times as fast as indexing, but loses the channels-last layout: so it is applied in that one.
        if self.x.is_contiguous():
            return self.x.index_select(0, index)
        return self.x.permute(0, 2, 3, 1).index_select(0, index).permute(0, 3, 1, 2)


def as_float(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return samples as the networks see them: bytes become floats in [0, 1]."""
    return x.to(dtype).div_(255) if x.dtype == torch.uint8 else x.to(dtype)
