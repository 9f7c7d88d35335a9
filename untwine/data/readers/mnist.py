"""MNIST from files that the user has placed: `mnist.npz`, or the four IDX files of the public release, plain or gzipped.

Checksums are SHA-256 of the four IDX files, decompressed. Arrays of an npz are checked by the IDX file that they would make,
so every faithful copy passes, however it is compressed.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from untwine._typing import Array

FILES = {
    "x_train": "train-images-idx3-ubyte",
    "y_train": "train-labels-idx1-ubyte",
    "x_test": "t10k-images-idx3-ubyte",
    "y_test": "t10k-labels-idx1-ubyte",
}
DIGESTS = {
    "x_train": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "y_train": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "x_test": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "y_test": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
SOURCES = "mnist.npz as Keras has it, or the four IDX files of yann.lecun.com/exdb/mnist or of torchvision's mirror of them"
UNSIGNED_BYTE = 8


def read_mnist(folder: Path) -> dict[str, Array]:
    """Read x_train, y_train, x_test and y_test from `mnist.npz`, or else from IDX files, and check what they hold."""
    packed = folder / "mnist.npz"
    if packed.is_file():
        arrays, paths = _read_npz(packed), dict.fromkeys(FILES, packed)
    else:
        paths = _idx_paths(folder)
        arrays = {name: read_idx(path) for name, path in paths.items()}
    for name, array in arrays.items():
        found = hashlib.sha256(as_idx(array)).hexdigest()
        if found != DIGESTS[name]:
            raise ValueError(
                f"MNIST's {name} expected content with SHA-256 {DIGESTS[name]}, but {paths[name]} has {found}; "
                f"replace the file by a faithful copy ({SOURCES})."
            )
    return arrays


def read_idx(path: Path) -> Array:
    """Read an IDX file of unsigned bytes, plain or gzipped: two zeros, type, number of axes, their lengths, the values."""
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} must be a gzipped IDX file, but it is damaged ({error}); fetch it again.") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTE or not content[3]:
        raise ValueError(f"{path} must be an IDX file of unsigned bytes, but it begins with {content[:4].hex() or 'nothing'}.")
    start = 4 + 4 * content[3]
    shape = struct.unpack(f">{content[3]}I", content[4:start]) if len(content) >= start else (0,)
    if len(content) != start + math.prod(shape) or not math.prod(shape):
        raise ValueError(
            f"{path} expected {start + math.prod(shape)} bytes by its own header, but has {len(content)}; fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def as_idx(array: Array) -> bytes:
    """Return the IDX file that holds this array of unsigned bytes."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, UNSIGNED_BYTE, array.ndim, *array.shape) + array.tobytes()


def _read_npz(path: Path) -> dict[str, Array]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as packed:
            missing = [name for name in FILES if name not in packed]
            arrays = {name: packed[name] for name in FILES if name in packed}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} must be an npz file of plain arrays, but it cannot be read ({error}).") from None
    if missing:
        raise ValueError(f"{path} expected the arrays {', '.join(FILES)}, but lacks {', '.join(missing)}.")
    # Some copies keep the labels as wider integers; the values are what counts.
    return {name: a.astype(np.uint8) if np.array_equal(a, a.astype(np.uint8)) else a for name, a in arrays.items()}


def _idx_paths(folder: Path) -> dict[str, Path]:
    paths = {}
    for name, file in FILES.items():
        # Both spellings of the public release are about: train-images-idx3-ubyte and train-images.idx3-ubyte.
        spellings = (file, f"{file}.gz", file.replace("-idx", ".idx"), f"{file.replace('-idx', '.idx')}.gz")
        found = next((folder / s for s in spellings if (folder / s).is_file()), None)
        if found is None:
            raise ValueError(
                f"MNIST was must be in {folder} as mnist.npz or as four IDX files, but {file} is not there; place {SOURCES} "
                "there, or set the environment variable UNTWINE_DATA (or the option folder) to the folder that holds mnist/."
            )
        paths[name] = found
    return paths
