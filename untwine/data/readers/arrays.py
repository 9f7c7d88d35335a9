"""Samples from .npy and .npz files of plain arrays; pickled objects are refused."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

COLUMNS = ("groups", "labels", "factors")
NAMES = ("group_names", "label_names", "factor_names")


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
    strange = [key for key in arrays if key not in ("x", *COLUMNS, *NAMES)]
    if strange:
        raise ValueError(
            f"besides x expected only {', '.join(COLUMNS + NAMES)}, but found {', '.join(strange)}; drop what is extra."
        )
    columns: dict[str, Any] = {key: arrays[key] for key in COLUMNS if key in arrays}
    names: dict[str, Any] = {key: tuple(map(str, arrays[key].ravel())) for key in NAMES if key in arrays}
    return Samples(arrays["x"], **columns, **names)


def _from_groups(arrays: dict[str, Array]) -> Samples:
    targets = {
        key.removeprefix("target_"): rows for key, rows in arrays.items() if key.startswith("target_") or key == "target"
    }
    if "background" not in arrays or not targets or len(targets) + 1 != len(arrays):
        raise ValueError(
            "expected the array x, or the arrays background and target (or several target_...), "
            f"but found {', '.join(arrays) or 'none'}; save it with np.savez(path, target=..., background=...)."
        )
    return Samples.contrast(target=targets, background=arrays["background"])


def load_arrays(path: Path) -> dict[str, Array]:
    """Load all arrays of an .npz, or the one of an .npy as x; pickled objects and damaged files get their sentence."""
    with path.open("rb") as file:
        start = file.read(6)
    if start != b"\x93NUMPY" and not start.startswith(b"PK"):
        raise ValueError(f"{path} must be a file written by np.save or np.savez, but its content is of another kind.")
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            return {"x": loaded} if isinstance(loaded, np.ndarray) else {key: loaded[key] for key in loaded}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        if "allow_pickle" in str(error):
            raise ValueError(
                f"{path} expected plain arrays, but holds Python objects, which are never unpickled; save numbers or strings."
            ) from None
        raise ValueError(f"{path} must be whole arrays, but it is damaged ({error}); write it again.") from None
