"""Resampling between the voxels of a file and the pixels of a sample: both are grids with one centre, spaced in millimetres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from untwine._typing import Array


class Frame(NamedTuple):
    """How the voxels of some axes become pixels and back: a matrix for each axis, and which voxels lie inside of the frame.

    Attributes
    ----------
    forward
        For each axis the weights (pixels, voxels): outside of the volume there is 0.
    back
        For each axis the weights (voxels, pixels), whose rows sum to 1.
    inside
        For each axis the mask (voxels,) of those that the pixels cover.
    """

    forward: tuple[Array, ...]
    back: tuple[Array, ...]
    inside: tuple[Array, ...]


def frame(shape: Sequence[int], spacing: Sequence[float], size: int | None, fov: float | None) -> Frame:
    """Return the frame of some axes of a volume: as it is, or a square (or cube) of `size` pixels a side around its centre.

    Parameters
    ----------
    shape, spacing
        Voxels along each axis, and millimetres from one to the next.
    size
        Pixels along each side; None keeps the voxels.
    fov
        Millimetres along each side; None takes the longest side of the volume.
    """
    if size is None:
        same = tuple(np.eye(n) for n in shape)
        return Frame(same, same, tuple(np.ones(n, dtype=bool) for n in shape))
    side = extent(shape, spacing) if fov is None else fov
    step = side / size
    forward = tuple(weights(n, mm, size, step) for n, mm in zip(shape, spacing, strict=True))
    back = []
    for n, mm in zip(shape, spacing, strict=True):
        w = weights(size, step, n, mm)
        sums = w.sum(axis=1, keepdims=True)
        back.append(np.divide(w, sums, out=np.zeros_like(w), where=sums > 0))
    inside = tuple(np.abs(_centres(n, mm)) <= side / 2 + 1e-6 for n, mm in zip(shape, spacing, strict=True))
    return Frame(forward, tuple(back), inside)


def extent(shape: Sequence[int], spacing: Sequence[float]) -> float:
    """Return the longest side of a volume in millimetres."""
    return max(n * mm for n, mm in zip(shape, spacing, strict=True))


def resample(values: Array, matrices: Sequence[Array]) -> Array:
    """Apply a matrix to each of the last axes of an array; the axes before them stay."""
    first = values.ndim - len(matrices)
    for axis, matrix in enumerate(matrices, start=first):
        values = np.moveaxis(np.tensordot(matrix.astype(np.float32), values, ([1], [axis])), 0, axis)
    return values


def weights(n_from: int, mm_from: float, n_to: int, mm_to: float) -> Array:
    """Return the weights (n_to, n_from) of linear interpolation, widened to the wider grid so that none is passed over.

    A triangle around each point of the new grid; where it reaches beyond the old one, its share there is lost, as if there
    were 0.
    """
    width = max(mm_from, mm_to)
    beyond = int(np.ceil(max(width, (n_to * mm_to - n_from * mm_from) / 2 + width) / mm_from)) + 1
    old = _centres(n_from + 2 * beyond, mm_from)
    w = np.maximum(0.0, 1 - np.abs(_centres(n_to, mm_to)[:, None] - old[None]) / width)
    w /= w.sum(axis=1, keepdims=True)
    return np.asarray(w[:, beyond : beyond + n_from])


def _centres(n: int, mm: float) -> Array:
    return np.asarray((np.arange(n) - (n - 1) / 2) * mm)
