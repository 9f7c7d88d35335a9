"""Squares, ellipses and hearts as in dSprites: 64 x 64, white on black, without anti-aliasing.

Letters: c is a shape's centre in pixels, (u, v) a pixel in the coordinates of the shape. A pixel is white if its centre lies
inside. Against 320 frames of dSprites' own animation, 0.1 pixels per frame differ for the square, 1.2 for the ellipse and
0.2 for the heart.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from untwine._typing import Array

SHAPES = ("square", "ellipse", "heart")
SIDE = 64
HALF_SIDE = 9.6
HALF_AXES = 12.8, 7.2
# No shape extends further from its centre: the square's corners are at 13.6 pixels.
REACH = 14
BATCH = 512


def draw_sprites(shape: Array, scale: Array, angle: Array, c: Array) -> Array:
    """Draw sprites of the given shape (n,), scale (n,), angle (n,) in radians and centre (n, 2): (n, 64, 64), bool."""
    images = np.zeros((len(shape), SIDE, SIDE), bool)
    for start in range(0, len(shape), BATCH):
        batch = slice(start, start + BATCH)
        for kind in np.unique(shape[batch]):
            i = start + np.flatnonzero(shape[batch] == kind)
            _draw(images, i, int(kind), scale[i], angle[i], c[i])
    return images


def _draw(images: Array, i: Array, kind: int, scale: Array, angle: Array, c: Array) -> None:
    """Draw sprites of one shape into `images[i]`, computing only the pixels that they can cover."""
    corner = np.floor(c).astype(np.int64)
    x, y = (corner[:, axis, None] + np.arange(-REACH, REACH + 1) for axis in (0, 1))
    dx, dy = (x + 0.5 - c[:, :1])[:, None, :], (y + 0.5 - c[:, 1:])[:, :, None]
    cos, sin, scale = (column[:, None, None] for column in (np.cos(angle), np.sin(angle), scale))
    u, v = cos * dx + sin * dy, cos * dy - sin * dx
    if kind == 0:
        inside = np.maximum(np.abs(u), np.abs(v)) <= HALF_SIDE * scale
    elif kind == 1:
        inside = (u / HALF_AXES[0]) ** 2 + (v / HALF_AXES[1]) ** 2 <= scale**2
    else:
        angles, radius = _heart()
        # The heart is upright and symmetric, so that the absolute angle from the vertical determines the radius.
        inside = np.hypot(u, v) <= scale * np.interp(np.arctan2(np.abs(u), -v), angles, radius)
    images[i[:, None, None], y[:, :, None], x[:, None, :]] = inside


@cache
def _heart() -> tuple[Array, Array]:
    """Return the angles from the vertical, 0 to pi, and the radius of the heart's outline at each.

    The outline is the curve (sin^3 t, 13 cos t - 5 cos 2t - 2 cos 3t - cos 4t), with two scales and a shift fitted to dSprites'
    frames.
    """
    t = np.linspace(0, np.pi, 3000)
    across = HALF_SIDE * np.sin(t) ** 3
    up = 0.6625 * (13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)) + 1.44
    return np.arctan2(across, up), np.hypot(across, up)
