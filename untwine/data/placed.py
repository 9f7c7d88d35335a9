"""Files and folders that the user has placed."""

from __future__ import annotations

from pathlib import Path

from untwine.data.mnist import data_folder


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
        f"{what} was expected in {place} as {' or '.join(choices)}, but is not there; place what {source} gives there, or "
        "set the environment variable UNTWINE_DATA (or the option folder) to the folder that holds it."
    )
