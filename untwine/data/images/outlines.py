"""Outlines of digits, and their style: width, scale and colour.

The steps of appendix C.1 of "Learning disentangled representations with reference-based variational autoencoders". Its
letters: c is a colour, and the image is multiplied by c / |c|_1. Outlines are drawn at 64 x 64 and resized at the end.
"""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

DRAWN = 64
# A small batch stays in the processor's cache, which halves the time.
BATCH = 64


def outlines(digits: Array) -> Array:
    """Return the inner boundary of uint8 digits (n, h, w), upsampled: (n, 64, 64), bool.

    Digits are upsampled by bicubic interpolation. A pixel of at least half the full intensity is inside, and on the boundary if
    one of its four neighbours is not inside.
    """
    rows, columns = (_upsampling_matrix(side) for side in digits.shape[1:])
    lines = np.empty((len(digits), DRAWN, DRAWN), bool)
    for start in range(0, len(digits), BATCH):
        batch = slice(start, start + BATCH)
        inside = np.pad(rows @ digits[batch].astype(np.float32) @ columns.T >= 127.5, ((0, 0), (1, 1), (1, 1)))
        around = inside[:, :-2, 1:-1] & inside[:, 2:, 1:-1] & inside[:, 1:-1, :-2] & inside[:, 1:-1, 2:]
        lines[batch] = inside[:, 1:-1, 1:-1] & ~around
    return lines


def dilate(lines: Array, width: int) -> Array:
    """Dilate bool images (n, H, W) by a square of `width` pixels; an even square reaches one pixel further down and right."""
    reach = range(-((width - 1) // 2), width // 2 + 1)
    dilated_columns, dilated = np.zeros_like(lines), np.zeros_like(lines)
    for step in reach:
        dilated_columns[:, :, max(step, 0) : DRAWN + min(step, 0)] |= lines[:, :, max(-step, 0) : DRAWN - max(step, 0)]
    for step in reach:
        dilated[:, max(step, 0) : DRAWN + min(step, 0)] |= dilated_columns[:, max(-step, 0) : DRAWN - max(step, 0)]
    return dilated


def shrink(images: Array, scale: Array, size: int) -> Array:
    """Scale images (n, 64, 64) by `scale` (n,) about their centre into (n, size, size) by area averaging; float32."""
    factor = (scale * size / DRAWN).astype(np.float32)[:, None, None]
    # Output pixel i covers this interval of the input; the weight of input pixel j is its overlap with the interval.
    edges = (np.arange(size + 1, dtype=np.float32)[:, None] - size / 2) / factor + DRAWN / 2
    j = np.arange(DRAWN, dtype=np.float32)
    weights = factor * np.clip(np.minimum(edges[:, 1:], j + 1) - np.maximum(edges[:, :-1], j), 0, None)
    shrunk: Array = weights @ images.astype(np.float32) @ weights.transpose(0, 2, 1)
    return shrunk


def restyle(lines: Array, width: Array, scale: Array, colour: Array, size: int) -> Array:
    """Draw outlines (n, 64, 64) with the given width (n,), scale (n,) and colour (n, 3): (n, 3, size, size), uint8."""
    x = np.empty((len(lines), 3, size, size), np.uint8)
    for one in np.unique(width):
        indices = np.flatnonzero(width == one)
        for start in range(0, len(indices), BATCH):
            batch = indices[start : start + BATCH]
            grey = 255 * shrink(dilate(lines[batch], int(one)), scale[batch], size)
            for channel in range(3):
                x[batch, channel] = np.rint(grey * colour[batch, channel, None, None].astype(np.float32))
    return x


def _upsampling_matrix(side: int) -> Array:
    """Return the matrix (64, side) of bicubic upsampling of one axis: its response to each unit pixel."""
    from PIL import Image

    identity = Image.fromarray(np.eye(side, dtype=np.float32))
    return np.asarray(identity.resize((side, DRAWN), Image.Resampling.BICUBIC))
