"""Volumes in NIfTI-1 files (`.nii`, `.nii.gz`): as much of the format as images of brains need, and nothing to install.

Read are single files of plain numbers, of either byte order, with their slope and intercept. Orientation is not looked at: axes
come as they lie in the file.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from untwine._typing import Array

HEADER = 348
# NIfTI's codes of the kinds of numbers.
KINDS = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8"}


def read_nifti(path: Path) -> Array:
    """Return the numbers of a volume, (x, y, z) for an image of a brain, scaled as its header says."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} must be a NIfTI file, but it cannot be read ({error}); fetch it again.") from None
    order = next((order for order in "<>" if content[:4] == struct.pack(f"{order}i", HEADER)), None)
    if order is None or len(content) < HEADER or content[344:347] != b"n+1":
        raise ValueError(f"{path} must be a NIfTI-1 file of one piece (.nii or .nii.gz), but its header is another.")
    dimensions = struct.unpack_from(f"{order}8h", content, 40)
    (code,) = struct.unpack_from(f"{order}h", content, 70)
    start, slope, intercept = struct.unpack_from(f"{order}3f", content, 108)
    shape = dimensions[1 : 1 + dimensions[0]] if 1 <= dimensions[0] <= 7 else ()
    if code not in KINDS or not shape or min(shape) < 1 or not start >= HEADER:
        raise ValueError(
            f"{path} expected plain numbers in 1 to 7 dimensions, but has kind {code} and sizes {list(dimensions)}."
        )
    kind = np.dtype(f"{order}{KINDS[code]}")
    count, first = math.prod(shape), int(start)
    if len(content) < first + count * kind.itemsize:
        raise ValueError(f"{path} expected {count} numbers of {kind.itemsize} bytes, but it ends before; fetch it again.")
    volume = np.frombuffer(content, kind, count, first).reshape(shape, order="F")
    plain = volume.astype(kind.newbyteorder("="))
    return plain * np.float32(slope) + np.float32(intercept) if slope not in (0.0, 1.0) or intercept else plain
