"""Samples from .npy and .npz files of plain arrays; pickled objects are refused."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

COLUMNS = ("groups", "labels", "factors", "sources", "ids")
NAMES = ("group_names", "label_names", "factor_names", "source_names", "feature_names")
SPLIT, TRAIN, TEST = "split", "train", "test"


def read_arrays(path: Path) -> Samples:
    """Read an .npy with x, or an .npz with x and its columns or with `background` and `target` (or several `target_...`)."""
    arrays = load_arrays(path)
    try:
        if "x" in arrays:
            return _from_columns(arrays)
        return _from_groups(arrays)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _from_columns(arrays: dict[str, Array]) -> Samples:
    unknown = [key for key in arrays if key not in ("x", *COLUMNS, *NAMES, SPLIT)]
    if unknown:
        known = ", ".join((*COLUMNS, *NAMES, SPLIT))
        raise ValueError(f"arrays besides x must be among {known}; got {', '.join(unknown)}; drop or rename them.")
    columns: dict[str, Any] = {key: arrays[key] for key in COLUMNS if key in arrays}
    names: dict[str, Any] = {key: tuple(map(str, arrays[key].ravel())) for key in NAMES if key in arrays}
    return Samples(arrays["x"], **columns, **names)


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
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            arrays = {"x": loaded} if isinstance(loaded, np.ndarray) else {key: loaded[key] for key in loaded}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{path} must hold plain arrays; got Python objects, which are never unpickled; save numbers or strings."
            ) from None
        raise ValueError(f"{path} must hold complete arrays; it is damaged ({error}); write it again.") from None
    if missing := [name for name in required if name not in arrays]:
        raise ValueError(f"{path} must hold the arrays {', '.join(required)}; it lacks {', '.join(missing)}; add them.")
    return arrays
