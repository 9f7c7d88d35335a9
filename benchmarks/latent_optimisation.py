"""LORD's stage one side by side with a straightforward step of the paper's Eq. 6.

Gabbay and Hoshen, *Demystifying Inter-Class Disentanglement*, 2020, as one writes it down: the codes of all samples and classes
are embeddings that one Adam updates densely, the generator has an Adam of its own, tensors have torch's usual layout, and AdaIN
is its formula. Generator, batch, data and loss (L1) are those of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks import work
from benchmarks.codes import CLASSES, Clocked, EnoughError
from benchmarks.figures import Figure, Round, figure, interleaved, medians
from untwine import Samples
from untwine.networks.adain import EPSILON, AdaIN, AdaINGenerator

SHAPE, N_CLASS, N_CONTENT, SIGMA, DECAY = (3, 64, 64), 256, 128, 0.3, 1e-5
RATE, CODE_RATE = 2e-3, 0.03


def latent_optimisation(quick: bool) -> Iterator[Figure]:
    """A straightforward step of LORD's first stage over ours, at 64 x 64."""
    n, steps, rounds = (64, 1, 1) if quick else (16_000, 3, 9)
    data = Samples(work.images(n, SHAPE), labels=np.arange(n) % CLASSES)
    for width, batch in ((4, 8),) if quick else ((8, 64), (64, 8)):
        straight = Straightforward(data, width, batch)
        sides = {"ours": partial(ours, data, width, batch, steps), "straightforward": partial(straight.seconds, steps)}
        measured = interleaved(sides, rounds)
        each: list[Round] = [{name: 1000 * seconds for name, seconds in one.items()} for one in measured]
        yield figure(
            f"a step of LORD's first stage, width {width}: a straightforward one over ours",
            [one["straightforward"] / one["ours"] for one in each],
            bound=None if quick else 1.2,
            detail={
                "samples": n,
                "shape": list(SHAPE),
                "batch": batch,
                "rounds": rounds,
                "milliseconds_per_step": medians(each),
            },
        )


def ours(data: Samples, width: int, batch: int, steps: int) -> float:
    """Return the seconds from one of our steps to the next: the median of some."""
    method = Clocked(
        n_class=N_CLASS,
        n_content=N_CONTENT,
        networks="adain",
        width=width,
        batch=batch,
        epochs=1,
        epochs_encoders=0,
        sigma=SIGMA,
        decay=DECAY,
        device="cpu",
    )
    method.last = steps
    with suppress(EnoughError):
        method.fit(data)
    return median(b - a for a, b in zip(method.ticks, method.ticks[1:], strict=False))


class Formula(nn.Module):
    """AdaIN as its formula says, with the parameters of ours."""

    def __init__(self, ours: AdaIN) -> None:
        super().__init__()
        self.modulation = ours.modulation

    def forward(self, x: Tensor, e: Tensor) -> Tensor:
        """Normalise x (n, C, H, W) and modulate it by e (n, n_class)."""
        mean, var = x.mean((2, 3), keepdim=True), x.var((2, 3), keepdim=True, correction=0)
        return self.modulation((x - mean) / torch.sqrt(var + EPSILON), e)  # type: ignore[no-any-return]


class Straightforward:
    """The model and its optimizers, which are kept from round to round."""

    def __init__(self, data: Samples, width: int, batch: int) -> None:
        torch.manual_seed(0)
        self.x, self.labels, self.batch = torch.from_numpy(data.x), torch.from_numpy(np.asarray(data.labels)), batch
        self.generator = AdaINGenerator(SHAPE, N_CLASS, N_CONTENT, width)
        self.generator.norms = nn.ModuleList(Formula(norm) for norm in self.generator.norms)  # type: ignore[arg-type]
        self.e, self.c = nn.Embedding(CLASSES, N_CLASS), nn.Embedding(len(self.x), N_CONTENT)
        codes = [*self.e.parameters(), *self.c.parameters()]
        self.optimizers = (torch.optim.Adam(self.generator.parameters(), lr=RATE), torch.optim.Adam(codes, lr=CODE_RATE))

    def seconds(self, steps: int) -> float:
        """Return the seconds of a step: the median of some."""
        spent = []
        for _ in range(steps):
            start = perf_counter()
            self.step()
            spent.append(perf_counter() - start)
        return median(spent)

    def step(self) -> Tensor:
        """Take one step on Eq. 6 and return the loss."""
        index = torch.randint(len(self.x), (self.batch,))
        x, e, c = self.x[index].float() / 255, self.e(self.labels[index]), self.c(index)
        images = torch.sigmoid(self.generator(e, c + SIGMA * torch.randn_like(c)))
        loss: Tensor = (images - x).abs().mean() + DECAY * c.square().sum(1).mean()
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.detach()
