"""The formats that `read` knows: one line each, from what a path is to the function that reads it.

A reader is a function

    def read_something(path: Path, roles: Roles, **options: Any) -> Samples

which reads one file or folder. `path` exists. `roles` says which columns are group, label, covariates, source, factors and id;
a reader gathers the columns of its format (of `obs`, of `participants.tsv`, of the table itself) and passes what
`roles.columns(columns, where=str(path))` returns on to `Samples`. Its other keyword parameters are the options of the format,
each with a default and a value that JSON can hold, as `untwine fit --data-set name=value` gives them and the run's folder
stores them. What it cannot read is a `ValueError` of one sentence that names the file and, where there is one, the column. What
it leaves out or converts, it says by `notes.say(...)`, which `untwine data show` prints; what a user must know, by a warning.

A reader whose format also comes as an object (AnnData, a data frame) gets that object in place of the path.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.data.readers.roles import Roles
from untwine.registry.checks import join_choices, suggestion
from untwine.samples import Samples

Reader = Callable[..., Samples]  # (path, roles, **options)
IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp")
TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
COLUMNAR = (".parquet", ".pq", ".feather")
MOST_ENTRIES, DEPTH = 2000, 3  # of a folder, to find out what it holds


@dataclass(frozen=True)
class Format:
    """A format of files or folders.

    Parameters
    ----------
    name
        What a path of this format is, as a sentence needs it: "a table of comma-separated values".
    find
        Returns the reader; it imports the reader's module, so that a format costs nothing before it is read.
    endings
        Of the names of its files, and of its folders where they have one, in lower case.
    holds
        Whether a folder is of this format; None for formats that are files alone.
    """

    name: str
    find: Callable[[], Reader]
    endings: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options of the format with their defaults; empty where the reader takes whatever comes."""
        parameters = inspect.signature(self.find()).parameters.values()
        return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}

    def check(self, where: object, options: Mapping[str, Any]) -> None:
        """Refuse an option that the format does not have."""
        known = self.options
        if any(one.kind is one.VAR_KEYWORD for one in inspect.signature(self.find()).parameters.values()):
            return
        for option in options:
            if option not in known:
                choices = ", ".join(f"{key}={value!r}" for key, value in known.items())
                raise ValueError(
                    f"{option} applies to other data; {where} is {self.name}, whose options are {choices or 'none'}; "
                    + (suggestion(option, known) if known else f"drop {option}.")
                )

    def read(self, given: object, roles: Roles, options: Mapping[str, Any]) -> Samples:
        """Read a path, or an object of this format, after the names of the options are checked."""
        self.check(given if isinstance(given, Path) else type(given).__name__, options)
        return self.find()(given, roles, **options)


def _images() -> Reader:
    from untwine.data.readers.folders import read_images

    return read_images


def _arrays() -> Reader:
    from untwine.data.readers.arrays import read_arrays

    return read_arrays


def _texts() -> Reader:
    from untwine.data.readers.tables import read_table

    return read_table


def _columnar() -> Reader:
    from untwine.data.readers.columnar import read_columnar

    return read_columnar


def _frames() -> Reader:
    from untwine.data.readers.columnar import read_frame

    return read_frame


def _anndata() -> Reader:
    try:
        from untwine.data.readers.anndata_files import read_anndata  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        raise _not_there(error, "AnnData") from None
    reader: Reader = read_anndata
    return reader


def _volumes() -> Reader:
    try:
        from untwine.data.readers.volumes import read_volumes  # type: ignore[import-not-found,unused-ignore]
    except ModuleNotFoundError as error:
        raise _not_there(error, "volumes and DICOM images") from None
    reader: Reader = read_volumes
    return reader


def _not_there(error: ModuleNotFoundError, what: str) -> Exception:
    if error.name is None or not error.name.startswith("untwine."):
        return error
    return ValueError(f"{what} must be converted first; this version cannot read them; save the values as an .npz.")


def _is_volumes(folder: Path) -> bool:
    """Whether a folder is of the BIDS layout, or holds volumes or DICOM images, at any depth."""
    if (folder / "participants.tsv").is_file() or (folder / "dataset_description.json").is_file():
        return True
    return _has(folder, VOLUMES)


def _has(folder: Path, endings: tuple[str, ...]) -> bool:
    """Whether one of the first entries of a folder and the folders in it has one of the endings; links are not followed."""
    entries = 0
    for here, folders, files in os.walk(folder):
        if len(Path(here).relative_to(folder).parts) >= DEPTH:
            folders.clear()
        entries += len(files) + len(folders)
        if any(name.lower().endswith(endings) for name in files):
            return True
        if entries > MOST_ENTRIES:
            return False
    return False


ZARR = (".zgroup", "zarr.json")
VOLUMES = (".nii", ".nii.gz", ".dcm")
ANNDATA = Format("AnnData", _anndata, (".h5ad", ".zarr"), lambda folder: any((folder / name).is_file() for name in ZARR))
FRAMES = Format("a data frame", _frames)  # no files: objects alone
IMAGE_FILES = Format("an image or a folder of images", _images, IMAGES, lambda folder: True)
# In this order: the first whose ending fits, or that holds what a folder has in it.
FORMATS: tuple[Format, ...] = (
    Format("a file of arrays", _arrays, (".npz", ".npy")),
    Format("a table of text", _texts, TEXTS),
    Format("a table", _columnar, COLUMNAR, lambda folder: any(folder.glob("*.parquet"))),
    ANNDATA,
    Format("a volume, or a folder of volumes or of DICOM images", _volumes, VOLUMES, _is_volumes),
    IMAGE_FILES,
)


def format_of(path: Path) -> Format:
    """Return the format of an existing file or folder, or refuse the path."""
    name = path.name.lower()
    for one in FORMATS:
        if name.endswith(one.endings) and (one.holds is not None or not path.is_dir()):
            return one
    if path.is_dir():
        return next(one for one in FORMATS if one.holds is not None and one.holds(path))
    known = join_choices(ending for one in FORMATS for ending in one.endings)
    raise ValueError(f"path must be a folder, or a file that ends in {known}; got {path}; convert it, or correct its ending.")
