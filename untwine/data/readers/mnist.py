"""MNIST from local files: `mnist.npz`, or the four IDX files of the public release, plain or gzipped.

Checksums are SHA-256 of the four IDX files, decompressed. Arrays of an npz are checked as the IDX files that they would make,
so that every faithful copy passes, however it is compressed.
"""

from __future__ import annotations

import hashlib
import math
import struct
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.location import missing_files
from untwine.data.readers.arrays import load_arrays
from untwine.data.readers.gzipped import read_bytes
from untwine.data.remote import Download, RemoteFile

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
SOURCES = "Keras' mnist.npz, or the four IDX files of yann.lecun.com/exdb/mnist or of torchvision's mirror,"
UNSIGNED_BYTE = 8
MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
SIZES = {"x_train": 9_912_422, "y_train": 28_881, "x_test": 1_648_877, "y_test": 4_542}  # gzipped


def read_mnist(folder: Path) -> dict[str, Array]:
    """Read x_train, y_train, x_test and y_test from `mnist.npz`, else from IDX files, and verify their checksums."""
    npz = folder / "mnist.npz"
    if npz.is_file():
        arrays, paths = _read_npz(npz), dict.fromkeys(FILES, npz)
    else:
        paths = _idx_paths(folder)
        arrays = {name: read_idx(path) for name, path in paths.items()}
    for name, array in arrays.items():
        digest = hashlib.sha256(as_idx(array)).hexdigest()
        if digest != DIGESTS[name]:
            raise ValueError(
                f"MNIST's {name} must have SHA-256 {DIGESTS[name]}; got {digest} from {paths[name]}; "
                f"replace the file by {SOURCES} unchanged."
            )
    return arrays


def read_idx(path: Path) -> Array:
    """Read an IDX file of unsigned bytes, plain or gzipped: two zeros, type, number of axes, their lengths, the values."""
    content = read_bytes(path, "an IDX file")
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTE or not content[3]:
        raise ValueError(
            f"{path} must be an IDX file of unsigned bytes; it begins with {content[:4].hex() or 'nothing'}; download it again."
        )
    start = 4 + 4 * content[3]
    shape = struct.unpack(f">{content[3]}I", content[4:start]) if len(content) >= start else (0,)
    if len(content) != start + math.prod(shape) or not math.prod(shape):
        raise ValueError(
            f"{path} must have {start + math.prod(shape)} bytes by its header; got {len(content)}; download it again."
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def as_idx(array: Array) -> bytes:
    """Return the content of the IDX file of an array of unsigned bytes."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, UNSIGNED_BYTE, array.ndim, *array.shape) + array.tobytes()


MNIST = Download(
    name="mnist",
    licence="CC BY-SA 3.0.",
    folder="mnist",
    files=tuple(RemoteFile(tuple(f"{mirror}{file}.gz" for mirror in MIRRORS), SIZES[name]) for name, file in FILES.items()),
    check=read_mnist,
)


def _read_npz(path: Path) -> dict[str, Array]:
    loaded = load_arrays(path, tuple(FILES))
    arrays = {name: loaded[name] for name in FILES}
    # Some copies store the labels as wider integers; only the values count.
    return {name: a.astype(np.uint8) if np.array_equal(a, a.astype(np.uint8)) else a for name, a in arrays.items()}


def _idx_paths(folder: Path) -> dict[str, Path]:
    paths = {}
    for name, file in FILES.items():
        # The public release exists in two spellings: train-images-idx3-ubyte and train-images.idx3-ubyte.
        spellings = (file, f"{file}.gz", file.replace("-idx", ".idx"), f"{file.replace('-idx', '.idx')}.gz")
        path = next((folder / s for s in spellings if (folder / s).is_file()), None)
        if path is None:
            raise missing_files(
                "MNIST", folder, f"mnist.npz or as four IDX files with {file} among them", SOURCES, "mnist/", get="mnist"
            )
        paths[name] = path
    return paths
