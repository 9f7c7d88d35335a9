"""Is there anything salient: whether the target varies where the background does not, and in how many dimensions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.linear.covariances import RANK_TOLERANCE, CHUNK, leading_axes, mean_and_covariance
from untwine.samples import Samples

MAX_TESTED = 50  # permutations of more directions would take minutes
MAX_EXACT_FEATURES = 1000  # of more columns the covariance itself takes longer than all else, and soon more memory than there is
MAX_ELEMENTS = 50_000_000  # of rows so wide, as many are looked at as have so many numbers
FURTHER = 5  # further directions must be beyond chance by this much more, or 1 in 20 estimates would be too large


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
    chance
        For each direction tested the contrast that it had to exceed, reached by labels at random once in 20 times, or in 100
        for the further ones.
    permutations
        How many times labels were shuffled.
    """

    p_value: float
    statistic: float
    n_salient: int
    contrasts: tuple[float, ...]
    p_values: tuple[float, ...]
    chance: tuple[float, ...]
    permutations: int


def contrast_test(samples: Samples, *, permutations: int = 199, seed: int = 0, level: float = 0.05) -> ContrastTest:
    """Test whether the target varies where the background does not, and estimate in how many dimensions.

    Rows are centred within their group, so a difference of means alone is no contrast, and whitened together. The largest
    eigenvalue of the target's covariance is then compared with those of as many rows drawn without regard to groups. If it
    is beyond chance, its direction is left out and the next one tested in the same way, until one is not: their number is
    `n_salient`. Further directions are held to a fifth of the level, or one estimate in twenty would be too large. Columns
    of vectors are brought to one variance first; of more than 50 columns the 50 leading principal components are looked at,
    and never more than a quarter of the number of rows. Of more than 1000 columns the components are approximate, and of
    more than 50 million numbers an even share of the rows of each group is looked at.

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
    target, background = _subsample(samples)
    Z, n = _whitened(target, background, samples.is_image), len(target)
    N, r = Z.shape
    if not r:
        return ContrastTest(1.0, 0.0, 0, (), (1.0,), (), permutations)
    values, vectors = np.linalg.eigh(Z[:n].T @ Z[:n] / n)
    values, Z = values[::-1], Z @ vectors[:, ::-1]
    rng = np.random.default_rng(seed)
    drawn = np.empty((permutations, r, r))
    for A in drawn:
        some = Z[rng.permutation(N)[:n]]
        A[:] = some.T @ some / n
    p_values, reached = _one_after_the_other(values, drawn, level)
    found = int((values[: len(reached)] > reached).sum())  # all but, at most, the last
    contrasts = _contrasts(values, n, N)
    return ContrastTest(p_values[0], contrasts[0], found, contrasts, p_values, _contrasts(reached, n, N), permutations)


def contrast_record(samples: Samples) -> dict[str, Any]:
    """Return the outcome of `contrast_test` and what it was made on, as a run folder keeps it."""
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(contrast_test(samples)).items()}
    return found | {"target": len(samples.target), "background": len(samples.background)}


def _contrasts(values: Array, n: int, N: int) -> tuple[float, ...]:
    """Return contrasts from the target's variances in whitened directions, in which all rows together have 1."""
    values = np.minimum(values, N / n)
    b = np.clip((N - n * values) / (N - n), 0, None)
    return tuple(map(float, (values - b) / (values + b)))


def _one_after_the_other(values: Array, drawn: Array, level: float) -> tuple[tuple[float, ...], Array]:
    """Return the p-value of each direction up to the first that may be chance, and the variance that each had to exceed."""
    p_values: list[float] = []
    reached: list[float] = []
    for k, value in enumerate(values):
        chance = np.sort(np.linalg.eigvalsh(drawn[:, k:, k:])[:, -1])
        p_values.append((1 + int((chance >= value).sum())) / (1 + len(drawn)))
        mine = level / FURTHER if k else level
        allowed = int(mine * (1 + len(drawn)) + 1e-9)  # so many of those drawn may be as large
        reached.append(float(chance[-allowed]) if allowed else np.inf)
        if p_values[-1] > mine:
            break
    return tuple(p_values), np.array(reached)


def _subsample(samples: Samples) -> tuple[Array, Array]:
    """Return target and background, flattened; of very many wide rows an even share of each."""
    target, background = (side.x.reshape(len(side), -1) for side in (samples.target, samples.background))
    numbers = target.size + background.size
    if target.shape[1] <= MAX_EXACT_FEATURES or numbers <= MAX_ELEMENTS:
        return target, background
    fewer = [max(2, int(len(x) * MAX_ELEMENTS / numbers)) for x in (target, background)]
    rows = [np.linspace(0, len(x) - 1, count).astype(int) for x, count in zip((target, background), fewer, strict=True)]
    return target[rows[0]], background[rows[1]]


def _whitened(target: Array, background: Array, is_image: bool) -> Array:
    """Return rows (N, r), targets first, centred within their group, with the identity as their covariance."""
    unit = 255.0 if target.dtype == np.uint8 else 1.0
    most = max(1, min(MAX_TESTED, (len(target) + len(background) - 2) // 4))
    axes = (_axes if target.shape[1] <= MAX_EXACT_FEATURES else _quick_axes)(target, background, is_image, most)
    parts = []
    for x in (target, background):
        rows = np.concatenate([x[i : i + CHUNK] / unit @ axes for i in range(0, len(x), CHUNK)])
        # About its own mean a small group varies less than a large one; labels could be told by that.
        parts.append((rows - rows.mean(0)) * np.sqrt(len(x) / (len(x) - 1)))
    U = np.concatenate(parts)
    values, vectors = np.linalg.eigh(U.T @ U / len(U))
    return np.asarray(U @ (vectors / np.sqrt(values)))


def _axes(target: Array, background: Array, is_image: bool, most: int) -> Array:
    """Return the leading principal axes (d, r) of both groups, for columns of one variance unless they are pixels."""
    S = mean_and_covariance(target)[1] + mean_and_covariance(background)[1]
    scale = _scale(S.diagonal(), is_image)
    return leading_axes(S / np.outer(scale, scale), most) / scale[:, None]


def _quick_axes(target: Array, background: Array, is_image: bool, most: int) -> Array:
    """Return about the same without the covariance; any axes that do not look at labels keep the test's level."""
    from sklearn.utils.extmath import randomized_svd

    parts = []
    for x in (target, background):
        rows = x.astype(np.float32) / np.float32(255 if x.dtype == np.uint8 else 1)
        mean = rows.mean(axis=0, dtype=np.float64)
        rows -= mean.astype(np.float32)
        rows[:, np.sqrt(np.square(rows).mean(axis=0)) <= 1e-6 * np.abs(mean)] = 0  # constant but for rounding
        parts.append(rows / np.float32(np.sqrt(len(x) - 1)))
    rows = np.concatenate(parts)
    scale = _scale(np.square(rows).sum(axis=0, dtype=np.float64), is_image)
    rows /= scale.astype(np.float32)
    _, sizes, axes = randomized_svd(rows, most, n_iter=2, random_state=0)
    found = np.square(sizes) > RANK_TOLERANCE * max(np.square(sizes[0]), 0.0)
    return np.asarray(axes[found].T / scale[:, None])


def _scale(variances: Array, is_image: bool) -> Array:
    return np.ones(len(variances)) if is_image else np.sqrt(np.where(variances > 0, variances, 1.0))


def _check(samples: Samples, permutations: int, seed: int, level: float) -> None:
    if not isinstance(samples, Samples):
        raise TypeError(
            f"contrast_test must be Samples; got a {type(samples).__name__}; "
            "make them with Samples.contrast(target=..., background=...)."
        )
    for side, count in (("target", len(samples.target)), ("background", len(samples.background))):
        if count < 2:
            raise ValueError(f"contrast_test expected at least 2 rows of {side}; got {count}; add some.")
    if isinstance(permutations, bool) or not isinstance(permutations, (int, np.integer)) or permutations < 1:
        raise ValueError(f"permutations must be a whole number of at least 1; got {permutations!r}.")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0; got {seed!r}.")
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1; got {level!r}.")
