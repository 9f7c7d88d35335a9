"""Samples from .npy and .npz files of plain arrays; pickled objects are refused."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.lib.format as npy

from untwine._typing import Array
from untwine.data.readers.contents import check_unpacked
from untwine.data.readers.roles import Roles
from untwine.samples import Samples

COLUMNS = ("groups", "labels", "factors", "sources", "ids")
NAMES = ("group_names", "label_names", "factor_names", "source_names", "feature_names")
SPLIT, TRAIN, TEST = "split", "train", "test"


def read_arrays(path: Path, roles: Roles) -> Samples:
    """Read arrays.

    Parameters
    ----------
    path
        An `.npz` with the array `x` and, where known, `groups`, `labels`, `factors`, `sources`, `ids` and `group_names`,
        `label_names`, `factor_names`, `source_names`, `feature_names`; or with the arrays `background` and `target` (or several
        `target_...`). Nothing pickled is read. An array `split` beside x, "train" or "test" for each sample, is for `load`. Or
        an `.npy` with x alone.
    roles
        The arrays of an .npz beside x that are group, label, covariates, source, factors and id.
    """
    arrays = load_arrays(path)
    described = {name: arrays.pop(name) for name in roles.names if name in arrays and name != "x"}
    if "x" in roles.names:
        raise ValueError(f"{path}: x is the samples themselves; got it as a column with a role; name another array.")
    columns = roles.columns(described, str(path))
    try:
        if "x" in arrays:
            return _from_columns(arrays, columns)
        if columns:
            raise ValueError(
                f"arrays must be x where columns have roles; got {', '.join(arrays) or 'none'}; name the samples x."
            )
        return _from_groups(arrays)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _from_columns(arrays: dict[str, Array], given: dict[str, Any]) -> Samples:
    unknown = [key for key in arrays if key not in ("x", *COLUMNS, *NAMES, SPLIT)]
    if unknown:
        known = ", ".join((*COLUMNS, *NAMES, SPLIT))
        raise ValueError(f"arrays besides x must be among {known}; got {', '.join(unknown)}; drop or rename them.")
    columns: dict[str, Any] = {key: arrays[key] for key in COLUMNS if key in arrays}
    names: dict[str, Any] = {key: tuple(map(str, arrays[key].ravel())) for key in NAMES if key in arrays}
    if twice := [key for key in given if key in columns or key in names]:
        raise ValueError(f"{twice[0]} must be given once; got an array of that name and a role; drop one of them.")
    return Samples(arrays["x"], **columns, **names, **given)


def read_test_mask(path: Path, n: int) -> Array | None:
    """Return which of the n samples of an .npz are in the test split by its array `split`; None where it has none."""
    if path.suffix.lower() != ".npz":
        return None
    with np.load(path, allow_pickle=False) as arrays:
        if SPLIT not in arrays.files or "x" not in arrays.files:
            return None
        split = arrays[SPLIT]
    if split.shape != (n,) or set(np.unique(split).tolist()) != {TRAIN, TEST}:
        raise ValueError(
            f"{path}: split must be {TRAIN!r} or {TEST!r} for each of the {n} samples, and both must occur; got shape "
            f"{split.shape} with {', '.join(map(repr, np.unique(split)[:4].tolist()))}; correct it or leave it out."
        )
    return np.asarray(split == TEST)


def _from_groups(arrays: dict[str, Array]) -> Samples:
    targets = {key.removeprefix("target_"): x for key, x in arrays.items() if key.startswith("target_") or key == "target"}
    if "background" not in arrays or not targets or len(targets) + 1 != len(arrays):
        raise ValueError(
            "arrays must be x, or background and target (or several target_...); "
            f"got {', '.join(arrays) or 'none'}; save them with np.savez(path, target=..., background=...)."
        )
    samples = Samples.contrast(target=targets, background=arrays["background"])
    sets = {"background": arrays["background"], **targets}
    return replace(samples, ids=np.array([f"{name} {i}" for name, x in sets.items() for i in range(len(x))]))


def load_arrays(path: Path, required: Sequence[str] = ()) -> dict[str, Array]:
    """Load all arrays of an .npz, or the one of an .npy as x; refuse pickled objects, damage and lack of a required array."""
    with path.open("rb") as file:
        start = file.read(6)
    if start != b"\x93NUMPY" and not start.startswith(b"PK"):
        raise ValueError(f"{path} must be written by np.save or np.savez; its content is of another kind; save it again.")
    try:
        _check_members(path)
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else {key: loaded[key] for key in loaded}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if str(error).startswith(f"{path} must"):
            raise
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{path} must hold plain arrays; got Python objects, which are never unpickled; save numbers or strings."
            ) from None
        raise ValueError(f"{path} must hold complete arrays; it is damaged ({error}); write it again.") from None
    if missing := [name for name in required if name not in arrays]:
        raise ValueError(f"{path} must hold the arrays {', '.join(required)}; it lacks {', '.join(missing)}; add them.")
    return arrays


def _check_members(path: Path) -> None:
    """Refuse arrays that unpack to more than the machine can hold, or whose headers say that they are larger than they are."""
    if not zipfile.is_zipfile(path):
        check_unpacked(path, _claimed(path), "take fewer samples, or numbers of fewer bytes")
        return
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        check_unpacked(path, sum(one.file_size for one in members), "take fewer samples, or numbers of fewer bytes")
        for one in members:
            with archive.open(one) as stream:
                size = _header_size(stream)
            if size is not None and size > one.file_size:
                raise ValueError(f"{one.filename} says that it has {size} bytes, but has {one.file_size}")


def _claimed(path: Path) -> int:
    """Return how many bytes the header of an .npy claims, which must be there."""
    with path.open("rb") as stream:
        size = _header_size(stream)
    if size is not None and size > path.stat().st_size:
        raise ValueError(f"its header says that it has {size} bytes, but it has {path.stat().st_size}")
    return size or 0


def _header_size(stream: IO[bytes]) -> int | None:
    """Return how many bytes an array has by its header; None where that is no plain array, which is refused later."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    return None if dtype.hasobject else math.prod(shape) * int(dtype.itemsize)
