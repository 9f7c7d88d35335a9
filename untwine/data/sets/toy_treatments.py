"""Linear Gaussian background and several treatments with known common factors and responses that overlap."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

COMMON_SCALE = 3.0
RESPONSE_SCALE = 1.5
SHIFT = 3.0  # of the mean response, in standard deviations


CARD = DataCard(
    source="drawn here.",
    licence="none.",
    size="500 vectors of 20 features in each of four groups of each split.",
    files="none.",
    groups="0 the controls, 1 and above the treatments `drug_a`, `drug_b`, ...",
    labels="none.",
    factors="the true `common 0`, ... (z), and for each treatment its response `salient drug_a 0`, ... (r), which samples of "
    "other groups do not have (NaN).",
    sources="none: samples are independent.",
    studies={"treatments": "A salient block for each of three treatments"},
)


@described(CARD)
def toy_treatments(
    *,
    n_target: int = 500,
    n_background: int = 500,
    n_targets: int = 3,
    n_features: int = 20,
    n_common: int = 5,
    n_response: int = 1,
    overlap: float = 0.5,
    shift: float = SHIFT,
    noise: float = 0.3,
    seed: int = 0,
) -> Splits:
    """Vectors of a linear Gaussian model with controls and several treatments, whose responses overlap.

    x = 3 z W_z + 1.5 (shift + r) U_k + noise e for a sample of treatment k, with z, r and e standard normal; the controls have
    no third term. The rows of W_z are orthonormal; the rows of U_k are of length 1 and orthogonal to those of W_z and to each
    other. The same row of two treatments has the cosine `overlap`: no direction belongs to one treatment alone. With `shift` 0
    a weak response looks like that of another treatment, and nothing can tell them apart.

    Parameters
    ----------
    n_target, n_background
        Number of samples of each treatment, and of the controls, in the training and in the test split.
    n_targets
        Number of treatments, at most 26.
    n_features
        Number of features of x, at least `n_common + n_targets * n_response`.
    n_common, n_response
        Number of common factors, and of response factors of each treatment.
    overlap
        Cosine between the response directions of two treatments, at least 0 and below 1.
    shift
        Mean response of every treatment, in standard deviations of the response.
    noise
        Standard deviation of the noise in each feature.
    seed
        Decides the directions, which both splits share, and all samples.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    n_targets, n_response = check_int("n_targets", n_targets, 1), check_int("n_response", n_response, 1)
    n_common = check_int("n_common", n_common, 1)
    n_features = check_int("n_features", n_features, n_common + n_targets * n_response)
    noise, seed = check_float("noise", noise, 0), check_int("seed", seed, 0)
    overlap, shift = check_float("overlap", overlap, 0), check_float("shift", shift, 0)
    if overlap >= 1:
        raise ValueError(f"overlap must be below 1, or all treatments would be one; got {overlap}; lower it.")
    if n_targets > 26:
        raise ValueError(f"n_targets must be at most 26, one for each letter; got {n_targets}; lower it.")
    W, U = _directions(np.random.default_rng([seed, 0]), n_features, n_common, n_targets, n_response, overlap)
    drugs = [f"drug_{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"[:n_targets]]
    names = (*(f"common {i}" for i in range(n_common)), *(f"salient {drug} {i}" for drug in drugs for i in range(n_response)))

    def draw(stream: int) -> Samples:
        rng = np.random.default_rng([seed, stream])
        groups = np.repeat(np.arange(n_targets + 1), [n_background, *[n_target] * n_targets])
        z = rng.standard_normal((len(groups), n_common))
        r = rng.standard_normal((len(groups), n_response))
        response = RESPONSE_SCALE * (shift + r) * (groups > 0)[:, None]
        x = COMMON_SCALE * z @ W + np.einsum("ni,nij->nj", response, U[np.maximum(groups - 1, 0)])
        x += noise * rng.standard_normal(x.shape)
        own = np.arange(n_targets) == groups[:, None] - 1
        responses = np.where(own[:, :, None], r[:, None], np.nan).reshape(len(groups), -1)
        factors = np.hstack([z, responses])
        return Samples(x, groups=groups, factors=factors, group_names=("control", *drugs), factor_names=names)

    return Splits(draw(1), draw(2))


def _directions(
    rng: np.random.Generator, n_features: int, n_common: int, n_targets: int, n_response: int, overlap: float
) -> tuple[Array, Array]:
    """Return the common directions (n_common, d), and those of each treatment (n_targets, n_response, d)."""
    basis, _ = np.linalg.qr(rng.standard_normal((n_features, n_common + n_targets * n_response)))
    own = basis.T[n_common:].reshape(n_targets, n_response, n_features)
    cosines = overlap + (1 - overlap) * np.eye(n_targets)
    return basis.T[:n_common], np.einsum("kj,jif->kif", np.linalg.cholesky(cosines), own)


ENTRIES = {"toy_treatments": DataSet(toy_treatments)}
