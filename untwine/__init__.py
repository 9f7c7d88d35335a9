"""untwine takes data apart with the supervision that people really have.

What is named here is imported when it is first used, so that `import untwine` is quick however much there is.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from untwine import data, manipulate, metrics, plots
    from untwine.data import load
    from untwine.evaluation.scoring import Score, evaluate
    from untwine.latents import Latents
    from untwine.linear.contrast import ContrastTest, contrast_test
    from untwine.methods import (
        DIPVAE,
        LORD,
        MLVAE,
        PCA,
        VAE,
        BetaTCVAE,
        BetaVAE,
        ContrastivePCA,
        ContrastiveVAE,
        CycleVAE,
        DoubleInfoGAN,
        DrNet,
        FactorVAE,
        GeneralisedContrastivePCA,
        InfoGAN,
        MixingAE,
        MMcVAE,
        PrincipledVAE,
        ProbabilisticContrastivePCA,
        RbVAE,
        SepVAE,
        StarGAN,
        SymmetricRbVAE,
        SymmetricVAE,
        load_method,
    )
    from untwine.report.page import report
    from untwine.samples import Samples
    from untwine.study import Study
    from untwine.training.errors import TrainingError

__all__ = [
    "DIPVAE",
    "LORD",
    "MLVAE",
    "PCA",
    "VAE",
    "BetaTCVAE",
    "BetaVAE",
    "ContrastTest",
    "ContrastivePCA",
    "ContrastiveVAE",
    "CycleVAE",
    "DoubleInfoGAN",
    "DrNet",
    "FactorVAE",
    "GeneralisedContrastivePCA",
    "InfoGAN",
    "Latents",
    "MMcVAE",
    "MixingAE",
    "PrincipledVAE",
    "ProbabilisticContrastivePCA",
    "RbVAE",
    "Samples",
    "Score",
    "SepVAE",
    "StarGAN",
    "Study",
    "SymmetricRbVAE",
    "SymmetricVAE",
    "TrainingError",
    "contrast_test",
    "data",
    "evaluate",
    "load",
    "load_method",
    "manipulate",
    "metrics",
    "plots",
    "report",
]

PLACES = {
    "data": ("load",),
    "evaluation.scoring": ("Score", "evaluate"),
    "latents": ("Latents",),
    "linear.contrast": ("ContrastTest", "contrast_test"),
    "samples": ("Samples",),
    "study": ("Study",),
    "training.errors": ("TrainingError",),
}  # all else is in `methods`


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'untwine' has no attribute {name!r}")
    import untwine.data
    import untwine.evaluation.scoring
    import untwine.manipulate
    import untwine.methods
    import untwine.metrics
    import untwine.plots
    import untwine.report
    import untwine.study  # noqa: F401

    if name in globals():  # a module, which its import has bound
        return globals()[name]
    place = next((place for place, names in PLACES.items() if name in names), "methods")
    globals()[name] = result = getattr(sys.modules[f"untwine.{place}"], name)
    return result


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
