"""Linear Gaussian target and background with known common and salient factors."""

from __future__ import annotations

import numpy as np

from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import Samples

COMMON_SCALE = 3.0
SALIENT_SCALE = 1.5


CARD = DataCard(
    source="drawn here.",
    licence="none.",
    size="4,000 vectors of 20 features in each group of each split.",
    files="none.",
    groups="0 without, 1 with salient factors.",
    labels="none.",
    factors="the true `common 0`, ... (z) and `salient 0`, ... (s, zero in the background).",
    sources="none: samples are independent.",
    studies={
        "ranking": "Ranking of runs without labels, beside their labelled scores",
        "untuned": "Data that nobody tuned for: contrastive methods with their defaults",
    },
)


@described(CARD)
def toy_contrast(
    *,
    n_target: int = 4000,
    n_background: int = 4000,
    n_features: int = 20,
    n_common: int = 5,
    n_salient: int = 2,
    noise: float = 0.3,
    seed: int = 0,
) -> Splits:
    """Vectors of a linear Gaussian model with known factors; only the target has salient ones.

    x = 3 z W_z + 1.5 s W_s + noise e, with z, s and e standard normal, s = 0 in the background, and the rows of W_z and W_s
    jointly orthonormal. The common variance is four times the salient one, so that the first principal components are common,
    and the salient one is 25 times that of the noise: the best estimate of s has a correlation of 0.98 with s.

    Parameters
    ----------
    n_target, n_background
        Number of samples of each group, in the training and in the test split.
    n_features
        Number of features of x, at least `n_common + n_salient`.
    n_common, n_salient
        Number of common and salient factors.
    noise
        Standard deviation of the noise in each feature.
    seed
        Decides W, which both splits share, and all samples.
    """
    n_target, n_background = check_int("n_target", n_target, 1), check_int("n_background", n_background, 1)
    n_common, n_salient = check_int("n_common", n_common, 1), check_int("n_salient", n_salient, 1)
    n_features = check_int("n_features", n_features, n_common + n_salient)
    noise, seed = check_float("noise", noise, 0), check_int("seed", seed, 0)
    W, _ = np.linalg.qr(np.random.default_rng([seed, 0]).standard_normal((n_features, n_common + n_salient)))
    scale = np.repeat([COMMON_SCALE, SALIENT_SCALE], [n_common, n_salient])
    names = (*(f"common {i}" for i in range(n_common)), *(f"salient {i}" for i in range(n_salient)))

    def draw(stream: int) -> Samples:
        rng = np.random.default_rng([seed, stream])
        groups = np.repeat([0, 1], [n_background, n_target])
        factors = rng.standard_normal((len(groups), n_common + n_salient))
        factors[:n_background, n_common:] = 0
        x = (factors * scale) @ W.T + noise * rng.standard_normal((len(groups), n_features))
        return Samples(x, groups=groups, factors=factors, factor_names=names)

    return Splits(draw(1), draw(2))


ENTRIES = {"toy_contrast": DataSet(toy_contrast)}
