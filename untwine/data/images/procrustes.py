"""Procrustes analysis: alignment of shapes by translation, rotation and scale, and of images with their shapes.

A point (x, y) is the complex number x + iy, so that a similarity transform is t = a s + b: |a| is the scale, the angle of a the
rotation and b the translation. There are no reflections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from untwine._typing import Array

if TYPE_CHECKING:
    from PIL import Image

MAX_ITERATIONS, TOLERANCE = 100, 1e-10


def similarity(s: Array, t: Array) -> tuple[Array, Array]:
    """Return a and b of the similarity a s + b closest to t in squared distance, for complex shapes (..., m)."""
    s_mean, t_mean = s.mean(axis=-1, keepdims=True), t.mean(axis=-1, keepdims=True)
    s_bar, t_bar = s - s_mean, t - t_mean
    a = (s_bar.conj() * t_bar).sum(axis=-1, keepdims=True) / (np.abs(s_bar) ** 2).sum(axis=-1, keepdims=True)
    b = t_mean - a * s_mean
    return a[..., 0], b[..., 0]


def mean_shape(shapes: Array) -> Array:
    """Return the mean of complex shapes (n, m) up to similarity: centred, of norm 1, in their average orientation.

    Generalised Procrustes analysis: each shape is rotated onto the mean and the mean recomputed, until convergence.
    """
    shapes = _normalise(shapes)
    initial = mean = _normalise(shapes.mean(axis=0))
    for _ in range(MAX_ITERATIONS):
        rotations = (shapes.conj() * mean).sum(axis=1, keepdims=True)
        new = _normalise((shapes * rotations / np.abs(rotations)).mean(axis=0))
        converged = np.abs(new - mean).max() < TOLERANCE
        mean = new
        if converged:
            break
    rotation = (mean.conj() * initial).sum()
    oriented: Array = mean * rotation / np.abs(rotation)
    return oriented


def frame(shape: Array, size: int, width: float = 0.7, bottom: float = 0.93) -> Array:
    """Scale a complex shape (m,) to `width` of a square of `size`, centred horizontally, its lowest point at `bottom`."""
    scaled = shape * (width * size / np.ptp(shape.real))
    middle = (scaled.real.max() + scaled.real.min()) / 2
    framed: Array = scaled + (size / 2 - middle) + 1j * (bottom * size - scaled.imag.max())
    return framed


def warp(image: Image.Image, a: complex, b: complex, size: int) -> Image.Image:
    """Warp an image by a s + b, in pixel coordinates s, into a square of `size`; black outside of the image."""
    from PIL import Image

    # The transform samples single points, so that strong downscaling needs averaging over whole pixels first.
    reduced = max(1, int(1 / abs(a)))
    image = image.reduce(reduced) if reduced > 1 else image
    inverse, shift = 1 / (a * reduced), -b / (a * reduced)
    matrix = (inverse.real, -inverse.imag, shift.real, inverse.imag, inverse.real, shift.imag)
    return image.transform((size, size), Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC)


def _normalise(shapes: Array) -> Array:
    centred = shapes - shapes.mean(axis=-1, keepdims=True)
    normalised: Array = centred / np.sqrt((np.abs(centred) ** 2).sum(axis=-1, keepdims=True))
    return normalised
