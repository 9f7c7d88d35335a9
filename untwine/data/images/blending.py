"""How digits are laid over grass: Eqs. 10 and 11 of "Towards principled objectives for contrastive disentanglement".

Letters: y is the grass (n, C, H, W), t the digit (n, H, W), both in [0, 1]; rho is the share of the grass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from untwine._typing import Array

ROWS_AT_ONCE = 512


def blend(y: Array, t: Array, rho: float = 0.5) -> Array:
    """Return x = rho y + (1 - rho) t, the same digit in every channel (Eq. 10)."""
    return rho * y + (1 - rho) * t[:, None]


def blend_threshold(y: Array, t: Array, rho: float = 0.5, threshold: float = 0.3) -> Array:
    """Return x = 1[y > threshold] (rho y + (1 - rho) t), for each pixel and channel by itself (Eq. 11)."""
    return (y > threshold) * blend(y, t, rho)


def to_bytes(images: Array) -> Array:
    """Return images in [0, 1] as the nearest uint8 from 0 to 255."""
    return np.round(images * 255).astype(np.uint8)


def to_unit(images: Array) -> Array:
    """Return uint8 images as float32 in [0, 1]."""
    return images.astype(np.float32) / np.float32(255)


def overlay(grass: Array, patches: Array, digits: Array, rows: Array, mix: Callable[[Array, Array], Array]) -> Array:
    """Lay `digits[rows[i]]` over `grass[patches[i]]` by `mix`, all uint8, a few hundred at a time to spare memory."""
    x = np.empty((len(rows), *grass.shape[1:]), np.uint8)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        x[part] = to_bytes(mix(to_unit(grass[patches[part]]), to_unit(digits[rows[part]])))
    return x
