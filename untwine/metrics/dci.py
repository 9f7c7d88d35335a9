"""Disentanglement, completeness and informativeness, from the importances of boosted trees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.boosting import boost
from untwine.metrics.checks import check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import Continuous, typed_factors, varying_mask
from untwine.metrics.held_out import Split, hold_out_third
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import SOURCES, TWO_BLOCK_FACTORS
from untwine.metrics.resampling import measure_over_halves
from untwine.training.threads import one_thread


class DCI(NamedTuple):
    """The three scores of Eastwood and Williams (2018).

    Attributes
    ----------
    disentanglement, completeness, informativeness
        The three scores, in [0, 1].
    informativeness_train
        The same on the samples that the trees were fitted to.
    importances
        How much each latent matters for each factor (d, k), columns summing to 1; 0 for a factor that does not vary.
    per_latent, per_factor
        The disentanglement of each latent and the completeness of each factor.
    """

    disentanglement: float
    completeness: float
    informativeness: float
    informativeness_train: float
    importances: Array
    per_latent: tuple[float, ...]
    per_factor: tuple[float, ...]


def dci_scores(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    split: Split | None = None,
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> DCI:
    """Return the three scores of Eastwood and Williams (2018) of codes (n, d) for factors (n, k).

    R_ij is the importance of latent i in boosted trees (100 of depth 3, rate 0.1) that predict factor j from all latents.
    Disentanglement is sum_i r_i (1 - H(P_i) / log k), P_i being row i of R as shares and r_i its share of all of R: 1 means
    that each latent matters for one factor alone. Completeness is sum_j c_j (1 - H(Q_j) / log d), the same for columns: 1 means
    that each factor needs one latent alone. Informativeness is the mean over factors of the accuracy (classes) or R2, cut off
    at 0, (continuous) on held-out samples: 1 means that the codes determine the factors. All in [0, 1], higher is better.
    Constant codes get 0 and 0, with the informativeness of the majority class; duplicated codes keep disentanglement and lose
    completeness; rotated ones lose both, the more the more evenly latents share factors (two of k that share two factors evenly
    keep 1 - log 2 / log k), and a little informativeness. Order and scale of latents do not matter.

    Integer factors are classes and floats are continuous, unless `continuous` says otherwise; a factor that never varies is
    left out. `split` gives two sets of samples (train, test); without it a random third is held out by `seed`, of
    whole `sources` (n,) where given.

    Version 1: thresholds between 128 bins of equally many samples, so importances differ from trees of all thresholds
    by less than a hundredth.
    """
    codes = check_codes(codes)
    columns, scale = typed_factors(factors, len(codes), continuous)
    train, test = hold_out_third(split, len(codes), "dci_scores", seed, sources)
    varies = varying_mask(columns[train], "dci_scores", least=2)
    importances = np.zeros((codes.shape[1], columns.shape[1]))
    scores = []
    with one_thread():
        for j in np.flatnonzero(varies):
            y = columns[:, j] if scale[j] else columns[:, j].astype(np.int64)
            result = boost(codes[train], codes[test], y[train], 0 if scale[j] else int(y.max()) + 1, seed)
            importances[:, j] = result.importances
            predictions = ((test, result.test), (train, result.train))
            scores.append([_informativeness(y[indices], predicted, scale[j]) for indices, predicted in predictions])
    held_out, fitted = np.mean(scores, axis=0)
    per_latent, per_factor = _sparsity(importances[:, varies]), _sparsity(importances.T)
    return DCI(
        disentanglement=_weighted(per_latent, importances),
        completeness=_weighted(per_factor, importances.T),
        informativeness=float(held_out),
        informativeness_train=float(fitted),
        importances=importances,
        per_latent=tuple(per_latent.tolist()),
        per_factor=tuple(per_factor.tolist()),
    )


def _sparsity(rows: Array) -> Array:
    """Return for each row 1 minus the entropy of its shares over that of equal ones; 0 for a row of zeros, 1 for one entry."""
    total = rows.sum(axis=1, keepdims=True)
    p = np.divide(rows, total, out=np.zeros(rows.shape), where=total > 0)
    entropy = -(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=1)
    most = np.log(rows.shape[1]) if rows.shape[1] > 1 else 1.0
    return np.asarray(np.where(total[:, 0] > 0, np.clip(1.0 - entropy / most, 0.0, 1.0), 0.0))


def _weighted(scores: Array, importances: Array) -> float:
    total = importances.sum()
    return float((scores * importances.sum(axis=1)).sum() / total) if total > 0 else 0.0


def _informativeness(y: Array, predicted: Array, continuous: bool) -> float:
    if not continuous:
        return float((y == predicted).mean())
    total = ((y - y.mean()) ** 2).sum()
    return max(0.0, 1.0 - float(((y - predicted) ** 2).sum() / total)) if total > 0 else 0.0


def _measure(data: Encoded) -> Iterator[Measurement]:
    fields = {f"dci_{field}": field for field in ("disentanglement", "completeness", "informativeness")}
    yield from measure_over_halves(data.factors_by_block(), dci_scores, fields, data.seeds, 2, data.block_sources, True)


METRIC = Metric(
    name="dci",
    function=_measure,
    description="Disentanglement, completeness and informativeness, from the importances of boosted trees.",
    scores={
        "dci_disentanglement": ScoreInfo(
            "Does each latent matter for one factor only? 1 is one factor, 0 is all alike.", HIGHER
        ),
        "dci_completeness": ScoreInfo("Does one latent alone matter for each factor? 1 is one latent, 0 is all alike.", HIGHER),
        "dci_informativeness": ScoreInfo(
            "How well do boosted trees predict the factors from all latents of this block? Accuracy or R², held out.", HIGHER
        ),
    },
    requires=(TWO_BLOCK_FACTORS, SOURCES),
)
