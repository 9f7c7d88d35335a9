"""Which settings disentangle, told without labels: models of several seeds agree on their latents where they do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import code_rows
from untwine.metrics.truths import DEAD, live


class UDR(NamedTuple):
    """What `udr` found: the score of the setting, that of each model, and those of all pairs (m, m), 0 on the diagonal."""

    udr: float
    per_model: tuple[float, ...]
    pairs: Array


def udr(codes: Sequence[ArrayLike], dead: float = DEAD) -> UDR:
    """Return the unsupervised disentanglement ranking of several models' codes (n, d_m) of the same rows (Duan et al. 2020).

    R_ab is the absolute rank correlation of latent a of one model and b of another. Of a pair of models
    (1 / (d_a + d_b)) [sum_b r_b^2 / sum_a R_ab + sum_a r_a^2 / sum_b R_ab], r being the largest entry of a column or row, over
    the latents that are alive. A model's score is the median over the others, that of the setting the mean over its models.
    In [0, 1], higher is better: 1 means that every latent of one model is one latent of the other, up to sign, order and any
    monotone scale; chance correlations of few rows keep it a little below. Models that mix the same truth differently (rotated
    against perfect ones) score low, unrelated ones near 0, a model without a live latent 0. Where every latent of both comes
    twice it is halved; where those of one do, it is 1 - d_a / (2 (d_a + d_b)), d_a being the fewer.

    Use it to choose among settings: train several seeds of each, and take the setting whose score is highest. Blind to
    what all models of a setting share, be it wrong.

    Parameters
    ----------
    dead
        Latents with less than this share of the largest deviation are left out.

    Version 1: Spearman's correlation, no regression; liveness by deviation instead of by KL divergence.
    """
    from scipy.stats import rankdata

    tables = [code_rows(one) for one in codes]
    if len(tables) < 2 or len({len(table) for table in tables}) > 1 or len(tables[0]) < 3:
        raise ValueError(
            f"udr expected codes of the same rows, at least 3, from at least 2 models; got {[t.shape for t in tables]}."
        )
    ranked = []
    for table in tables:
        ranks = rankdata(table[:, live(table, dead)], axis=0)
        ranks = ranks - ranks.mean(axis=0)
        ranked.append(ranks / np.sqrt((ranks**2).sum(axis=0)))
    many = len(tables)
    pairs = np.zeros((many, many))
    for i in range(many):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = _agreement(np.abs(ranked[i].T @ ranked[j]))
    per_model = [float(np.median(np.delete(row, i))) for i, row in enumerate(pairs)]
    return UDR(float(np.mean(per_model)), tuple(per_model), pairs)


def _agreement(similarity: Array) -> float:
    """Return how close the similarities (d_a, d_b) of two models are to one to one."""
    if not similarity.size:
        return 0.0
    total = 0.0
    for axis in (0, 1):
        best, whole = similarity.max(axis=axis), similarity.sum(axis=axis)
        total += float(np.divide(best**2, whole, out=np.zeros(len(whole)), where=whole > 0).sum())
    return min(1.0, total / sum(similarity.shape))
