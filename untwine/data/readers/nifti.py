"""Volumes in NIfTI-1 files (`.nii`, `.nii.gz`), without a further package.

Supports single files of plain numbers in either byte order, with slope and intercept. Orientation is ignored: axes are in the
order of the file.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.readers.gzipped import read_bytes

HEADER = 348
# NIfTI's data type codes.
TYPES = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8"}


def read_nifti(path: Path) -> Array:
    """Return the values of a volume, (x, y, z) for a brain scan, scaled by slope and intercept of the header."""
    content = read_bytes(path, "a NIfTI file")
    order = next((order for order in "<>" if content[:4] == struct.pack(f"{order}i", HEADER)), None)
    if order is None or len(content) < HEADER or content[344:347] != b"n+1":
        raise ValueError(f"{path} must be a single NIfTI-1 file (.nii or .nii.gz); its header is another; convert it.")
    dimensions = struct.unpack_from(f"{order}8h", content, 40)
    (code,) = struct.unpack_from(f"{order}h", content, 70)
    start, slope, intercept = struct.unpack_from(f"{order}3f", content, 108)
    shape = dimensions[1 : 1 + dimensions[0]] if 1 <= dimensions[0] <= 7 else ()
    if code not in TYPES or not shape or min(shape) < 1 or not start >= HEADER:
        raise ValueError(
            f"{path} must hold plain numbers in 1 to 7 dimensions; got data type {code} and sizes {list(dimensions)}; "
            "convert it."
        )
    dtype = np.dtype(f"{order}{TYPES[code]}")
    count, first = math.prod(shape), int(start)
    if len(content) < first + count * dtype.itemsize:
        raise ValueError(f"{path} must hold {count} numbers of {dtype.itemsize} bytes; it is truncated; download it again.")
    volume = np.frombuffer(content, dtype, count, first).reshape(shape, order="F")
    native = volume.astype(dtype.newbyteorder("="))
    return native * np.float32(slope) + np.float32(intercept) if slope not in (0.0, 1.0) or intercept else native
