"""Samples from tables of comma-separated values."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

ROLES = {name: role for role in ("group", "label", "source") for name in (role, f"{role}s")}


def read_table(path: Path) -> Samples:
    """Read a .csv of numbers, one row per sample, with or without a header.

    A column named `group` has integers (0 is the background), or names of which one is `background`. A column named
    `label` has integers or names; an empty cell is an unknown label. A column named `source` has integers or names of what
    each sample was made from or belongs to.
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
            f"{path} must have at least one column of numbers besides group and label (and source); got none; add one."
        )
    x = _numbers(path, lines, features, names)
    columns: dict[str, Any] = {}
    for role, index in roles.items():
        cells = [row[index].strip() for _, row in lines]
        if role == "source":
            columns["sources"] = _sources(path, cells)
        else:
            columns[f"{role}s"], columns[f"{role}_names"] = _groups(path, cells) if role == "group" else _labels(cells)
    try:
        return Samples(x, **columns)
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
            f"{path} must have names or numbers in its first line; it mixes them ({', '.join(names[:6])}); name all columns."
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
        cell = next(row for n, row in lines if n == line)[column]
        where = repr(names[column]) if names else f"number {column + 1}"
        raise ValueError(f"{path} must have a number in line {line}, column {where}; got {cell!r}; correct it.") from None


def _groups(path: Path, cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(dict.fromkeys(("background", *cells)))
    if "background" not in cells or "" in cells:
        raise ValueError(
            f"{path} must have integers in its group column (0 is the background), or names of which one is 'background'; "
            f"got {', '.join(map(repr, names[1:4]))}; rename the background."
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
