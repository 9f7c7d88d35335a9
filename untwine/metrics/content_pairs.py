"""Samples of which one gives the class, another the content, and a third is the ground truth of both together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array


def content_combinations(labels: ArrayLike, factors: ArrayLike) -> Array | None:
    """Return for each sample (n,) the number of its combination of content factors; None where no factor is content.

    A factor that does not vary within any class is determined by the class, and is not content.
    """
    classes, columns = np.asarray(labels), np.asarray(factors, dtype=float)
    order = np.argsort(classes, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(classes[order]) != 0])
    low, high = (one.reduceat(columns[order], starts) for one in (np.minimum, np.maximum))
    content = columns[:, (high > low).any(0)]
    return np.unique(content, axis=0, return_inverse=True)[1].reshape(-1) if content.shape[1] else None


def transfer_pairs(labels: ArrayLike, contents: ArrayLike, most: int = 1000, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return samples that give the class, samples of other classes that give the content, and the ground truth of each pair.

    The ground truth has the class of the first and the content of the second; pairs without one are left out. At most `most`
    pairs are drawn.
    """
    y, c = (np.unique(np.asarray(column), return_inverse=True)[1].reshape(-1) for column in (labels, contents))
    rng = np.random.default_rng(seed)
    i, j = rng.integers(len(y), size=(2, 20 * most))
    keys = y * (int(c.max()) + 1) + c
    known, first = np.unique(keys, return_index=True)
    wanted = y[i] * (int(c.max()) + 1) + c[j]
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    exists = (known[place] == wanted) & (y[i] != y[j])
    i, j, truth = i[exists][:most], j[exists][:most], first[place[exists]][:most]
    if not len(i):
        raise ValueError("transfer_pairs needs two classes with samples of the same content; got none; pass other samples.")
    return i, j, truth


def landmark_pairs(labels: ArrayLike, points: ArrayLike, most: int = 1000, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return samples that give the class, samples of other classes that give the content, and the ground truth of each pair.

    As in Gabbay and Hoshen 2020 for faces, whose content is known by landmarks (n, k, 2) alone: two samples of one class are
    drawn, the first gives the class and the second is the ground truth; the content is that of the sample of another class
    whose landmarks are nearest to the ground truth's, by the Euclidean distance. At most `most` pairs are drawn.
    """
    y, places = np.unique(np.asarray(labels), return_inverse=True)[1].reshape(-1), np.asarray(points, dtype=float)
    if places.ndim != 3 or len(places) != len(y) or not places.size or not np.isfinite(places).all():
        raise ValueError(
            f"points must be known landmarks (n, k, 2) for the {len(y)} labels; got shape {places.shape} or unknown ones; "
            "leave samples without landmarks out."
        )
    sizes = np.bincount(y)
    several = np.flatnonzero(sizes[y] > 1)
    if len(sizes) < 2 or not len(several):
        raise ValueError(
            "landmark_pairs needs at least two classes, one of which has two samples; got other labels; pass other samples."
        )
    rng = np.random.default_rng(seed)
    truth = rng.permutation(several)[:most]
    order, starts = np.argsort(y, kind="stable"), np.cumsum(sizes) - sizes
    # Another sample of the class: a step of 1 to its size less 1, cyclically through its members.
    place = np.empty(len(y), dtype=int)
    place[order] = np.arange(len(y)) - starts[y[order]]
    step = 1 + (rng.random(len(truth)) * (sizes[y[truth]] - 1)).astype(int)
    i = order[starts[y[truth]] + (place[truth] + step) % sizes[y[truth]]]
    flat, j = places.reshape(len(y), -1), np.empty(len(truth), dtype=int)
    for number, sample in enumerate(truth):
        distances = np.square(flat - flat[sample]).sum(axis=1)
        distances[y == y[sample]] = np.inf
        j[number] = distances.argmin()
    return i, j, truth


def landmark_points(factors: Array | None, names: Sequence[str]) -> tuple[Array, Array]:
    """Return the samples whose landmarks are known, and these (n, k, 2): factors named "landmark ...", x and y in turn."""
    columns = np.flatnonzero(landmark_mask(names))
    if factors is None or not len(columns) or len(columns) % 2:
        return np.arange(0), np.empty((0, 0, 2))
    points = factors[:, columns].reshape(len(factors), -1, 2)
    indices = np.flatnonzero(~np.isnan(points).any(axis=(1, 2)))
    return indices, points[indices]


def landmark_mask(names: Sequence[str]) -> Array:
    """Return which factors (k,) are coordinates of landmarks, by their names."""
    return np.array([name.startswith("landmark") for name in names], dtype=bool)
