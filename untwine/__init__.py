"""untwine takes data apart with the supervision that people really have."""

from __future__ import annotations

__version__ = "0.1.0"

from untwine.data import load
from untwine.evaluate import Score, evaluate
from untwine.latents import Latents
from untwine.methods import PCA, VAE, BetaVAE, ContrastiveVAE, PrincipledVAE, load_method
from untwine.report import report
from untwine.samples import Samples
from untwine.training import TrainingError

__all__ = [
    "PCA",
    "VAE",
    "BetaVAE",
    "ContrastiveVAE",
    "Latents",
    "PrincipledVAE",
    "Samples",
    "Score",
    "TrainingError",
    "evaluate",
    "load",
    "load_method",
    "report",
]
