"""Location of data files on disk."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(folder: str | Path | None) -> Path:
    """Return the data folder: `folder`, else the environment variable UNTWINE_DATA, else ~/.cache/untwine."""
    if folder is not None and not isinstance(folder, (str, Path)):
        raise ValueError(f"folder must be a path; got {folder!r}.")
    return Path(folder or os.environ.get("UNTWINE_DATA") or "~/.cache/untwine").expanduser()


def locate(folder: str | Path | None, what: str, choices: tuple[str, ...], source: str, get: str = "") -> Path:
    """Return the first of several paths that exists, below the data folder or directly in it.

    Parameters
    ----------
    folder
        As in `data_folder`.
    what
        Name of the data set, for the error message.
    choices
        Paths relative to the data folder, the preferred one first.
    source
        Where the files can be downloaded, for the error message.
    get
        What `untwine data get` calls them, if it downloads them.
    """
    root = data_folder(folder)
    for choice in choices:
        for path in (root / choice, root / Path(choice).name):
            if path.exists():
                return path
    raise missing_files(what, root, " or ".join(choices), source, get=get)


def missing_files(
    what: str, folder: Path, files: str, source: str, contains: str = "it", got: str = "not found", get: str = ""
) -> ValueError:
    """Return the error for files that were not found.

    Parameters
    ----------
    what
        Name of the data set.
    folder
        Where the files were looked for.
    files
        Names of the files.
    source
        What to place there.
    contains
        What the data folder contains, where that is not the files themselves.
    got
        What was found instead.
    get
        What `untwine data get` calls them, if it downloads them.
    """
    place = f"run `untwine data get {get}`, or place" if get else "place"
    return ValueError(
        f"{what} must be in {folder} as {files}; {got}; {place} {source} there, or set the environment variable UNTWINE_DATA "
        f"(or the option folder) to the folder that contains {contains}."
    )
