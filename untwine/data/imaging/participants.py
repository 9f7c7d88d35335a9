"""What `participants.tsv` says of each subject, for the columns that have a role."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.data.imaging.layout import group_folders
from untwine.data.imaging.scan import Scan
from untwine.data.readers.roles import Roles
from untwine.registry.checks import listed

TABLE, ID = "participants.tsv", "participant_id"
MISSING = ("", "n/a", "N/A", "NA", "nan")


def columns_of_scans(scans: Sequence[Scan], root: Path, roles: Roles) -> dict[str, Any]:
    """Return what is known of each scan, as the arguments of `Samples`: groups, labels, covariates, factors and sources."""
    if roles.id is not None:
        raise ValueError(f"the ids of scans are their files and slices; got id={roles.id!r}; leave it out.")
    sources = np.array([scan.subject for scan in scans])
    # Scans that a fitted method is applied to may come without what is known of them.
    required = getattr(roles, "required", True)
    if roles.names and (required or (root / TABLE).is_file()):
        rows = _rows(root / TABLE, roles, required)
        row_of = {scan.subject: _find(rows, scan.subject) for scan in scans}
        unknown = [scan for scan in scans if not row_of[scan.subject]]
        if unknown and not required:
            return {"sources": sources}
        if unknown:
            raise ValueError(
                f"{root / TABLE} must have a row for every scan; {unknown[0].name} is of {unknown[0].subject!r}, which has none"
                f"{_and_more(len(unknown))}; add it to {ID}, or remove the file."
            )
        if without := [subject for subject in rows if subject not in set(row_of.values())]:
            warnings.warn(
                f"{root / TABLE} has {len(without)} participants without a scan, which are left out: {listed(without, 100)}.",
                stacklevel=2,
            )
        there = [name for name in roles.names if all(name in row for row in rows.values())]
        table = {name: _column([rows[row_of[scan.subject]][name] for scan in scans]) for name in there}
        known = roles.columns(table, str(root / TABLE))
    else:
        known = {}
    if not roles.group and any(scan.group for scan in scans):
        known |= _folder_groups(scans, root)
    elif required and roles.background and not roles.group:
        raise ValueError(
            f"background={roles.background[0]!r} is a value of a column of {TABLE}; name it with group, or put the files into "
            "background/ and target/."
        )
    return {"sources": sources, **known}


def per_sample(known: dict[str, Any], which: Array) -> dict[str, Any]:
    """Return columns of scans as columns of the samples that were made of them, by the number of each one's scan."""
    done: dict[str, Any] = {}
    for name, column in known.items():
        if name == "covariates":
            done[name] = {one: np.asarray(values)[which] for one, values in column.items()}
        else:
            done[name] = column if name.endswith("_names") else np.asarray(column)[which]
    return done


def _folder_groups(scans: Sequence[Scan], root: Path) -> dict[str, Any]:
    folders = group_folders(root)
    if stray := [scan.name for scan in scans if not scan.group]:
        raise ValueError(f"{root} must have all scans in background/ and target/; {stray[0]} is in neither; move it.")
    present = [folder for folder in folders if any(scan.group == folder for scan in scans)]
    if present[:1] != ["background"] or len(present) < 2:
        raise ValueError(f"{root} must have scans in background/ and target/; got {', '.join(present)} alone; add others.")
    return {
        "groups": np.array([present.index(scan.group) for scan in scans]),
        "group_names": tuple(folders[folder] for folder in present),
    }


def _rows(path: Path, roles: Roles, required: bool) -> dict[str, dict[str, str]]:
    """Return the row of each participant, by its id."""
    if not path.is_file():
        raise ValueError(
            f"{path} must have the columns {', '.join(map(repr, roles.names))}; there is no such file; write it with "
            f"{ID} and these, tabs between them."
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file, delimiter="\t", restval=""))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} must be text in UTF-8 with tabs between columns; it cannot be read ({error}).") from None
    names = list(lines[0]) if lines else []
    if ID not in names:
        raise ValueError(f"{path} must have the column {ID!r} and a row for each subject; got {names}; correct it.")
    if required and (missing := [name for name in roles.names if name not in names]):
        raise ValueError(f"{path} must have the column {missing[0]!r}; it has {', '.join(map(repr, names))}; correct the name.")
    rows: dict[str, dict[str, str]] = {}
    for number, line in enumerate(lines, start=2):
        subject = (line[ID] or "").strip()
        if _find(rows, subject):
            raise ValueError(f"{path} must have one row for each participant; line {number} has {subject!r} again; remove one.")
        rows[subject] = line
    return rows


def _find(rows: Mapping[str, object], subject: str) -> str:
    """Return the id of a subject in the table, which may leave out `sub-`; empty where it has none."""
    bare = subject.removeprefix("sub-")
    return next((one for one in (subject, bare, f"sub-{bare}") if one in rows), "")


def _column(cells: Sequence[str | None]) -> Array:
    """Return cells as numbers where all that are not missing are numbers, else as text."""
    texts = ["" if (cell or "").strip() in MISSING else str(cell).strip() for cell in cells]
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts)


def _and_more(many: int) -> str:
    return f" (and {many - 1} more)" if many > 1 else ""
