"""Outlines of digits, and their style: width, size and colour.

The steps of appendix C.1 of "Learning disentangled representations with reference-based variational autoencoders". Its
letters: c is a colour, and c / |c|_1 what the image is multiplied by. An image is 64 x 64 while it is drawn, whatever size
it ends with.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

DRAWN = 64
# A few rows at a time stay in the processor's cache, which halves the time.
ROWS_AT_ONCE = 64


def outlines(digits: Array) -> Array:
    """Return where the inner boundary of each uint8 digit (n, h, w) lies, enlarged: (n, 64, 64), bool.

    Digits are enlarged by bicubic interpolation. A pixel of at least half the full ink is inside, and on the boundary if one of
    its four neighbours is not inside.
    """
    rows, columns = (_enlarging(side) for side in digits.shape[1:])
    lines = np.empty((len(digits), DRAWN, DRAWN), bool)
    for start in range(0, len(digits), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        inside = np.pad(rows @ digits[part].astype(np.float32) @ columns.T >= 127.5, ((0, 0), (1, 1), (1, 1)))
        around = inside[:, :-2, 1:-1] & inside[:, 2:, 1:-1] & inside[:, 1:-1, :-2] & inside[:, 1:-1, 2:]
        lines[part] = inside[:, 1:-1, 1:-1] & ~around
    return lines


def dilate(lines: Array, width: int) -> Array:
    """Dilate bool images (n, H, W) by a square of `width` pixels; an even square reaches one pixel further down and right."""
    reach = range(-((width - 1) // 2), width // 2 + 1)
    across, both = np.zeros_like(lines), np.zeros_like(lines)
    for step in reach:
        across[:, :, max(step, 0) : DRAWN + min(step, 0)] |= lines[:, :, max(-step, 0) : DRAWN - max(step, 0)]
    for step in reach:
        both[:, max(step, 0) : DRAWN + min(step, 0)] |= across[:, max(-step, 0) : DRAWN - max(step, 0)]
    return both


def shrink(images: Array, scale: Array, size: int) -> Array:
    """Shrink images (n, 64, 64) by `scale` (n,) about their centre into black ones of `size`, by areas; float32."""
    factor = (scale * size / DRAWN).astype(np.float32)[:, None, None]
    # Pixel i of the result covers this span of the image; its share of pixel j is how much of the span lies there.
    edges = (np.arange(size + 1, dtype=np.float32)[:, None] - size / 2) / factor + DRAWN / 2
    j = np.arange(DRAWN, dtype=np.float32)
    weights = factor * np.clip(np.minimum(edges[:, 1:], j + 1) - np.maximum(edges[:, :-1], j), 0, None)
    shrunk: Array = weights @ images.astype(np.float32) @ weights.transpose(0, 2, 1)
    return shrunk


def restyle(lines: Array, width: Array, scale: Array, colour: Array, size: int) -> Array:
    """Draw outlines (n, 64, 64) with the given width (n,), scale (n,) and colour (n, 3): (n, 3, size, size), uint8."""
    x = np.empty((len(lines), 3, size, size), np.uint8)
    for one in np.unique(width):
        rows = np.flatnonzero(width == one)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            part = rows[start : start + ROWS_AT_ONCE]
            grey = 255 * shrink(dilate(lines[part], int(one)), scale[part], size)
            for channel in range(3):
                x[part, channel] = np.rint(grey * colour[part, channel, None, None].astype(np.float32))
    return x


def _enlarging(side: int) -> Array:
    """Return the matrix (64, side) that enlarges a column of pixels: what becomes of each single pixel."""
    from PIL import Image

    single = Image.fromarray(np.eye(side, dtype=np.float32))
    return np.asarray(single.resize((side, DRAWN), Image.Resampling.BICUBIC))
