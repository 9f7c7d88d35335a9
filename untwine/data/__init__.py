"""Data sets by name, one file each, and readers of your own data, which are imported when first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet, as_data_set, call_with_options
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import data_folder
from untwine.data.remote import Download, RemoteFile
from untwine.data.splits import Splits, validation_split
from untwine.registry.checks import suggestion

if TYPE_CHECKING:
    from untwine.data.placement import Obtained
    from untwine.data.reading import read, read_samples

__all__ = [
    "DataCard",
    "DataSet",
    "Download",
    "FactorGrid",
    "RemoteFile",
    "Splits",
    "data_sets",
    "described",
    "get",
    "grid",
    "load",
    "load_again",
    "origin",
    "read",
    "read_samples",
    "validation_split",
]


def __getattr__(name: str) -> Any:
    if name not in ("read", "read_samples"):
        raise AttributeError(f"module 'untwine.data' has no attribute {name!r}")
    import untwine.data.reading as module

    return getattr(module, name)


def data_sets() -> dict[str, Callable[..., Splits]]:
    """Return the data sets by name: functions of keyword options, described by the first line of their docstrings."""
    return {name: data_set.load for name, data_set in _catalogue().items()}


def load(name: str | Path | None = None, **options: Any) -> Splits:
    """Load a data set of the catalogue, or your own from a path.

    Parameters
    ----------
    name
        Name of a data set, such as "grassy_digits" (`data_sets` has them all); or a path that `read` reads, of which the share
        `test` (default 0.2) of each group is the test split, unless an .npz has its own in the array `split`. None where the
        options `target` and `background` name paths.
    **options
        Options of the data set; all of ours have `seed`. Of a path those of `read`: the roles of columns and the options of the
        format; and `test` and `seed` of the split.

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
    elif (name is None and "target" in options) or (isinstance(name, str | Path) and Path(name).expanduser().exists()):
        from untwine.data.own import load_own

        splits = load_own(name, **options)
    else:
        raise ValueError(f"name must be a data set or an existing path; got {name!r}; {suggestion(name, known)}")
    if not isinstance(splits, Splits):
        raise TypeError(
            f"data set {name!r} must return untwine.data.Splits; got {type(splits).__name__}; return Splits(train, test)."
        )
    return splits


def origin(name: str | Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and options to store with a method fitted on `load(name, **options)`, as `fit` takes them.

    Where another data set stands in for missing files, the name is that of the other data set.
    """
    data_set = _catalogue().get(str(name))
    if data_set is None:
        from untwine.data.own import own_origin

        return own_origin(name, options)
    if data_set.stand_in is None:
        return {"name": str(name), "options": dict(options)}
    actual_name, actual_options = data_set.stand_in(options)
    return {"name": actual_name, "options": actual_options}


def load_again(stored: Mapping[str, Any], **options: Any) -> Splits:
    """Load the data of a run, which are stored as `origin` returned them, with these options in place of theirs."""
    name, own = stored["name"], stored.get("options", {})
    if name in _catalogue():
        return load(name, **{**own, **options})
    from untwine.data.own import as_fitted

    return load(None if "target" in own else name, **{**as_fitted(name, own), **options})


def get(
    name: str, folder: str | Path | None = None, *, watch: Callable[[str, int, int | None], None] | None = None, **options: Any
) -> tuple[Obtained, ...]:
    """Download what a data set needs, to where `load` looks for it; what is there already is left as it is.

    An interrupted download continues where it was cut. What its licence does not let a program download is refused with what
    to place by hand.

    Parameters
    ----------
    name
        Name of a data set, or of a download that several of them share: "mnist" or "cifar10".
    folder
        The data folder; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    watch
        Called while a file is downloaded with its name, the bytes that are there, and all bytes, where they are known.
    **options
        Options of the data set that decide which files it needs, such as `kind` of "mpi3d".

    Returns
    -------
    obtained
        Where the data are, and the address, size and SHA-256 of each downloaded file; empty if the data set needs no files.

    Examples
    --------
    >>> get("toy_contrast")
    ()
    """
    from untwine.data.placement import find_downloads, obtain  # it imports what downloads and unpacks, which few need

    obtained = tuple(obtain(need, folder, watch) for need in find_downloads(name, options))
    if obtained and all(one.by_hand for one in obtained):
        texts = " ".join(one.by_hand for one in obtained)
        raise ValueError(
            f"{name} must be placed by hand in {data_folder(folder)}; nothing was downloaded; place there: {texts}"
        )
    return obtained


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
