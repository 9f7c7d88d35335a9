"""Where data files lie, and which of them are there."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(folder: str | Path | None) -> Path:
    """Return where data files lie: `folder`, else the environment's UNTWINE_DATA, else ~/.cache/untwine."""
    if folder is not None and not isinstance(folder, (str, Path)):
        raise ValueError(f"folder must be a path; got {folder!r}.")
    return Path(folder or os.environ.get("UNTWINE_DATA") or "~/.cache/untwine").expanduser()


def placed(folder: str | Path | None, what: str, choices: tuple[str, ...], source: str) -> Path:
    """Return the first of the choices that is there, below the data folder or in it; or say what was expected where.

    Parameters
    ----------
    folder
        As `data_folder` takes it.
    what
        The data set's name, as people call it.
    choices
        Paths below the data folder, the best first.
    source
        Where it can be had.
    """
    place = data_folder(folder)
    for choice in choices:
        for path in (place / choice, place / Path(choice).name):
            if path.exists():
                return path
    raise ValueError(
        f"{what} was must be in {place} as {' or '.join(choices)}, but is not there; place what {source} gives there, or "
        "set the environment variable UNTWINE_DATA (or the option folder) to the folder that holds it."
    )
