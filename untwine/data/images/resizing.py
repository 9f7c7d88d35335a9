"""Resizing of uint8 images, and the order of their axes."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array


def channels_first(images: Array) -> Array:
    """Return images (n, H, W, C) as (n, C, H, W)."""
    return np.ascontiguousarray(np.moveaxis(images, -1, 1))


def resize(images: Array, size: int) -> Array:
    """Resize uint8 images (n, H, W) or (n, H, W, 3) to squares of `size` by bicubic interpolation."""
    from PIL import Image

    return np.stack([np.asarray(Image.fromarray(one).resize((size, size), Image.Resampling.BICUBIC)) for one in images])


def average_pool(images: Array, size: int) -> Array:
    """Reduce square uint8 images (n, C, H, H) to `size`, a divisor of their side, by averaging over blocks of pixels."""
    n, channels, side, _ = images.shape
    if size == side:
        return images
    blocks = images.reshape(n, channels, size, side // size, size, side // size)
    pooled: Array = np.rint(blocks.mean(axis=(3, 5), dtype=np.float32)).astype(np.uint8)
    return pooled
