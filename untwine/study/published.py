"""The studies that come with the package, by name: `studies/` of a checkout, or its copy in an installed package."""

from __future__ import annotations

import os
from pathlib import Path

from untwine.registry.checks import suggestion
from untwine.runs import files

PACKAGED = Path(__file__).parent / "published"
REPOSITORY = Path(__file__).parents[2]
OWN_RESULTS = Path("runs", "studies", "results")  # where long tables of packaged studies go on: a package is not written to


def published_studies() -> dict[str, Path]:
    """Return the file of each study that comes with the package, by name."""
    checkout = REPOSITORY / "studies" if (REPOSITORY / "pyproject.toml").is_file() else PACKAGED
    folder = PACKAGED if PACKAGED.is_dir() else checkout
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_study(path: str | os.PathLike[str]) -> Path:
    """Return the file of a study from its path, or from the name of one that comes with the package."""
    given = Path(path)
    if given.is_file() or given.suffix or len(given.parts) > 1:
        return given
    known = published_studies()
    if given.name not in known:
        raise ValueError(
            f"a study must be a TOML file or a name that `untwine study list` shows; got {given.name!r}; "
            f"{suggestion(given.name, known)}"
        )
    return known[given.name]


def table_path(study: Path, write: bool = False) -> Path:
    """Return the long table of a study: in `results` beside its file.

    That of a packaged study is copied to `runs/studies/results` of the working folder before it is written, and read there from
    then on.
    """
    shipped = study.parent / "results" / f"{study.stem}.csv"
    if study.parent != PACKAGED:
        return shipped
    own = OWN_RESULTS / shipped.name
    if write and not own.exists() and shipped.exists():
        files.write(own, shipped.read_bytes())
    return own if write or own.exists() else shipped
