"""Chosen rows of uint8 arrays that may be larger than memory: in an .npz, packed or not, in an .npy, or in an HDF5 file."""

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

BYTES_AT_ONCE = 1 << 24
DAMAGED = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def stored_rows(path: Path, name: str) -> tuple[Shape, Callable[[Array], Array]]:
    """Return the shape of an array in a file, and a function that reads chosen rows of it, in the order asked for.

    Parameters
    ----------
    path
        An .npz, which is read from its beginning at each call; an .npy; or an .h5, which needs h5py.
    name
        What the array is called in an .npz or .h5.
    """
    if path.suffix == ".npz":
        return _shape(path, name), partial(_from_npz, path, name)
    array = _in_h5(path, name) if path.suffix == ".h5" else _in_npy(path)
    if array.dtype != np.uint8:
        raise ValueError(f"{path} expected uint8 as {name}, but holds {array.dtype}.")
    return tuple(array.shape), partial(_gathered, array)


def small_array(path: Path, name: str) -> Array:
    """Return one array of an .npz or .h5 that fits into memory, and none of the others."""
    if path.suffix == ".h5":
        return np.asarray(_in_h5(path, name))
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as packed:
            return np.asarray(packed[name])
    except DAMAGED as error:
        raise ValueError(f"{path} must be an array {name}, but it cannot be read ({error}).") from None


def blocks(path: Path, name: str) -> Iterator[tuple[int, Array]]:
    """Yield an array of an .npz block by block, each with the number of its first row."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            shape = _header(stream)
            width, start = math.prod(shape[1:]), 0
            at_once = max(1, BYTES_AT_ONCE // width)
            while start < shape[0]:
                many = min(at_once, shape[0] - start)
                content = stream.read(many * width)
                if len(content) < many * width:
                    raise EOFError(f"{shape[0]} rows were announced, but it ends in row {start + len(content) // width}")
                yield start, np.frombuffer(content, np.uint8).reshape(many, *shape[1:])
                start += many
    except DAMAGED as error:
        raise ValueError(f"{path} must be an array {name} of uint8, but it cannot be read ({error}).") from None


def _shape(path: Path, name: str) -> Shape:
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
            return _header(stream)
    except DAMAGED as error:
        raise ValueError(f"{path} must be an array {name} of uint8, but it cannot be read ({error}).") from None


def _header(stream: Any) -> Shape:
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, columns_first, kind = read(stream)
    if kind != np.uint8 or columns_first or not all(shape):
        raise ValueError(f"it holds {kind} of shape {shape}{' with columns first' if columns_first else ''}")
    return tuple(shape)


def _from_npz(path: Path, name: str, rows: Array) -> Array:
    order = np.argsort(rows, kind="stable")
    wanted, done = rows[order], 0
    found: Array | None = None
    for start, block in blocks(path, name):
        if found is None:
            found = np.empty((len(rows), *block.shape[1:]), np.uint8)
        stop = int(np.searchsorted(wanted, start + len(block)))
        found[order[done:stop]] = block[wanted[done:stop] - start]
        done = stop
        if done == len(rows):
            break
    if found is None or done < len(rows):
        raise ValueError(f"{path} expected rows up to {wanted[-1]} in {name}, but has fewer.")
    return found


def _gathered(array: Any, rows: Array) -> Array:
    """Read rows of an array on disk in rising order: one by one where they are few, else all between the first and the last."""
    order = np.argsort(rows, kind="stable")
    wanted = rows[order]
    found = np.empty((len(rows), *array.shape[1:]), np.uint8)
    at_once = max(1, BYTES_AT_ONCE // math.prod(array.shape[1:]))
    done = 0
    while done < len(rows):
        start = int(wanted[done])
        stop = int(np.searchsorted(wanted, start + at_once))
        dense = 8 * (stop - done) > wanted[stop - 1] + 1 - start
        if dense:
            found[order[done:stop]] = array[start : wanted[stop - 1] + 1][wanted[done:stop] - start]
        else:
            for place, row in zip(order[done:stop], wanted[done:stop], strict=True):
                found[place] = array[row]
        done = stop
    return found


def _in_npy(path: Path) -> Array:
    try:
        array: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    except DAMAGED as error:
        raise ValueError(f"{path} must be an array, but it cannot be read ({error}).") from None
    return array


def _in_h5(path: Path, name: str) -> Any:
    try:
        import h5py  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise ValueError(
            f"{path} needs the package h5py; install it with pip install h5py, or convert the file to .npz."
        ) from None
    try:
        return h5py.File(path, "r")[name]
    except DAMAGED as error:
        raise ValueError(f"{path} must be an array {name}, but it cannot be read ({error}).") from None
