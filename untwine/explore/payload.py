"""How arrays leave the server: packed for the page, as .npz, as .png, as .csv."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.registry.observations import middle_slices

ALIGNED = 8  # bytes; so that the page can view the arrays where they are
GAP = 2  # pixels between images


def pack(arrays: Mapping[str, Array], info: Mapping[str, Any]) -> bytes:
    """Return a header and arrays as bytes: the header's length (4 bytes, little-endian), JSON, then each array, aligned."""
    described = [{"name": name, "dtype": str(array.dtype), "shape": array.shape} for name, array in arrays.items()]
    header = json.dumps({**info, "arrays": described}, allow_nan=False, separators=(",", ":")).encode()
    header += b" " * (-(len(header) + 4) % ALIGNED)
    content = io.BytesIO()
    content.write(len(header).to_bytes(4, "little") + header)
    for array in arrays.values():
        raw = np.ascontiguousarray(array).tobytes()
        content.write(raw + b"\0" * (-len(raw) % ALIGNED))
    return content.getvalue()


def shown(x: Array, image_axes: int) -> Array:
    """Return samples as the page shows them: images and middle slices as uint8 with 1 or 3 channels, vectors as float32."""
    if image_axes == 1:
        return x.astype(np.float32)
    x = middle_slices(x) if image_axes == 4 else x
    x = np.moveaxis(x, -3, 0)
    x = np.moveaxis(x[:3] if len(x) >= 3 else x[:1], 0, -3)
    return x if x.dtype == np.uint8 else np.rint(np.clip(x, 0, 1) * 255).astype(np.uint8)


def npz(arrays: Mapping[str, Array]) -> bytes:
    """Return arrays as an .npz without objects."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    return content.getvalue()


def png(images: Array) -> bytes:
    """Return an image (C, H, W), a row (n, C, H, W) or a grid (r, c, C, H, W) of them as a .png, pixel by pixel."""
    from PIL import Image

    cells = shown(images, 3)
    cells = cells.reshape((1,) * (5 - cells.ndim) + cells.shape)
    rows, columns, channels, height, width = cells.shape
    whole = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, channels), 255, dtype=np.uint8)
    for i in range(rows):
        for j in range(columns):
            top, left = i * (height + GAP), j * (width + GAP)
            whole[top : top + height, left : left + width] = np.moveaxis(cells[i, j], 0, -1)
    content = io.BytesIO()
    Image.fromarray(whole if channels == 3 else whole[:, :, 0]).save(content, format="png")
    return content.getvalue()


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow([_inert(cell) for cell in header])
    writer.writerows([[_inert(cell) for cell in row] for row in rows])
    return content.getvalue()


def _inert(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and len(cell) > 1 else cell
