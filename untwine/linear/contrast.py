"""The contrast test: whether the target has salient variation that the background lacks, and in how many dimensions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, overload

import numpy as np

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.linear.covariances import CHUNK, RANK_TOLERANCE, leading_axes, mean_and_covariance, pixel_scale
from untwine.registry.checks import check_int
from untwine.registry.sparse_vectors import is_sparse, to_dense
from untwine.samples import BACKGROUND, Samples

MAX_TESTED = 50  # directions; permutations of more would take minutes
MAX_EXACT_FEATURES = 1000  # with more of them the covariance would dominate time and memory
MAX_ELEMENTS = 50_000_000  # of samples with more features, as many are used as have so many elements
FURTHER = 5  # the level is divided by this for further directions, or 1 in 20 estimates of their number would be too large


@dataclass(frozen=True)
class ContrastTest:
    """The result of a permutation test for variation that only the target has.

    Parameters
    ----------
    p_value
        Of the statistic, under random permutations of the group labels.
    statistic
        The largest contrast of a direction, (a - b) / (a + b) with the variances a in the target and b in the background: 0
        where they are equal, 1 where only the target varies.
    n_salient
        The estimated number of salient dimensions; 0 where there is no salient variation.
    contrasts
        The contrast of each direction, largest first.
    p_values
        Of each direction tested, up to the first that is not significant.
    chance
        The critical contrast of each direction tested: the quantile 1 - level of its permutation null, with a fifth of the
        level for all directions but the first.
    permutations
        The number of permutations.
    """

    p_value: float
    statistic: float
    n_salient: int
    contrasts: tuple[float, ...]
    p_values: tuple[float, ...]
    chance: tuple[float, ...]
    permutations: int


@overload
def contrast_test(
    samples: Samples, *, permutations: int = ..., seed: int = ..., level: float = ..., per_target: Literal[False] = ...
) -> ContrastTest: ...


@overload
def contrast_test(
    samples: Samples, *, permutations: int = ..., seed: int = ..., level: float = ..., per_target: Literal[True]
) -> dict[str, ContrastTest]: ...


def contrast_test(
    samples: Samples, *, permutations: int = 199, seed: int = 0, level: float = 0.05, per_target: bool = False
) -> ContrastTest | dict[str, ContrastTest]:
    """Test whether the target has variation that the background lacks, and estimate in how many dimensions.

    Samples are centred within their group, so that a difference of means is no contrast, and whitened together. The statistic
    is the largest eigenvalue of the target's covariance, its permutation null that of as many samples drawn regardless of
    group. If it is significant, its direction is removed and the next one tested, until one is not: `n_salient` is the number
    of significant directions. All but the first are tested at a fifth of the level, or one estimate in twenty would be too
    large. Features of vectors are scaled to unit variance first. At most 50 leading principal components are tested, and at
    most a quarter of the number of samples. With more than 1000 features the components are approximate, and with more than 50
    million elements an evenly spaced subsample of each group is used. Where samples have sources, permutations draw whole
    sources, as samples of one source are not exchangeable with others.

    Parameters
    ----------
    samples
        Target and background, at least two samples of each.
    permutations
        The number of permutations; the smallest possible p-value is 1 / (permutations + 1). A second dimension can only be
        found if that is within a fifth of the level.
    seed
        Seed of the permutations.
    level
        The significance level, in (0, 1).
    per_target
        Test each target against the background by itself, and return the results by the names of the targets. Every test is at
        the given level: with many targets some are significant by chance.
    """
    _check(samples, permutations, seed, level)
    if per_target:
        return {name: contrast_test(one, permutations=permutations, seed=seed, level=level) for name, one in _targets(samples)}
    (target, background), sources = _subsample(samples), _sources(samples)
    Z, n = _whiten(target, background, samples.x.ndim > 2), target.shape[0]
    N, r = Z.shape
    if not r:
        return ContrastTest(1.0, 0.0, 0, (), (1.0,), (), permutations)
    values, vectors = np.linalg.eigh(Z[:n].T @ Z[:n] / n)
    values, Z = values[::-1], Z @ vectors[:, ::-1]
    rng = np.random.default_rng(seed)
    permuted = np.empty((permutations, r, r))
    for A in permuted:
        Z_permuted = Z[rng.permutation(N)[:n] if sources is None else _draw_sources(sources, n, rng)]
        A[:] = Z_permuted.T @ Z_permuted / len(Z_permuted)
    p_values, critical = _test_sequentially(values, permuted, level)
    n_salient = int((values[: len(critical)] > critical).sum())  # all but, at most, the last
    contrasts = _contrasts(values, n, N)
    return ContrastTest(p_values[0], contrasts[0], n_salient, contrasts, p_values, _contrasts(critical, n, N), permutations)


def contrast_record(samples: Samples) -> dict[str, Any]:
    """Return the result of `contrast_test` and the number of samples of each group, as a run folder stores them."""
    result = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(contrast_test(samples)).items()}
    targets = dict(_targets(samples))
    each = {
        name: {"p_value": one.p_value, "n_salient": one.n_salient, "samples": len(targets[name].target)}
        for name, one in (contrast_test(samples, per_target=True) if len(targets) > 1 else {}).items()
    }
    return result | {"target": len(samples.target), "background": len(samples.background)} | ({"targets": each} if each else {})


def _targets(samples: Samples) -> list[tuple[str, Samples]]:
    """Return each target that has samples, by name, together with the background."""
    groups = samples.groups if samples.groups is not None else np.zeros(len(samples), dtype=int)
    targets = np.unique(groups[groups != BACKGROUND]).tolist()
    return [(samples.group_names[target], samples[np.isin(groups, (BACKGROUND, target))]) for target in targets]


def _contrasts(values: Array, n: int, N: int) -> tuple[float, ...]:
    """Return contrasts from the target's variances in whitened directions, where all samples together have variance 1."""
    values = np.minimum(values, N / n)
    b = np.clip((N - n * values) / (N - n), 0, None)
    return tuple(map(float, (values - b) / (values + b)))


def _test_sequentially(values: Array, permuted: Array, level: float) -> tuple[tuple[float, ...], Array]:
    """Return the p-value of each direction up to the first that is not significant, and the critical variance of each."""
    p_values: list[float] = []
    critical: list[float] = []
    for k, value in enumerate(values):
        null = np.sort(np.linalg.eigvalsh(permuted[:, k:, k:])[:, -1])
        p_values.append((1 + int((null >= value).sum())) / (1 + len(permuted)))
        level_k = level / FURTHER if k else level
        exceeding = int(level_k * (1 + len(permuted)) + 1e-9)  # so many values of the null may be as large
        critical.append(float(null[-exceeding]) if exceeding else np.inf)
        if p_values[-1] > level_k:
            break
    return tuple(p_values), np.array(critical)


def _draw_sources(sources: Array, n: int, rng: np.random.Generator) -> Array:
    """Return the samples of random sources, as many as come nearest to n samples."""
    order = rng.permutation(int(sources.max()) + 1)
    totals = np.cumsum(np.bincount(sources)[order])
    return np.flatnonzero(np.isin(sources, order[: np.abs(totals - n).argmin() + 1]))


def _subsample(samples: Samples) -> tuple[Array, Array]:
    """Return target and background, flattened; an evenly spaced subsample of each where they have very many elements."""
    target, background = (
        side.x if is_sparse(side.x) else side.x.reshape(len(side), -1) for side in (samples.target, samples.background)
    )
    i, j = _subsample_indices(samples)
    return target[i], background[j]


def _subsample_indices(samples: Samples) -> tuple[Array | slice, Array | slice]:
    """Return which samples of target and background are used."""
    n, m = len(samples.target), len(samples.background)
    features = int(np.prod(samples.shape))
    elements = len(samples) * features
    if features <= MAX_EXACT_FEATURES or elements <= MAX_ELEMENTS:
        return slice(None), slice(None)
    i, j = (np.linspace(0, k - 1, max(2, int(k * MAX_ELEMENTS / elements))).astype(int) for k in (n, m))
    return i, j


def _sources(samples: Samples) -> Array | None:
    """Return the sources of the samples that are used, targets first; None where no source has several of them."""
    target, background = samples.target.sources, samples.background.sources
    if target is None or background is None:
        return None
    i, j = _subsample_indices(samples)
    sources = np.concatenate([target[i], background[j]])
    return repeated_sources(sources, len(sources))


def _whiten(target: Array, background: Array, is_image: bool) -> Array:
    """Return samples (N, r), targets first, centred within their group and with identity covariance."""
    scale = pixel_scale(target)
    most = max(1, min(MAX_TESTED, (target.shape[0] + background.shape[0] - 2) // 4))
    axes = (_axes if target.shape[1] <= MAX_EXACT_FEATURES else _approximate_axes)(target, background, is_image, most)
    projected = []
    for x in (target, background):
        k = x.shape[0]
        u = np.concatenate([to_dense(x[i : i + CHUNK]) / scale @ axes for i in range(0, k, CHUNK)])
        # About its own mean a small group varies less than a large one, which must not count as a contrast.
        projected.append((u - u.mean(0)) * np.sqrt(k / (k - 1)))
    U = np.concatenate(projected)
    values, vectors = np.linalg.eigh(U.T @ U / len(U))
    return np.asarray(U @ (vectors / np.sqrt(values)))


def _axes(target: Array, background: Array, is_image: bool, most: int) -> Array:
    """Return the leading principal axes (d, r) of both groups, of features scaled to unit variance unless they are pixels."""
    S = mean_and_covariance(target)[1] + mean_and_covariance(background)[1]
    scale = _scale(S.diagonal(), is_image)
    return leading_axes(S / np.outer(scale, scale), most) / scale[:, None]


def _approximate_axes(target: Array, background: Array, is_image: bool, most: int) -> Array:
    """Return them by a randomised SVD, without the covariance; the test keeps its level for any axes that ignore groups."""
    from sklearn.utils.extmath import randomized_svd

    centred = []
    for x in map(to_dense, (target, background)):  # at most `MAX_ELEMENTS`
        u = x.astype(np.float32) / np.float32(pixel_scale(x))
        mean = u.mean(axis=0, dtype=np.float64)
        u -= mean.astype(np.float32)
        u[:, np.sqrt(np.square(u).mean(axis=0)) <= 1e-6 * np.abs(mean)] = 0  # constant up to rounding
        centred.append(u / np.float32(np.sqrt(len(x) - 1)))
    U = np.concatenate(centred)
    scale = _scale(np.square(U).sum(axis=0, dtype=np.float64), is_image)
    U /= scale.astype(np.float32)
    _, singular_values, axes = randomized_svd(U, most, n_iter=2, random_state=0)
    positive = np.square(singular_values) > RANK_TOLERANCE * max(np.square(singular_values[0]), 0.0)
    return np.asarray(axes[positive].T / scale[:, None])


def _scale(variances: Array, is_image: bool) -> Array:
    return np.ones(len(variances)) if is_image else np.sqrt(np.where(variances > 0, variances, 1.0))


def _check(samples: Samples, permutations: int, seed: int, level: float) -> None:
    if not isinstance(samples, Samples):
        raise TypeError(
            f"samples must be Samples; got a {type(samples).__name__}; pass Samples.contrast(target=..., background=...)."
        )
    for group, count in (("target", len(samples.target)), ("background", len(samples.background))):
        if count < 2:
            raise ValueError(f"contrast_test needs at least 2 samples of {group}; got {count}; add more.")
    check_int("permutations", permutations, 1)
    check_int("seed", seed, 0)
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
