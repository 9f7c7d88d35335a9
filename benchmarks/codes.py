"""LORD's learned codes: a step of stage one among few and among many samples, and the update of codes against a dense Adam."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from statistics import median
from time import perf_counter

import torch

from benchmarks.work import BATCH, images
from untwine import LORD, Samples
from untwine.training.batches import Batch
from untwine.training.embedding_table import EmbeddingTable, RowAdam
from untwine.training.stage import Move, Stage

CLASSES, WIDTH = 100, 128  # content codes as wide as the paper's
RATE, BETAS = 1e-3, (0.9, 0.999)


class EnoughError(Exception):
    """Enough steps were timed: an epoch of a million samples would take minutes."""


class Clocked(LORD):
    """LORD with a clock at the beginning of each step of stage one, which ends after some steps."""

    def stages(self) -> Iterator[Stage]:
        """Train as ever, with no ticks yet."""
        self.ticks: list[float] = []
        yield from super().stages()

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Note the time, and take the step."""
        self.ticks.append(perf_counter())
        if len(self.ticks) > self.last:
            raise EnoughError
        yield from super().step(batch, t)

    last: int = 0


def random_samples(n: int) -> Samples:
    """Return images of bytes in a hundred classes."""
    return Samples(images(n, (1, 8, 8)), labels=torch.arange(n).remainder(CLASSES).numpy())


def step_seconds(samples: Samples, steps: int) -> float:
    """Return the seconds from one step to the next, with everything between: the median of some steps."""
    method = Clocked(n_content=WIDTH, batch=BATCH, epochs=1 + steps * BATCH // len(samples), device="cpu")
    method.last = steps
    with suppress(EnoughError):
        method.fit(samples)
    return median(b - a for a, b in zip(method.ticks, method.ticks[1:], strict=False))


def ours(table: EmbeddingTable, steps: int) -> float:
    """Return the seconds that our update of a batch's codes takes, from their gradient on."""
    adam, spent, rng = RowAdam(table, BETAS), 0.0, torch.Generator().manual_seed(0)
    for _ in range(steps):
        index, grad = _gradient(len(table.weight), rng)
        table(index)
        start = perf_counter()
        merged = adam.merge([grad])
        if merged is not None:
            adam.step(merged, RATE)
        spent += perf_counter() - start
        adam.reset()
    return spent / steps


def dense(table: torch.nn.Parameter, steps: int) -> float:
    """Return the seconds that torch's fused Adam takes for the whole table, from its dense gradient on."""
    adam, spent = torch.optim.Adam([table], lr=RATE, betas=BETAS, fused=True), 0.0
    rng = torch.Generator().manual_seed(0)
    for _ in range(steps):
        index, grad = _gradient(len(table), rng)
        table.grad = torch.zeros_like(table).index_add_(0, index, grad)
        start = perf_counter()
        adam.step()
        spent += perf_counter() - start
    return spent / steps


def _gradient(n: int, rng: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the indices of a batch and a gradient for each."""
    return torch.randperm(n, generator=rng)[:BATCH], torch.randn(BATCH, WIDTH, generator=rng)
