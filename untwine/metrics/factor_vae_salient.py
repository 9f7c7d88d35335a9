"""FactorVAE score of the salient factors alone, for every block: codes without blocks are compared on the same factors."""

from __future__ import annotations

from collections.abc import Iterator

from untwine.metrics.directions import LABELS_HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.factor_vae import factor_vae_score
from untwine.metrics.intervals import fold_interval
from untwine.metrics.metric import Measurement, Metric, Requirement, ScoreInfo


def _measure(data: Encoded) -> Iterator[Measurement]:
    for block, codes, factors, continuous in data.factors_by_block(salient=True):
        if factors.shape[1] > 1:
            result = factor_vae_score(codes, factors, continuous)
            interval = fold_interval(result.accuracy, result.folds, (0, 1))
            yield Measurement(f"factor_vae_salient.{block}", result.accuracy, interval, len(codes))


METRIC = Metric(
    name="factor_vae_salient",
    function=_measure,
    description="FactorVAE score of the salient factors alone, for every block.",
    scores={
        "factor_vae_salient": ScoreInfo(
            "Does the latent that varies least identify which salient factor was held fixed? All blocks are scored on the same "
            "factors.",
            LABELS_HIGHER,
        )
    },
    requires=(
        Requirement(
            "two salient factors",
            lambda data: any(factors.shape[1] > 1 for _, _, factors, _ in data.factors_by_block(salient=True)),
            'two factors named "salient ..." that vary over the target samples',
            "fewer",
            "pass samples with salient factors",
        ),
    ),
)
