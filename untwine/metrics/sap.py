"""Separated attribute predictability: whether each factor is predicted by one latent better than by any other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import centred, check_codes
from untwine.metrics.directions import HIGHER
from untwine.metrics.encoded import Encoded
from untwine.metrics.ground_truth import DEAD, Continuous, active_latents, top_two_gaps, typed_factors, varying_mask
from untwine.metrics.held_out import Split, check_split, random_folds
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.options import Options
from untwine.metrics.requirements import BLOCK_FACTOR
from untwine.metrics.resampling import measure_over_halves
from untwine.metrics.thresholds import balanced_accuracies
from untwine.training.threads import one_thread

Classifier = Literal["thresholds", "svm"]


class SAP(NamedTuple):
    """The SAP score.

    Attributes
    ----------
    sap
        The score, in [0, 1].
    per_factor
        The gap of each factor; 0 for one that does not vary.
    matrix
        The score of each latent, or group of latents, for each factor.
    members
        The group of each latent, from 0; latents are their own groups unless `correlated` is given.
    """

    sap: float
    per_factor: tuple[float, ...]
    matrix: Array
    members: Array


def sap_score(
    codes: ArrayLike,
    factors: ArrayLike,
    continuous: Continuous = None,
    classifier: Classifier = "thresholds",
    correlated: float | None = None,
    dead: float = DEAD,
    split: Split | None = None,
    seed: int = 0,
    sources: ArrayLike | None = None,
) -> SAP:
    """Return the SAP score of codes (n, d) for factors (n, k) (Kumar et al. 2018, section 3).

    S_ij is how well latent i alone predicts factor j: for a continuous factor R2 of a line, for a class the best **balanced**
    accuracy that thresholds on the latent reach on these very samples (one fewer than there are classes). The
    score is the mean over factors of the gap between the two largest S_ij. In [0, 1], higher is better: 0 means that the best
    two latents predict alike (constant and duplicated codes, and those rotated so far that two latents share each factor
    evenly, as by 45 degrees; a slight rotation leaves a gap); 1 that one latent predicts a factor perfectly and no other is
    active, or predicts any of it. For k classes thresholds on active noise already reach a little more than 1/k, so perfect
    codes of classes get (k - 1) / k. Order, sign and scale of latents do not matter, except for which latents are inactive. A
    latent that encodes two factors is not penalised.

    Parameters
    ----------
    continuous
        Integer factors are classes and floats are continuous, unless a bool says otherwise, one for all or for each.
    classifier
        "svm" takes for classes the plain accuracy of a linear SVM (C = 0.01, balanced class weights) on held-out samples, as
        disentanglement_lib does, and fits the lines of continuous factors on the train samples; not the paper's definition.
        It depends on scale and mean of a latent, and of more than two values it misses those in the middle: perfect codes of
        four get about 0.5, constant and duplicated ones 0, those rotated evenly nearly 0.
    correlated
        Latents whose absolute correlation exceeds this form one group, which counts as one: R2 of a linear regression on all
        of its latents, and for classes the best latent of it.
    dead
        Latents with less than this share of the largest standard deviation are inactive and score 0.
    split
        For the SVM, two sets of samples (train, test); without it a random third is held out by `seed`, of whole
        `sources` (n,) where given.

    Notes
    -----
    Version 1: thresholds exact, intervals may repeat a class; a factor that never varies is left out of the mean.
    """
    codes = check_codes(codes)
    columns, scale = typed_factors(factors, len(codes), continuous)
    varies = varying_mask(columns, "sap_score")
    active = active_latents(codes, dead)
    fit = test = np.arange(len(codes))
    if classifier == "svm":
        fit, test = check_split(split, len(codes)) if split is not None else random_folds(len(codes), 3, seed, sources)[0]
    elif classifier != "thresholds" or split is not None:
        raise ValueError(f"classifier must be 'thresholds' or 'svm', and 'svm' where split is given; got {classifier!r}.")
    members = _groups(codes[fit], active, correlated)
    matrix = np.zeros((codes.shape[1], columns.shape[1]))
    lines, classes = np.flatnonzero(varies & scale), np.flatnonzero(varies & ~np.array(scale))
    matrix[:, lines] = _r2(codes[fit], columns[fit][:, lines])
    if classifier == "svm":
        matrix[:, classes] = _svm(codes, columns[:, classes].astype(int), active, fit, test)
    else:
        matrix[:, classes] = balanced_accuracies(codes, columns[:, classes].astype(int))
    matrix[~active] = 0.0
    if correlated is not None:
        matrix = np.stack([matrix[members == g].max(axis=0) for g in range(members.max() + 1)])
        for g in np.flatnonzero(np.bincount(members) > 1):
            matrix[g, lines] = _joint_r2(codes[fit][:, members == g], columns[fit][:, lines])
    per_factor = np.where(varies, top_two_gaps(matrix), 0.0)
    return SAP(float(per_factor[varies].mean()), tuple(per_factor.tolist()), matrix, members)


def _r2(codes: Array, factors: Array) -> Array:
    """Return the R2 (d, k) of a line from each latent to each factor: their squared correlation."""
    z, y = centred(codes), centred(factors)
    shared = (z.T @ y) ** 2
    scale = np.outer((z**2).sum(0), (y**2).sum(0))
    return np.asarray(np.divide(shared, scale, out=np.zeros(shared.shape), where=scale > 0))


def _joint_r2(codes: Array, factors: Array) -> Array:
    z, y = centred(codes), centred(factors)
    rest = y - z @ np.linalg.lstsq(z, y, rcond=1e-10)[0]
    return np.asarray(1.0 - (rest**2).sum(0) / (y**2).sum(0))


def _groups(codes: Array, active: Array, correlated: float | None) -> Array:
    """Return the group of each latent: those that are joined by a chain of correlations above the bound."""
    from scipy.sparse.csgraph import connected_components

    d = codes.shape[1]
    if correlated is None:
        return np.arange(d)
    if not 0 < correlated < 1:
        raise ValueError(f"correlated must be a correlation between 0 and 1; got {correlated}.")
    near = _r2(codes, codes) > correlated**2
    near &= np.outer(active, active)
    return np.asarray(connected_components(near, directed=False)[1])


def _svm(codes: Array, classes: Array, active: Array, fit: Array, test: Array) -> Array:
    from sklearn.svm import LinearSVC

    scores = np.zeros((codes.shape[1], classes.shape[1]))
    with one_thread():
        for i in np.flatnonzero(active):
            for j, y in enumerate(classes.T):
                if len(np.unique(y[fit])) < 2:
                    raise ValueError(
                        "every factor must vary among the train samples; got one that does not; choose another split."
                    )
                model = LinearSVC(C=0.01, class_weight="balanced", dual=False).fit(codes[fit, i : i + 1], y[fit])
                scores[i, j] = model.score(codes[test, i : i + 1], y[test])
    return scores


@dataclass(frozen=True)
class SAPOptions(Options):
    """Options of the metric `sap`.

    Parameters
    ----------
    correlated
        Latents whose absolute correlation exceeds this form one group, which counts as one latent (Kumar et al. 2018, end of
        section 3); `None` takes each latent alone.
    classifier
        For classes, `thresholds` on a latent, as in the paper, or a linear `svm`, as in disentanglement_lib.
    """

    correlated: Annotated[float, Gt(0), Lt(1)] | None = None
    classifier: Classifier = "thresholds"


def _measure(data: Encoded, options: SAPOptions) -> Iterator[Measurement]:
    score = partial(sap_score, correlated=options.correlated, classifier=options.classifier)
    factors = data.factors_by_block(few_values=True)
    yield from measure_over_halves(factors, score, {"sap": "sap"}, data.seeds, 1, data.block_sources)


METRIC = Metric(
    name="sap",
    function=_measure,
    description="SAP score: the gap between the two latents that predict a factor best.",
    scores={
        "sap": ScoreInfo(
            "Does one latent predict a factor much better than the next best does? SAP score, from 0 to 1.", HIGHER
        )
    },
    requires=(BLOCK_FACTOR,),
    options=SAPOptions(),
)
