"""Shapes laid over one another by shift, turn and scale (Procrustes analysis), and images moved with their shapes.

A point (x, y) is the complex number x + iy here, so that a similarity is t = a s + b: |a| scales, the angle of a turns and b
shifts. No such map mirrors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array

if TYPE_CHECKING:
    from PIL import Image

ROUNDS, CLOSE = 100, 1e-10


def similarity(s: Array, t: Array) -> tuple[Array, Array]:
    """Return a and b of the similarity a s + b nearest to t in squared distance, for complex shapes (..., m)."""
    s_mean, t_mean = s.mean(axis=-1, keepdims=True), t.mean(axis=-1, keepdims=True)
    s_bar, t_bar = s - s_mean, t - t_mean
    a = (s_bar.conj() * t_bar).sum(axis=-1, keepdims=True) / (np.abs(s_bar) ** 2).sum(axis=-1, keepdims=True)
    b = t_mean - a * s_mean
    return a[..., 0], b[..., 0]


def mean_shape(shapes: Array) -> Array:
    """Return the mean of complex shapes (n, m) up to similarity, centred, of norm 1 and as upright as they are on average.

    Generalised Procrustes analysis: each shape is turned onto the mean, the mean is taken again, until it rests.
    """
    shapes = _normed(shapes)
    upright = mean = _normed(shapes.mean(axis=0))
    for _ in range(ROUNDS):
        turns = (shapes.conj() * mean).sum(axis=1, keepdims=True)
        new = _normed((shapes * turns / np.abs(turns)).mean(axis=0))
        rests = np.abs(new - mean).max() < CLOSE
        mean = new
        if rests:
            break
    turn = (mean.conj() * upright).sum()
    settled: Array = mean * turn / np.abs(turn)
    return settled


def frame(shape: Array, size: int, width: float = 0.7, bottom: float = 0.93) -> Array:
    """Place a complex shape (m,) in a square of `size`: `width` of it wide, in the middle, its lowest point at `bottom`."""
    placed = shape * (width * size / np.ptp(shape.real))
    middle = (placed.real.max() + placed.real.min()) / 2
    moved: Array = placed + (size / 2 - middle) + 1j * (bottom * size - placed.imag.max())
    return moved


def warp(image: Image.Image, a: complex, b: complex, size: int) -> Image.Image:
    """Move an image by a s + b, where s is a point in its pixels, into a square of `size`; black where there is nothing."""
    from PIL import Image

    # The transform reads single points, so what is to shrink a lot is first averaged over whole pixels.
    reduced = max(1, int(1 / abs(a)))
    image = image.reduce(reduced) if reduced > 1 else image
    back, shift = 1 / (a * reduced), -b / (a * reduced)
    matrix = (back.real, -back.imag, shift.real, back.imag, back.real, shift.imag)
    return image.transform((size, size), Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC)


def _normed(shapes: Array) -> Array:
    centred = shapes - shapes.mean(axis=-1, keepdims=True)
    normed: Array = centred / np.sqrt((np.abs(centred) ** 2).sum(axis=-1, keepdims=True))
    return normed
