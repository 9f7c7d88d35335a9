"""What a small network reads from codes of class and content, and how far a moved content is from the truth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.metrics.checks import class_column, code_rows
from untwine.metrics.held_out import Split, random_parts, split_rows
from untwine.metrics.judge import class_judge, judged_rows

PARTS = 5
HELD_OUT = 1 / 3


class Reading(NamedTuple):
    """What `reading` found.

    Attributes
    ----------
    accuracy
        The share of held-out rows that get their class.
    chance
        The share of the most frequent class among all rows: what guessing it gives.
    parts
        The accuracy on random parts of the held-out rows.
    n
        How many rows were held out.
    """

    accuracy: float
    chance: float
    parts: tuple[float, ...]
    n: int


def reading(codes: ArrayLike, labels: ArrayLike, seed: int = 0, split: Split | None = None) -> Reading:
    """Return how well a small network reads labels (n,) from codes (n, d), held out.

    The network has two hidden layers of 128 units, ReLU, and is trained for 400 steps of 64 rows, or 8 a class where those
    are more (version 2; 400 in version 1), by Adam on the cross-entropy; a third of the rows, drawn at random, is held out. In
    [0, 1]: 1 means that the codes tell the class, `chance` that they tell nothing. Unlike `probe` it also finds what straight
    cuts do not. With `split`, two sets of rows (train, test) as indices or masks, these are taken.
    """
    codes = code_rows(codes)
    labels = class_column(labels, len(codes))
    if split is None:
        order = np.random.default_rng(seed).permutation(len(codes))
        many = max(1, round(HELD_OUT * len(codes)))
        split = order[many:], order[:many]
    train, test = split_rows(split, len(codes))
    if len(np.unique(labels[train])) < 2:
        raise ValueError(f"reading expected at least 2 classes to learn; got 1 in {len(train)} rows; pass more rows.")
    judge = class_judge(judged_rows(codes[train], "codes"), labels[train], int(labels.max()) + 1, seed)
    right = np.zeros(len(codes), dtype=bool)
    right[test] = judge(judged_rows(codes[test], "codes")) == labels[test]
    # Of all rows: where classes are equally many, the one that is most frequent in one part is rare in the other.
    chance = float(np.bincount(labels[np.concatenate([train, test])]).max() / (len(train) + len(test)))
    parts = [float(right[part].mean()) for part in random_parts(test, PARTS, seed)]
    return Reading(float(right[test].mean()), chance, tuple(parts), len(test))


def content_combinations(labels: ArrayLike, factors: ArrayLike) -> Array | None:
    """Return for each row (n,) the number of its combination of content factors; None where no factor is content.

    A factor that does not vary within any class tells only the class, and is none of content.
    """
    classes, columns = np.asarray(labels), np.asarray(factors, dtype=float)
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(classes[order]) != 0])
    low, high = (one.reduceat(columns[order], starts) for one in (np.minimum, np.maximum))
    content = columns[:, (high > low).any(0)]
    return np.unique(content, axis=0, return_inverse=True)[1].reshape(-1) if content.shape[1] else None


def transfer_pairs(labels: ArrayLike, contents: ArrayLike, most: int = 1000, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return rows that give the class, rows of other classes that give the content, and rows that are the truth of each.

    A truth has the class of the first and the content of the second; pairs without one are left out, at most `most` are drawn.
    """
    y, c = (np.unique(np.asarray(column), return_inverse=True)[1].reshape(-1) for column in (labels, contents))
    rng = np.random.default_rng(seed)
    i, j = rng.integers(len(y), size=(2, 20 * most))
    keys = y * (int(c.max()) + 1) + c
    known, first = np.unique(keys, return_index=True)
    wanted = y[i] * (int(c.max()) + 1) + c[j]
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = (known[place] == wanted) & (y[i] != y[j])
    i, j, truth = i[found][:most], j[found][:most], first[place[found]][:most]
    if not len(i):
        raise ValueError("transfer_pairs expected two classes that share a content, but found none; pass other rows.")
    return i, j, truth


def landmark_pairs(labels: ArrayLike, points: ArrayLike, most: int = 1000, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return rows that give the class, rows of other classes that give the content, and rows that are the truth of each.

    As in paper 004 for faces, whose contents are known by landmarks (n, k, 2) alone: two rows of one class are drawn, the first
    gives the class and the second is the truth; the content is that of the row of another class whose landmarks lie nearest to
    the truth's, by the Euclidean distance. At most `most` pairs are drawn.
    """
    y, places = np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1), np.asarray(points, dtype=float)
    if places.ndim != 3 or len(places) != len(y) or not places.size or not np.isfinite(places).all():
        raise ValueError(
            f"landmark_pairs expected known points (n, k, 2) for the {len(y)} labels; got shape {places.shape} or unknown "
            "ones; leave rows without landmarks out."
        )
    sizes = np.bincount(y)
    several = np.flatnonzero(sizes[y] > 1)
    if len(sizes) < 2 or not len(several):
        raise ValueError("landmark_pairs expected two classes, one of them with two rows, but found none; pass other rows.")
    rng = np.random.default_rng(seed)
    truth = rng.permutation(several)[:most]
    order, starts = np.argsort(y, kind="stable"), np.cumsum(sizes) - sizes
    # Some other row of the class: a step of 1 to its size less 1, round its list.
    place = np.empty(len(y), dtype=int)
    place[order] = np.arange(len(y)) - starts[y[order]]
    step = 1 + (rng.random(len(truth)) * (sizes[y[truth]] - 1)).astype(int)
    i = order[starts[y[truth]] + (place[truth] + step) % sizes[y[truth]]]
    flat, j = places.reshape(len(y), -1), np.empty(len(truth), dtype=int)
    for number, row in enumerate(truth):
        apart = np.square(flat - flat[row]).sum(axis=1)
        apart[y == y[row]] = np.inf
        j[number] = apart.argmin()
    return i, j, truth


def transfer_errors(moved: ArrayLike, truth: ArrayLike) -> Array:
    """Return the mean absolute error (n,) of rows whose content was moved; images on [0, 1], 0 is perfect."""
    a, b = _units(moved), _units(truth)
    if a.shape != b.shape:
        raise ValueError(f"transfer_errors expected equally many rows of one shape; got {a.shape} and {b.shape}.")
    return np.asarray(np.abs(a - b).reshape(len(a), -1).mean(1))


def _units(x: ArrayLike) -> Array:
    rows = np.asarray(x)
    return rows / 255.0 if rows.dtype == np.uint8 and rows.ndim == 4 else rows.astype(np.float64)
