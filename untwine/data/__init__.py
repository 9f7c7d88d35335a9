"""Data sets by name, one file each, and readers of your own data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet, as_data_set, call_with_options
from untwine.data.factor_grid import FactorGrid
from untwine.data.readers.arrays import read_test_mask
from untwine.data.readers.folders import read_samples
from untwine.data.splits import Splits, hold_out, validation_split
from untwine.registry.checks import suggestion

__all__ = [
    "DataCard",
    "DataSet",
    "FactorGrid",
    "Splits",
    "data_sets",
    "described",
    "grid",
    "load",
    "origin",
    "read_samples",
    "validation_split",
]

TEST_SHARE = 0.2


def data_sets() -> dict[str, Callable[..., Splits]]:
    """Return the data sets by name: functions of keyword options, described by the first line of their docstrings."""
    return {name: data_set.load for name, data_set in _catalogue().items()}


def load_own(path: str | Path, *, size: int | None = None, test: float = TEST_SHARE, seed: int = 0) -> Splits:
    """Your own .npz, .npy or .csv file or folder of images, split at random; see `read_samples`.

    An .npz with the array `split`, "train" or "test" for each sample, keeps that split.
    """
    samples = read_samples(path, size=size)
    if samples.ids is None:
        samples = replace(samples, ids=np.arange(len(samples)))  # a split keeps the positions in the file
    is_test = read_test_mask(Path(path).expanduser(), len(samples))
    if is_test is None:
        return hold_out(samples, test, seed)
    if (test, seed) != (TEST_SHARE, 0):
        raise ValueError(f"{path} has its own split; test and seed must be left out; got test={test} and seed={seed}.")
    return Splits(samples[~is_test], samples[is_test])


def load(name: str | Path, **options: Any) -> Splits:
    """Load a data set of the catalogue, or your own from a path.

    Parameters
    ----------
    name
        Name of a data set, such as "grassy_digits" (`data_sets` has them all); or a path that `read_samples` reads, of which
        the share `test` (default 0.2) of each group is the test split, unless an .npz has its own in the array `split`.
    **options
        Options of the data set; all of ours have `seed`.

    Returns
    -------
    splits
        `splits.train` and `splits.test`, without a sample in common.

    Examples
    --------
    >>> load("toy_contrast", n_target=50, n_background=30, n_common=1, n_salient=1).train
    Samples(80 vectors of 20: background 30, target 50; factors common 0, salient 0)
    """
    known = _catalogue()
    if isinstance(name, str) and name in known:
        splits = call_with_options(name, known[name].load, options)
    elif isinstance(name, str | Path) and Path(name).expanduser().exists():
        splits = call_with_options(str(name), partial(load_own, name), options)
    else:
        raise ValueError(f"name must be a data set or an existing path; got {name!r}; {suggestion(name, known)}")
    if not isinstance(splits, Splits):
        raise TypeError(
            f"data set {name!r} must return untwine.data.Splits; got {type(splits).__name__}; return Splits(train, test)."
        )
    return splits


def origin(name: str | Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and options to store with a method fitted on `load(name, **options)`, as `fit` takes them.

    Where another data set stands in for missing files, the name is that of the other data set.
    """
    data_set = _catalogue().get(str(name))
    if data_set is None or data_set.stand_in is None:
        return {"name": str(name), "options": dict(options)}
    actual_name, actual_options = data_set.stand_in(options)
    return {"name": actual_name, "options": actual_options}


def grid(name: str, **options: Any) -> FactorGrid:
    """Return all images of a data set that has every combination of its factors, addressed by factor and read on demand.

    Parameters
    ----------
    name
        "cars3d", "chairs3d", "coil20", "dsprites", "dsprites_redrawn", "mpi3d", "posed_digits", "shapes3d" or "smallnorb".
    **options
        Options of the data set: `size` and, where it reads files, `folder`.

    Examples
    --------
    >>> sprites = grid("dsprites_redrawn")
    >>> sprites
    FactorGrid(737280 images: shape 3, scale 6, orientation 40, x 32, y 32)
    >>> sprites.images([[0, 5, 0, 16, 16], [2, 5, 0, 16, 16]]).shape
    (2, 1, 64, 64)
    """
    grids = {known: data_set.grid for known, data_set in _catalogue().items() if data_set.grid is not None}
    if not isinstance(name, str) or name not in grids:
        raise ValueError(
            f"name must be a data set with every combination of its factors; got {name!r}; {suggestion(name, grids)}"
        )
    images: FactorGrid = call_with_options(name, grids[name], options)
    return images


def _catalogue() -> dict[str, DataSet]:
    from untwine.data.catalogue import DATA_SETS

    return {name: as_data_set(entry) for name, entry in DATA_SETS.items()}
