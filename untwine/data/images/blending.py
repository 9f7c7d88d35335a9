"""Combination of digits and grass: Eqs. 10 and 11 of "Towards principled objectives for contrastive disentanglement".

Letters: y is the grass (n, C, H, W), t the digit (n, H, W), both in [0, 1]; rho is the weight of the grass.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from untwine._typing import Array
from untwine.samples import unit_range

BATCH = 512


def blend(y: Array, t: Array, rho: float = 0.5) -> Array:
    """Return x = rho y + (1 - rho) t, the same digit in every channel (Eq. 10)."""
    return rho * y + (1 - rho) * t[:, None]


def blend_threshold(y: Array, t: Array, rho: float = 0.5, threshold: float = 0.3) -> Array:
    """Return x = 1[y > threshold] (rho y + (1 - rho) t), for each pixel and channel separately (Eq. 11)."""
    return (y > threshold) * blend(y, t, rho)


def to_bytes(images: Array) -> Array:
    """Return images in [0, 1] as uint8, rounded to the nearest value from 0 to 255."""
    return np.round(images * 255).astype(np.uint8)


def overlay(backgrounds: Array, i: Array, digits: Array, j: Array, mix: Callable[[Array, Array], Array]) -> Array:
    """Combine `backgrounds[i]` and `digits[j]`, both uint8 and indexed by (n,), by `mix`, in batches to save memory."""
    x = np.empty((len(j), *backgrounds.shape[1:]), np.uint8)
    for start in range(0, len(j), BATCH):
        batch = slice(start, start + BATCH)
        x[batch] = to_bytes(mix(unit_range(backgrounds[i[batch]]), unit_range(digits[j[batch]])))
    return x
