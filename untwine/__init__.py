"""untwine takes data apart with the supervision that people really have."""

from __future__ import annotations

__version__ = "0.1.0"

from untwine.contrast import ContrastTest, contrast_test
from untwine.data import load
from untwine.evaluate import Score, evaluate
from untwine.latents import Latents
from untwine.methods import (
    PCA,
    VAE,
    BetaVAE,
    ContrastivePCA,
    ContrastiveVAE,
    GeneralisedContrastivePCA,
    PrincipledVAE,
    ProbabilisticContrastivePCA,
    load_method,
)
from untwine.report import report
from untwine.samples import Samples
from untwine.training import TrainingError

__all__ = [
    "PCA",
    "VAE",
    "BetaVAE",
    "ContrastTest",
    "ContrastivePCA",
    "ContrastiveVAE",
    "GeneralisedContrastivePCA",
    "Latents",
    "PrincipledVAE",
    "ProbabilisticContrastivePCA",
    "Samples",
    "Score",
    "TrainingError",
    "contrast_test",
    "evaluate",
    "load",
    "load_method",
    "report",
]
