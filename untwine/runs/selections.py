"""Named selections of a run's samples, and the file that holds them: the only thing that is added to a finished run by hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.registry.checks import check_int
from untwine.runs import files
from untwine.runs.names import SELECTIONS, is_run

MAX_SELECTIONS, MAX_SAMPLES, MAX_NAME = 200, 1_000_000, 80
ORIGINS = ("test", "gallery")


@dataclass(frozen=True)
class Selection:
    """Some samples of a run under a name.

    Parameters
    ----------
    name
        What it is called.
    samples
        The positions of the samples in the test split, ascending.
    of
        "test", the test split of the run's data; or "gallery", the originals of the run's gallery, targets first.
    fingerprint
        The start of the fingerprint of these samples; empty where not known.
    """

    name: str
    samples: tuple[int, ...]
    of: str = "test"
    fingerprint: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what the file keeps under the name."""
        return {"samples": list(self.samples), "of": self.of, "fingerprint": self.fingerprint}


def read_selections(folder: str | os.PathLike[str]) -> dict[str, Selection]:
    """Read the named selections of a run; empty where there is no file."""
    path = Path(folder) / SELECTIONS
    if not path.exists():
        return {}
    return {name: _selection(path, name, entry) for name, entry in files.read_json(path).items()}


def add_selection(folder: str | os.PathLike[str], selection: Selection) -> None:
    """Add a named selection to a run folder; one of that name is never replaced."""
    check_name(selection.name)
    if not is_run(folder):
        raise ValueError(f"a selection is saved into a run folder; {folder} is none any more; nothing was written.")
    known = read_selections(folder)
    if selection.name in known:
        raise ValueError(f"the name of a selection must be new; {selection.name!r} is taken; choose another.")
    if len(known) >= MAX_SELECTIONS:
        raise ValueError(f"a run can have {MAX_SELECTIONS} selections; it has as many; delete some from {SELECTIONS}.")
    samples = check_positions(selection.samples)
    content = {**known, selection.name: Selection(selection.name, samples, selection.of, selection.fingerprint)}
    files.write_json(Path(folder) / SELECTIONS, {name: one.to_json() for name, one in content.items()})


def check_name(name: object) -> str:
    """Return the name of a selection: 1 to 80 printable characters, without blanks at its ends."""
    if isinstance(name, str) and 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip():
        return name
    raise ValueError(
        f"the name of a selection must be 1 to {MAX_NAME} printable characters without blanks at its ends; got "
        f"{str(name)[:MAX_NAME]!r}; correct it."
    )


def check_positions(samples: Sequence[int]) -> tuple[int, ...]:
    """Return the positions of selected samples, ascending and each once; refuse none, and what is no position."""
    if not 0 < len(samples) <= MAX_SAMPLES:
        raise ValueError(f"a selection must have 1 to {MAX_SAMPLES:,} samples; got {len(samples):,}; select some.")
    return tuple(sorted({check_int("a selected sample", sample, 0) for sample in samples}))


def _selection(path: Path, name: str, entry: Any) -> Selection:
    try:
        samples, of, fingerprint = entry["samples"], entry.get("of", "test"), entry.get("fingerprint", "")
        if not isinstance(samples, list) or of not in ORIGINS or not isinstance(fingerprint, str):
            raise ValueError
        return Selection(check_name(name), check_positions(samples), of, fingerprint)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(
            f"{path} must hold selections as untwine writes them: names with lists of positions; {name[:MAX_NAME]!r} is "
            "something else; restore the file or delete it."
        ) from None
