"""Data sets by name, each in its own file, and readers of users' own data."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from untwine.data.factor_grid import FactorGrid
from untwine.data.readers.folders import read_samples
from untwine.data.splits import Splits, held_out, validation_split

__all__ = ["FactorGrid", "Splits", "data_sets", "grid", "load", "origin", "read_samples", "validation_split"]


def data_sets() -> dict[str, Callable[..., Splits]]:
    """Return the data sets by name: functions of keyword options, described by the first line of their docstrings."""
    from untwine.data.catalogue import DATA

    return dict(DATA)


def own_data(path: str | Path, *, size: int | None = None, test: float = 0.2, seed: int = 0) -> Splits:
    """Your own .npz, .npy or .csv file or folder of images, split at random; see `read_samples`."""
    return held_out(read_samples(path, size=size), test, seed)


def load(name: str | Path, **options: Any) -> Splits:
    """Load a data set of the catalogue, or your own from a path.

    Parameters
    ----------
    name
        Its name, such as "grassy_digits" (`data_sets` has them all); or a path that `read_samples` reads, of which the share
        `test` (0.2) of each group is kept for the test.
    **options
        What the data set lets one choose; always `seed`.

    Returns
    -------
    splits
        `splits.train` and `splits.test`; nothing in the test part was seen in training.

    Examples
    --------
    >>> load("toy_contrast", n_target=50, n_background=30, n_common=1, n_salient=1).train
    Samples(80 vectors of 20: background 30, target 50; factors common 0, salient 0)
    """
    known = data_sets()
    if isinstance(name, str | Path) and name not in known and Path(name).expanduser().exists():
        known[str(name)] = partial(own_data, name)
        name = str(name)
    splits: Splits = _called(known, name, options, "load expected the name of a data set", " and no such path")
    return splits


def origin(name: str | Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and options to keep with what was trained on `load(name, **options)`, as `fit` takes them.

    Where a data set's files are not there and something stands in for it, the name is that one's.
    """
    from untwine.data.catalogue import NAMES

    found, kept = NAMES[str(name)](options) if str(name) in NAMES else (str(name), dict(options))
    return {"name": found, "options": kept}


def grid(name: str, **options: Any) -> FactorGrid:
    """Return all images of a data set whose factors come in every combination, addressed by them and read when asked for.

    Parameters
    ----------
    name
        "cars3d", "chairs3d", "coil20", "dsprites", "dsprites_redrawn", "mpi3d", "posed_digits", "shapes3d" or "smallnorb".
    **options
        What the data set lets one choose: `size` and, where it reads files, `folder`.

    Examples
    --------
    >>> sprites = grid("dsprites_redrawn")
    >>> sprites
    FactorGrid(737280 images: shape 3, scale 6, orientation 40, x 32, y 32)
    >>> sprites.images([[0, 5, 0, 16, 16], [2, 5, 0, 16, 16]]).shape
    (2, 1, 64, 64)
    """
    from untwine.data.catalogue import GRIDS

    found: FactorGrid = _called(GRIDS, name, options, "grid expected the name of a data set with all combinations")
    return found


def _called(
    known: Mapping[str, Callable[..., Any]], name: object, options: dict[str, Any], expected: str, also: str = ""
) -> Any:
    """Call the known function of this name, or say which name or option is close."""
    if not isinstance(name, str) or name not in known:
        close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(close)}?" if close else f"choose one of {', '.join(known)}."
        raise ValueError(f"{expected}, but there is none called {name!r}{also}; {hint}")
    defaults = {option: p.default for option, p in inspect.signature(known[name]).parameters.items()}
    for option in options:
        if option not in defaults:
            choices = ", ".join(f"{key}={value!r}" for key, value in defaults.items())
            raise ValueError(f"{name} has no option {option!r}; it takes {choices}.")
    return known[name](**options)
