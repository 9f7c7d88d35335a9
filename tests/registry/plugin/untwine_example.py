"""A package of somebody's own: a method, a metric and a data set that untwine lists, fits, scores and reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

import untwine as un
from untwine.data import Splits
from untwine.method.kinds import Solved
from untwine.metrics.directions import INFO
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import Measurement, Metric, ScoreInfo


@dataclass(eq=False, kw_only=True)
class Whitening(Solved):
    """Centre and scale every feature.

    Parameters
    ----------
    factor
        What the standardised features are multiplied by.
    """

    factor: float = 1.0
    name: ClassVar[str] = "whitening"

    @property
    def blocks(self) -> dict[str, int]:
        return {"z": self.shape_[0]}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        return nn.ModuleDict({"scale": nn.ParameterList([nn.Parameter(torch.ones(shape[0]))])})

    def solve(self, samples: un.Samples) -> None:
        with torch.no_grad():
            self.nets_["scale"][0].fill_(self.factor)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        return {"z": x * self.nets_["scale"][0]}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        return codes["z"] / self.nets_["scale"][0]


def _mean_norm(data: Encoded) -> Iterator[Measurement]:
    for block, codes in data.latents.items():
        norm = float(np.linalg.norm(codes, axis=1).mean())
        yield Measurement(f"mean_norm.{block}", norm, (norm, norm), len(codes))


MEAN_NORM = Metric(
    name="mean_norm",
    function=_mean_norm,
    description="Mean Euclidean norm of the codes.",
    scores={"mean_norm": ScoreInfo("How long are the codes of this block on average?", INFO)},
)


def two_blobs(*, n: int = 60, seed: int = 0) -> Splits:
    """Two Gaussian blobs, one of which is the background."""
    rng = np.random.default_rng(seed)
    sets = [un.Samples.contrast(target=rng.normal(1, 1, (n, 3)), background=rng.normal(0, 1, (n, 3))) for _ in range(2)]
    return Splits(*sets)
