"""Unsupervised disentanglement ranking: models of several seeds agree on their latents where they disentangle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import check_codes
from untwine.metrics.ground_truth import DEAD, active_latents


class UDR(NamedTuple):
    """The score of the setting, that of each model, and those of all pairs (m, m), 0 on the diagonal."""

    udr: float
    per_model: tuple[float, ...]
    pairs: Array


def udr_score(codes: Sequence[ArrayLike], dead: float = DEAD) -> UDR:
    """Return the unsupervised disentanglement ranking of several models' codes (n, d_m) of the same samples (Duan et al. 2020).

    R_ab is the absolute rank correlation of latent a of one model and b of another. Of a pair of models
    (1 / (d_a + d_b)) [sum_b r_b^2 / sum_a R_ab + sum_a r_a^2 / sum_b R_ab], r being the largest entry of a column or row, over
    the active latents. A model's score is the median over the others, that of the setting the mean over its models.
    In [0, 1], higher is better: 1 means that every latent of one model is one latent of the other, up to sign, order and any
    monotone scale; chance correlations of few samples keep it a little below. Models that mix the same factors differently
    (rotated against perfect ones) score low, unrelated ones near 0, a model without an active latent 0. Where all latents of
    both are duplicated it is halved; where those of one are, it is 1 - d_a / (2 (d_a + d_b)), d_a being the fewer.

    Use it to choose among settings: train several seeds of each, and take the setting whose score is highest. Blind to
    what all models of a setting share, be it wrong.

    Parameters
    ----------
    dead
        Latents with less than this share of the largest standard deviation are left out.

    Notes
    -----
    Version 1: Spearman's correlation, no regression; active latents by standard deviation instead of by KL.
    """
    from scipy.stats import rankdata

    tables = [check_codes(one) for one in codes]
    if len(tables) < 2 or len({len(table) for table in tables}) > 1 or len(tables[0]) < 3:
        raise ValueError(
            f"codes must be of the same samples, at least 3, from at least 2 models; got shapes {[t.shape for t in tables]}."
        )
    ranked = []
    for table in tables:
        ranks = rankdata(table[:, active_latents(table, dead)], axis=0)
        ranks = ranks - ranks.mean(axis=0)
        ranked.append(ranks / np.sqrt((ranks**2).sum(axis=0)))
    pairs = np.zeros((len(tables), len(tables)))
    for i in range(len(tables)):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = _one_to_one(np.abs(ranked[i].T @ ranked[j]))
    per_model = [float(np.median(np.delete(row, i))) for i, row in enumerate(pairs)]
    return UDR(float(np.mean(per_model)), tuple(per_model), pairs)


def _one_to_one(similarity: Array) -> float:
    """Return how close the similarities (d_a, d_b) of two models are to one to one."""
    if not similarity.size:
        return 0.0
    total = 0.0
    for axis in (0, 1):
        best, whole = similarity.max(axis=axis), similarity.sum(axis=axis)
        total += float(np.divide(best**2, whole, out=np.zeros(len(whole)), where=whole > 0).sum())
    return min(1.0, total / sum(similarity.shape))
