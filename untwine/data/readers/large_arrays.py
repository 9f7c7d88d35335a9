"""Chosen samples of uint8 arrays that may exceed memory: in an .npz, compressed or not, an .npy or an HDF5 file."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from untwine._typing import Array

Shape = tuple[int, ...]

BLOCK_BYTES = 1 << 24
READ_ERRORS = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def open_array(path: Path, name: str) -> tuple[Shape, Callable[[Array], Array]]:
    """Return the shape of an array in a file, and a function from indices (n,) to these samples of it, in that order.

    Parameters
    ----------
    path
        An .npz, which is read from its beginning at each call; an .npy; or an .h5, which needs h5py.
    name
        Name of the array in an .npz or .h5.
    """
    if path.suffix == ".npz":
        return _npz_shape(path, name), partial(_read_npz, path, name)
    array = _open_h5(path, name) if path.suffix == ".h5" else _open_npy(path)
    if array.dtype != np.uint8:
        raise ValueError(f"{path} must hold uint8 as {name}; got {array.dtype}; convert it.")
    return tuple(array.shape), partial(_read_indexed, array)


def load_array(path: Path, name: str) -> Array:
    """Return one array of an .npz or .h5 that fits into memory, without loading the others."""
    if path.suffix == ".h5":
        return np.asarray(_open_h5(path, name))
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return np.asarray(arrays[name])
    except READ_ERRORS as error:
        raise _unreadable(path, f"an array {name}", error) from None


def iterate_blocks(path: Path, name: str) -> Iterator[tuple[int, Array]]:
    """Yield an array of an .npz block by block, each with the index of its first sample."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            shape = _read_header(stream)
            width, start = math.prod(shape[1:]), 0
            block = max(1, BLOCK_BYTES // width)
            while start < shape[0]:
                n = min(block, shape[0] - start)
                content = stream.read(n * width)
                if len(content) < n * width:
                    raise EOFError(f"the header says {shape[0]} samples, but sample {start + len(content) // width} is cut")
                yield start, np.frombuffer(content, np.uint8).reshape(n, *shape[1:])
                start += n
    except READ_ERRORS as error:
        raise _unreadable(path, f"an array {name} of uint8", error) from None


def _npz_shape(path: Path, name: str) -> Shape:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            return _read_header(stream)
    except READ_ERRORS as error:
        raise _unreadable(path, f"an array {name} of uint8", error) from None


def _read_header(stream: Any) -> Shape:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran_order, dtype = read(stream)
    if dtype != np.uint8 or fortran_order or not all(shape):
        raise ValueError(f"it holds {dtype} of shape {shape}{' in Fortran order' if fortran_order else ''}")
    return tuple(shape)


def _read_npz(path: Path, name: str, indices: Array) -> Array:
    order = np.argsort(indices, kind="stable")
    ascending, done = indices[order], 0
    samples: Array | None = None
    for start, block in iterate_blocks(path, name):
        if samples is None:
            samples = np.empty((len(indices), *block.shape[1:]), np.uint8)
        stop = int(np.searchsorted(ascending, start + len(block)))
        samples[order[done:stop]] = block[ascending[done:stop] - start]
        done = stop
        if done == len(indices):
            break
    if samples is None or done < len(indices):
        raise ValueError(f"{path} must hold samples up to index {ascending[-1]} in {name}; it has fewer; download it again.")
    return samples


def _read_indexed(array: Any, indices: Array) -> Array:
    """Read samples of an array on disk in ascending order: one by one where sparse, else the whole range between."""
    order = np.argsort(indices, kind="stable")
    ascending = indices[order]
    samples = np.empty((len(indices), *array.shape[1:]), np.uint8)
    block = max(1, BLOCK_BYTES // math.prod(array.shape[1:]))
    done = 0
    while done < len(indices):
        start = int(ascending[done])
        stop = int(np.searchsorted(ascending, start + block))
        dense = 8 * (stop - done) > ascending[stop - 1] + 1 - start
        if dense:
            samples[order[done:stop]] = array[start : ascending[stop - 1] + 1][ascending[done:stop] - start]
        else:
            for out, index in zip(order[done:stop], ascending[done:stop], strict=True):
                samples[out] = array[index]
        done = stop
    return samples


def _open_npy(path: Path) -> Array:
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except READ_ERRORS as error:
        raise _unreadable(path, "an array", error) from None
    return array


def _open_h5(path: Path, name: str) -> Any:
    try:
        import h5py  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise ValueError(
            f"{path} needs the package h5py; install it with pip install h5py, or convert the file to .npz."
        ) from None
    try:
        return h5py.File(path, "r")[name]
    except READ_ERRORS as error:
        raise _unreadable(path, f"an array {name}", error) from None


def _unreadable(path: Path, content: str, error: BaseException) -> ValueError:
    return ValueError(f"{path} must hold {content}; it cannot be read ({error}); download it again.")
