"""Samples from tables of comma-separated values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.registry.checks import join_choices, listed, shortened
from untwine.samples import Samples

ROLES = {name: role for role in ("group", "label", "source", "id") for name in (role, f"{role}s")}
SEPARATORS = {";": "semicolons", "\t": "tabs"}


def read_table(path: Path) -> Samples:
    """Read a .csv of numbers, one row per sample, with or without a header.

    A column named `group` has integers (0 is the background), or names of which one is `background`. A column named
    `label` has integers or names; an empty cell is an unknown label. A column named `source` has integers or names of what
    each sample was made from or belongs to, and one named `id` a name of each sample. The names of all others are those of the
    features.
    """
    lines = _rows(path)
    names = _header(path, lines[0][1])
    if names:
        lines = lines[1:]
    if not lines:
        raise ValueError(f"{path} must have at least one row of numbers below its header; got none; add rows.")
    roles = _find_roles(path, names)
    features = [i for i in range(len(lines[0][1])) if i not in roles.values()]
    if not features:
        raise ValueError(
            f"{path} must have at least one column of numbers besides group and label (and source, id); got none; add one."
        )
    x = _numbers(path, lines, features, names)
    columns: dict[str, Any] = {}
    for role, index in roles.items():
        cells = [row[index].strip() for _, row in lines]
        if role == "id":
            columns["ids"] = np.array(cells)
        elif role == "source":
            columns["sources"] = _sources(path, cells)
        else:
            columns[f"{role}s"], columns[f"{role}_names"] = _groups(path, cells) if role == "group" else _labels(cells)
    try:
        return Samples(x, **columns, feature_names=tuple(names[i] for i in features) if names else ())
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty with their line numbers, all of one width."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(
            f"{path} must be comma-separated text in UTF-8; it cannot be read ({error}); save it as UTF-8."
        ) from None
    if not lines:
        raise ValueError(f"{path} must have rows of numbers; it is empty; add rows.")
    width = len(lines[0][1])
    for mark, words in SEPARATORS.items():
        if any(mark in cell for cell in lines[0][1]):
            raise ValueError(
                f"{path} must have commas between its columns; its first line has {words}; save it with commas, and with "
                "points in decimal numbers."
            )
    for number, row in lines:
        if len(row) != width:
            raise ValueError(
                f"{path} must have {width} columns in every line, as in the first; got {len(row)} in line {number}; correct it."
            )
    return lines


def _header(path: Path, first: list[str]) -> list[str]:
    numeric = [_is_number(cell) for cell in first]
    if all(numeric):
        return []
    names = [cell.strip() for cell in first]
    if any(numeric):
        raise ValueError(
            f"{path} must have names or numbers in its first line; it mixes them ({listed(names, 60)}); name all columns."
        )
    if "" in names:
        raise ValueError(
            f"{path} must have a name for every column; column {names.index('') + 1} has none; "
            "name it, or drop it if it is only a row index."
        )
    return names


def _find_roles(path: Path, names: list[str]) -> dict[str, int]:
    """Return the columns of groups, labels and sources."""
    roles: dict[str, int] = {}
    for index, name in enumerate(names):
        role = ROLES.get(name.lower())
        if role in roles:
            raise ValueError(f"{path} must have one column of {role}s; got two; rename one of them.")
        if role:
            roles[role] = index
    return roles


def _numbers(path: Path, lines: list[tuple[int, list[str]]], features: list[int], names: list[str]) -> Array:
    try:
        return np.array([[row[i] for i in features] for _, row in lines], dtype=np.float64)
    except ValueError:
        line, column = next((n, i) for n, row in lines for i in features if not _is_number(row[i]))
        cells = {n: row[column].strip() for n, row in lines}
        where = repr(shortened(names[column])) if names else f"number {column + 1}"
        if not cells[line]:
            got, advice = "got ''", "fill the cell, or leave the row or the column out"
        elif all(not _is_number(cell) for cell in cells.values()):
            got = f"got text in all of that column, such as {shortened(cells[line])!r}"
            advice = f"leave it out, or name it {join_choices(dict.fromkeys(ROLES.values()))} if it is one"
        else:
            got, advice = f"got {shortened(cells[line])!r}", "correct it"
        raise ValueError(f"{path} must have a number in line {line}, column {where}; {got}; {advice}.") from None


def _groups(path: Path, cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(dict.fromkeys(("background", *cells)))
    if "background" not in cells or "" in cells:
        raise ValueError(
            f"{path} must have integers in its group column (0 is the background), or names of which one is 'background'; "
            f"got {listed(map(repr, names[1:4]), 100)}; rename the background."
        )
    return np.array([names.index(cell) for cell in cells]), names


def _labels(cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(sorted(set(cells) - {""}))
    return np.array([names.index(cell) if cell else -1 for cell in cells]), names


def _sources(path: Path, cells: list[str]) -> Array:
    if "" in cells:
        raise ValueError(f"{path} must have a source in every row where it has a source column; got an empty cell; fill it in.")
    return np.array(cells, dtype=np.float64 if all(_is_number(cell) for cell in cells) else str)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
