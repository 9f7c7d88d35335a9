"""Target against background, as two covariances: where they differ, whether more than by chance, in how many dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from untwine.samples import Array, Samples

ROWS_AT_ONCE = 1024
MOST_DIRECTIONS = 500  # beyond these, closed forms would take minutes
MOST_TESTED = 50  # and permutations of them hours
FURTHER = 5  # further directions must be beyond chance by this much more, or 1 in 20 estimates would be too large
RANK = 1e-10  # a variance below this share of the largest one is rounding


@dataclass(frozen=True, eq=False)
class Comparison:
    """Target and background in the r leading directions in which either varies.

    Parameters
    ----------
    origin
        The mean of the background, over d flattened columns.
    axes
        The directions (d, r), orthonormal: the leading eigenvectors of A + B, without those that have no variance.
    A, B
        The covariances (r, r) of target and of background, each about its own mean.
    n, m
        The number of rows of target and of background.
    target_variance, background_variance
        The variance over all d columns.
    """

    origin: Array
    axes: Array
    A: Array
    B: Array
    n: int
    m: int
    target_variance: float
    background_variance: float


def compare(samples: Samples) -> Comparison:
    """Return both covariances in the directions that matter, in double precision; pictures are flattened, in [0, 1]."""
    target, background = samples.target.x, samples.background.x
    (_, A), (origin, B) = moments(target), moments(background)
    axes = leading_axes(A + B, MOST_DIRECTIONS)
    inside = (axes.T @ A @ axes, axes.T @ B @ axes)
    return Comparison(origin, axes, *inside, len(target), len(background), float(np.trace(A)), float(np.trace(B)))


def moments(x: Array) -> tuple[Array, Array]:
    """Return mean (d,) and covariance (d, d), with 1 / (n - 1), of flattened rows; in parts, for pictures are kept as bytes."""
    flat, unit = x.reshape(len(x), -1), 255.0 if x.dtype == np.uint8 else 1.0
    mean = flat.mean(axis=0, dtype=np.float64) / unit
    scatter = np.zeros((flat.shape[1], flat.shape[1]))
    for start in range(0, len(flat), ROWS_AT_ONCE):
        rows = flat[start : start + ROWS_AT_ONCE] / unit - mean
        scatter += rows.T @ rows
    # A column that differs by the rounding of single precision alone is constant.
    constant = np.sqrt(scatter.diagonal() / len(flat)) <= 1e-7 * np.abs(mean)
    scatter[constant], scatter[:, constant] = 0, 0
    return mean, scatter / (len(flat) - 1)


def leading_axes(S: Array, most: int) -> Array:
    """Return the leading eigenvectors (d, r) of a covariance, at most so many, without those that have no variance."""
    from scipy import linalg

    d = len(S)
    values, vectors = linalg.eigh(S, subset_by_index=(max(0, d - most), d - 1))
    found = values > RANK * max(values[-1], 0.0)
    return np.asarray(vectors[:, found][:, ::-1])


@dataclass(frozen=True)
class ContrastTest:
    """Whether the target varies where the background does not.

    Parameters
    ----------
    p_value
        How often labels at random give a statistic as large.
    statistic
        The largest contrast of a direction, (a - b) / (a + b) with the variances a in the target and b in the background: 0
        where they are equal, 1 where only the target varies.
    n_salient
        The estimated number of salient dimensions; 0 where nothing is.
    contrasts
        The contrast of each direction, largest first.
    p_values
        One for each direction tested, up to the first that may be chance.
    permutations
        How many times labels were shuffled.
    """

    p_value: float
    statistic: float
    n_salient: int
    contrasts: tuple[float, ...]
    p_values: tuple[float, ...]
    permutations: int


def contrast_test(samples: Samples, *, permutations: int = 199, seed: int = 0, level: float = 0.05) -> ContrastTest:
    """Test whether the target varies where the background does not, and estimate in how many dimensions.

    Rows are centred within their group, so a difference of means alone is no contrast, and whitened together. The largest
    eigenvalue of the target's covariance is then compared with those of as many rows drawn without regard to groups. If it
    is beyond chance, its direction is left out and the next one tested in the same way, until one is not: their number is
    `n_salient`. Further directions are held to a fifth of the level, or one estimate in twenty would be too large. Columns
    of vectors are brought to one variance first; of more than 50 columns the 50 leading principal components are looked at,
    and never more than a quarter of the number of rows.

    Parameters
    ----------
    samples
        Target and background, at least two rows of each.
    permutations
        How many times labels are shuffled; the least p-value is 1 / (permutations + 1). To find a second dimension it must be
        within a fifth of the level.
    seed
        Decides the shuffles.
    level
        A p-value above this may be chance.
    """
    _check(samples, permutations, seed, level)
    Z, n = _whitened(samples), len(samples.target)
    N, r = Z.shape
    if not r:
        return ContrastTest(1.0, 0.0, 0, (), (1.0,), permutations)
    values, vectors = np.linalg.eigh(Z[:n].T @ Z[:n] / n)
    values, Z = values[::-1], Z @ vectors[:, ::-1]
    rng = np.random.default_rng(seed)
    drawn = np.empty((permutations, r, r))
    for A in drawn:
        some = Z[rng.permutation(N)[:n]]
        A[:] = some.T @ some / n
    p_values, found = _one_after_the_other(values, drawn, level)
    b = np.clip((N - n * values) / (N - n), 0, None)  # for the whitened covariance of all rows is 1
    contrasts = tuple(map(float, (values - b) / (values + b)))
    return ContrastTest(p_values[0], contrasts[0], found, contrasts, p_values, permutations)


def _one_after_the_other(values: Array, drawn: Array, level: float) -> tuple[tuple[float, ...], int]:
    """Return the p-value of each direction up to the first that may be chance, and the number of those before it."""
    p_values: list[float] = []
    for k, value in enumerate(values):
        chance = np.linalg.eigvalsh(drawn[:, k:, k:])[:, -1]
        p_values.append((1 + int((chance >= value).sum())) / (1 + len(drawn)))
        if p_values[-1] > (level / FURTHER if k else level):
            return tuple(p_values), k
    return tuple(p_values), len(p_values)


def _whitened(samples: Samples) -> Array:
    """Return rows (N, r), targets first, centred within their group, with the identity as their covariance."""
    sides = samples.target.x, samples.background.x
    (mean_a, A), (mean_b, B) = (moments(x) for x in sides)
    variances = (A + B).diagonal()
    scale = np.ones(len(A)) if samples.is_image else np.sqrt(np.where(variances > 0, variances, 1.0))
    most = max(1, min(MOST_TESTED, (len(samples) - 2) // 4))
    axes = leading_axes((A + B) / np.outer(scale, scale), most) / scale[:, None]
    unit = 255.0 if samples.x.dtype == np.uint8 else 1.0
    parts = []
    for x, mean in zip(sides, (mean_a, mean_b), strict=True):
        flat = x.reshape(len(x), -1)
        rows = [(flat[i : i + ROWS_AT_ONCE] / unit - mean) @ axes for i in range(0, len(x), ROWS_AT_ONCE)]
        # About its own mean a small group varies less than a large one; labels could be told by that.
        parts.append(np.concatenate(rows) * np.sqrt(len(x) / (len(x) - 1)))
    U = np.concatenate(parts)
    values, vectors = np.linalg.eigh(U.T @ U / len(U))
    return np.asarray(U @ (vectors / np.sqrt(values)))


def _check(samples: Samples, permutations: int, seed: int, level: float) -> None:
    if not isinstance(samples, Samples):
        raise TypeError(
            f"contrast_test expected Samples, but got a {type(samples).__name__}; "
            "make them with Samples.contrast(target=..., background=...)."
        )
    for side, count in (("target", len(samples.target)), ("background", len(samples.background))):
        if count < 2:
            raise ValueError(f"contrast_test expected at least 2 rows of {side}, but got {count}; add some.")
    if isinstance(permutations, bool) or not isinstance(permutations, (int, np.integer)) or permutations < 1:
        raise ValueError(f"permutations expected a whole number of at least 1, but got {permutations!r}.")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed expected a whole number of at least 0, but got {seed!r}.")
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"level expected a number between 0 and 1, but got {level!r}.")
