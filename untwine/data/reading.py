"""Your own data: `read` takes a path or an object, finds its format, and returns `Samples`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine.data.readers.formats import ANNDATA, FRAMES, IMAGE_FILES, format_of
from untwine.data.readers.roles import Roles
from untwine.registry.checks import nearest
from untwine.registry.containers import is_anndata
from untwine.registry.names import as_names
from untwine.samples import Samples

PathLike = str | Path
NEEDS_BOTH = "target and background must be given together, such as read(target='patients/', background='controls/')"


def read(
    path: Any = None,
    *,
    target: PathLike | Mapping[str, PathLike] | Sequence[PathLike] | None = None,
    background: PathLike | Sequence[str] | None = None,
    group: str | None = None,
    label: str | None = None,
    covariates: str | Sequence[str] = (),
    source: str | None = None,
    factors: str | Sequence[str] = (),
    id: str | None = None,
    **options: Any,
) -> Samples:
    r"""Read your own data: a file, a folder or an object, by what it is.

    Parameters
    ----------
    path
        A table (`.csv`, `.tsv`, gzipped too, `.parquet`, `.feather`), arrays (`.npz`, `.npy`), AnnData (`.h5ad`, `.zarr`), a
        volume or a folder of volumes (`.nii`, `.nii.gz`, `.dcm`, BIDS), an image, or a folder of images: with `background/` and
        `target/` (or several `target_.../`), with a folder for each class, or of images alone. Or an object: a data frame, or
        AnnData.
    target, background
        Paths of two or more sets, in place of `path`: `target` is one path, a list, or a mapping from the name of each target
        to its path; `background` is one path. With `group`, `background` is the value (or the values) of that column that are
        the background.
    group
        The column that says which group a sample belongs to, such as "condition".
    label
        The column of classes.
    covariates
        Columns of known nuisances, such as ["batch", "age"]: text is categorical, numbers are continuous.
    source
        The column of what a sample was made from or belongs to, such as "patient": splits never cut through one.
    factors
        Columns of numbers that are known of the samples, for evaluation only.
    id
        The column with a name for each sample.
    **options
        Options of the format, such as `size=64` of images; the tutorial on your own data lists them.

    Returns
    -------
    samples
        Samples in the order of the file, or of the sorted file names, the background first.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "cells.csv")
    ...     _ = path.write_text("condition,batch,gene a,gene b\ncontrol,1,0,2\ndrug,1,1,2\ndrug,2,1,3\n")
    ...     read(path, group="condition", background="control", covariates=["batch"])
    Samples(3 vectors of 2: control 1, drug 2; covariates batch)
    """
    single: dict[str, str | None] = {"group": group, "label": label, "source": source, "id": id}
    for name, value in single.items():
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column; got {value!r}; pass a string.")
    several: dict[str, Any] = {"covariates": as_names("covariates", covariates), "factors": as_names("factors", factors)}
    if target is not None:
        if path is not None:
            raise ValueError(
                "target names the paths of the targets, so path must be left out; got both; leave one of them out."
            )
        if group is not None:
            raise ValueError("target says which samples are targets, and group does too; got both; leave one of them out.")
        return _read_sets(target, background, Roles(**single, **several), options)  # type: ignore[arg-type]
    if path is None:
        raise ValueError(f"read needs a path, or target and background; got neither; {NEEDS_BOTH}.")
    if background is not None and group is None:
        raise ValueError(
            f"background is a value of the column group, or a path beside target; got background={background!r} with neither; "
            "name the column by group, or pass the paths as target and background."
        )
    values = () if background is None else as_names("background", _texts(background))
    return read_with(path, Roles(background=values, **single, **several), options)  # type: ignore[arg-type]


def _texts(values: Any) -> Any:
    """Return values of a column as text: of numbers too, which groups may be."""
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return str(values)
    return [_texts(one) for one in values] if isinstance(values, (list, tuple)) else values


def read_with(given: Any, roles: Roles, options: Mapping[str, Any]) -> Samples:
    """Read a path or an object with roles of its columns and options of its format."""
    if isinstance(given, Samples):
        raise TypeError("path must be a path or a data frame; got Samples, which need no reading; use them as they are.")
    if is_anndata(given):
        return ANNDATA.read(given, roles, options)
    if not isinstance(given, (str, Path)):
        from untwine.data.readers.columnar import is_frame

        if is_frame(given):
            return FRAMES.read(given, roles, options)
        raise TypeError(
            f"path must be a str or Path, a data frame or AnnData; got {type(given).__name__}; make samples of arrays by "
            "Samples(x)."
        )
    path = existing(given)
    return format_of(path).read(path, roles, options)


def existing(given: PathLike) -> Path:
    """Return a path that exists, or refuse it with the name that is nearest."""
    try:
        path = Path(given).expanduser()
        exists = path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # a loop of links, a name that is too long, no home, a null character
        raise ValueError(f"path must be a file or a folder; {given!r:.200} cannot be used ({error}); correct it.") from None
    if not exists:
        if path.is_symlink():
            raise ValueError(f"path must be a file or a folder; {path} is a link to nothing or to itself; correct the link.")
        beside = {one.stem: one.name for one in path.parent.iterdir()} if path.parent.is_dir() else {}
        near = nearest(path.stem, beside)
        hint = f"; did you mean {beside[near]!r}?" if near else "; correct the path."
        raise ValueError(f"path must be a file or a folder; {path} does not exist{hint}")
    return path


def _read_sets(target: Any, background: Any, roles: Roles, options: Mapping[str, Any]) -> Samples:
    """Read several sets, each from its path, and join them."""
    if not isinstance(background, (str, Path)):
        got = "no background" if background is None else f"background={background!r}"
        raise ValueError(f"{NEEDS_BOTH}; got target and {got}; pass the path of the background.")
    targets = _named(target)
    if "background" in targets:
        raise ValueError("a target must not be named 'background'; got that name; choose another.")
    paths = {name: existing(one) for name, one in {"background": background, **targets}.items()}
    _check_different(paths)
    if all(format_of(path) is IMAGE_FILES for path in paths.values()):
        from untwine.data.readers.folders import read_image_sets

        IMAGE_FILES.check(f"{background}", options)
        return read_image_sets(paths, roles, **options)
    sets = {name: read_with(path, roles, options) for name, path in paths.items()}
    for name, one in sets.items():
        if one.groups is not None:
            raise ValueError(
                f"{paths[name]} must be one set without groups, as it is given as {name!r}; it has the groups "
                f"{', '.join(one.group_names)}; pass it alone, as the path."
            )
    ids = [one.ids.tolist() for one in sets.values() if one.ids is not None]
    if len(set().union(*map(set, ids))) < sum(map(len, ids)):  # the same file names or numbers in several sets
        sets = {
            name: one if one.ids is None else replace(one, ids=np.array([f"{name} {own}" for own in one.ids]))
            for name, one in sets.items()
        }
    return Samples.contrast(
        target={name: one for name, one in sets.items() if name != "background"}, background=sets["background"]
    )


def _named(target: Any) -> dict[str, PathLike]:
    """Return targets by name: those of a mapping, or the names of files and folders where there are several."""
    if isinstance(target, (str, Path)):
        return {"target": target}
    if isinstance(target, Mapping):
        named = {str(name): path for name, path in target.items()}
    elif isinstance(target, Sequence):
        named = {}
        for path in target:
            if not isinstance(path, (str, Path)):
                raise TypeError(f"target must be paths; got {path!r:.60} among them; make samples by Samples.contrast.")
            name = Path(path).name.split(".")[0] or str(path)
            if name in named:
                raise ValueError(
                    f"target must be paths of different names; got {name!r} twice; pass a mapping from name to path."
                )
            named[name] = path
        if len(named) == 1:
            named = {"target": next(iter(named.values()))}
    else:
        raise TypeError(f"target must be a path, a list of paths or a mapping from name to path; got {target!r:.60}.")
    for name, path in named.items():
        if not isinstance(path, (str, Path)):
            raise TypeError(f"target must be paths; got {path!r:.60} as {name!r}; make samples by Samples.contrast.")
    if not named or "" in named:
        raise ValueError("target must be at least one path, each with a name; got none; pass paths.")
    return named


def _check_different(paths: Mapping[str, Path]) -> None:
    names: dict[Path, str] = {}
    for name, path in paths.items():
        other = names.setdefault(path.resolve(), name)
        if other != name:
            raise ValueError(
                f"each set must have a path of its own; {other!r} and {name!r} are both {path}; correct one of them."
            )


def read_samples(path: PathLike, *, size: int | None = None) -> Samples:
    """Read samples from a path without roles; the same as `read(path, size=size)`."""
    if not isinstance(path, (str, Path)):
        raise TypeError(f"path must be a str or Path; got {path!r}.")
    return read(path) if size is None else read(path, size=size)
