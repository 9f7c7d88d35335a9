"""Do swapped parts arrive, and does the rest stay? A judge trained on real rows looks at the decoded ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import class_column, factor_columns
from untwine.metrics.held_out import random_parts
from untwine.metrics.judge import class_judge, factor_judge, judged_rows

PARTS = 5


class Swap(NamedTuple):
    """What `swap_accuracy` or `swap_preservation` found.

    Attributes
    ----------
    value
        The score of the swapped rows, in [0, 1].
    ceiling
        The same judge's score on real rows that it was not trained on.
    folds, ceiling_folds
        Both scores on five random parts of the rows.
    n
        How many swapped rows were judged.
    """

    value: float
    ceiling: float
    folds: tuple[float, ...]
    ceiling_folds: tuple[float, ...]
    n: int


def swap_accuracy(
    real_x: ArrayLike,
    real_labels: ArrayLike,
    swapped_x: ArrayLike,
    wanted_labels: ArrayLike,
    held_x: ArrayLike | None = None,
    held_labels: ArrayLike | None = None,
    seed: int = 0,
) -> Swap:
    """Return the share of swapped rows that show the class of the row that gave the salient part.

    A small network (three convolutions on images of at most 32 x 32, an MLP on vectors; 400 steps of 64 rows, or 8 a class
    where those are more (version 2; 400 in version 1); fixed seed) is trained on real rows and their labels, and then asked for
    the class of each swapped row. In [0, 1], higher is better: 1 means that the swapped part always arrives; where donors are
    always of another class, 0 means that it never does. Hardly any method comes above `ceiling`, the judge's accuracy on the
    real rows `held_x`; where those are not given, a random fifth of the real rows is kept from training for it.

    Parameters
    ----------
    real_x, real_labels
        Real rows, vectors (n, d) or images (n, C, H, W), and their classes.
    swapped_x, wanted_labels
        Decoded rows of the same shape, and the class of each one's salient donor.
    held_x, held_labels
        Real rows that the judge must not be trained on, and their classes.
    """
    rows, held, swapped = _three(real_x, held_x, swapped_x)
    sizes = [np.size(labels) for labels in (real_labels, held_labels, wanted_labels) if labels is not None]
    given = [np.asarray(labels).ravel() for labels in (real_labels, held_labels, wanted_labels) if labels is not None]
    classes = np.split(class_column(np.concatenate(given), sum(sizes)), np.cumsum(sizes)[:-1])
    if sizes[0] != len(rows) or sizes[-1] != len(swapped) or len(sizes) != (2 if held is None else 3):
        raise ValueError(
            f"swap_accuracy must be one label for each row; got {sizes} labels for {len(rows)} real, "
            f"{0 if held is None else len(held)} held-out and {len(swapped)} swapped rows."
        )
    if len(np.unique(classes[0])) < 2:
        raise ValueError(f"swap_accuracy expected at least 2 classes of real rows; got 1 in {len(rows)} rows; pass more.")
    if held is None:
        train, test = _fifth(len(rows), seed)
        rows, held, classes = rows[train], rows[test], [classes[0][train], classes[0][test], classes[1]]
    judge = class_judge(rows, classes[0], int(max(c.max() for c in classes)) + 1, seed)
    right, real = judge(swapped) == classes[-1], judge(held) == classes[1]
    folds = tuple(float(right[part].mean()) for part in random_parts(np.arange(len(right)), PARTS, seed))
    ceiling = tuple(float(real[part].mean()) for part in random_parts(np.arange(len(real)), PARTS, seed))
    return Swap(float(right.mean()), float(real.mean()), folds, ceiling, len(right))


def swap_preservation(
    real_x: ArrayLike,
    real_factors: ArrayLike,
    swapped_x: ArrayLike,
    wanted_factors: ArrayLike,
    held_x: ArrayLike | None = None,
    held_factors: ArrayLike | None = None,
    seed: int = 0,
) -> Swap:
    """Return how much of the common factors swapped rows keep: those of the row that gave the common part.

    A network as in `swap_accuracy` learns to read the factors (n, k) from real rows (squared error), and reads them from
    swapped ones. Per factor R2 = 1 - sum_i (y_i - yhat_i)^2 / sum_i (y_i - mean y)^2, y being the common donor's, **cut off
    below at 0**; then the mean over the factors that vary. In [0, 1], higher is better: 1 means that a swap leaves the
    common factors alone, 0 that the image tells nothing of them any more. `ceiling` is the same on real rows `held_x`, or on
    a random fifth of the real rows, kept from training. Unknown factors (NaN) are left out.
    """
    rows, held, swapped = _three(real_x, held_x, swapped_x)
    truth, wanted = factor_columns(real_factors, len(rows)), factor_columns(wanted_factors, len(swapped))
    if held is None:
        train, test = _fifth(len(rows), seed)
        rows, held, truth, kept = rows[train], rows[test], truth[train], truth[test]
    elif held_factors is None:
        raise ValueError("swap_preservation expected held_factors beside held_x; got None; pass both or none.")
    else:
        kept = factor_columns(held_factors, len(held))
    if len({truth.shape[1], wanted.shape[1], kept.shape[1]}) > 1:
        raise ValueError(
            f"swap_preservation must be the same factors of all rows; got {truth.shape[1]} of real, {kept.shape[1]} of "
            f"held-out and {wanted.shape[1]} of swapped rows."
        )
    scored = [all(_varies(column) for column in columns) for columns in zip(truth.T, wanted.T, kept.T, strict=True)]
    if not any(scored):
        raise ValueError(f"swap_preservation must be a factor that varies, but none of the {truth.shape[1]} does; pass others.")
    judge = factor_judge(rows, truth[:, scored], seed)
    wanted, kept = wanted[:, scored], kept[:, scored]
    value, folds = _explained(wanted, judge(swapped), seed)
    ceiling, ceiling_folds = _explained(kept, judge(held), seed)
    return Swap(value, ceiling, folds, ceiling_folds, len(swapped))


def other_class(labels: ArrayLike, seed: int = 0) -> Array:
    """Return for each row the index of a random row of another class: the donor of its new salient part."""
    labels = class_column(labels, np.size(labels))
    sizes = np.bincount(labels)
    if len(sizes) < 2:
        raise ValueError(f"other_class expected at least 2 classes; got 1 in {len(labels)} rows; pass more rows.")
    order, starts = np.argsort(labels, kind="stable"), np.cumsum(sizes) - sizes
    # A random place in the list of all rows without those of the own class, which stand together.
    place = (np.random.default_rng(seed).random(len(labels)) * (len(labels) - sizes[labels])).astype(int)
    return np.asarray(order[place + np.where(place >= starts[labels], sizes[labels], 0)])


def _three(real: ArrayLike, held: ArrayLike | None, swapped: ArrayLike) -> tuple[Any, Any, Any]:
    rows, other = judged_rows(real, "real_x"), judged_rows(swapped, "swapped_x")
    kept = None if held is None else judged_rows(held, "held_x")
    if any(part.shape[1:] != rows.shape[1:] for part in (other, *(() if kept is None else (kept,)))):
        raise ValueError(
            f"swapped rows expected the shape of real ones, {tuple(rows.shape[1:])}; got {tuple(other.shape[1:])}."
        )
    if len(rows) < 2 * PARTS:
        raise ValueError(f"real_x expected at least {2 * PARTS} rows to train a judge on; got {len(rows)}; pass more.")
    return rows, kept, other


def _fifth(rows: int, seed: int) -> tuple[Array, Array]:
    order = np.random.default_rng(seed).permutation(rows)
    return order[rows // 5 :], order[: rows // 5]


def _varies(column: Array) -> bool:
    known = column[~np.isnan(column)]
    return bool(len(known) and np.ptp(known) > 0)


def _explained(truth: Array, read: Array, seed: int) -> tuple[float, tuple[float, ...]]:
    """Return the mean R2, and that of random parts of the rows, over the variance of all of them."""
    ratios = (truth - read) ** 2 / np.nanvar(truth, axis=0)
    parts = random_parts(np.arange(len(truth)), PARTS, seed)
    return _r2(ratios), tuple(_r2(ratios[part]) for part in parts if not np.isnan(ratios[part]).all(0).any())


def _r2(ratios: Array) -> float:
    return float(np.maximum(0.0, 1.0 - np.nanmean(ratios, axis=0)).mean())
