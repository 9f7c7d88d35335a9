"""Samples from a table of comma-separated numbers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

ROLES = {"group": "group", "groups": "group", "label": "label", "labels": "label"}


def read_table(path: Path) -> Samples:
    """Read a .csv of numbers, one row a sample, with or without a first line of names.

    A column named `group` holds whole numbers (0 is the background), or names of which one is `background`. A column named
    `label` holds whole numbers or names; an empty cell is an unknown label.
    """
    lines = _rows(path)
    names = _header(path, lines[0][1])
    if names:
        lines = lines[1:]
    if not lines:
        raise ValueError(f"{path} expected at least one row of numbers below its names, but has none.")
    special = _special(path, names)
    kept = [i for i in range(len(lines[0][1])) if i not in special.values()]
    if not kept:
        raise ValueError(f"{path} expected at least one column of numbers besides group and label, but has none.")
    x = _numbers(path, lines, kept, names)
    columns: dict[str, Any] = {}
    for role, index in special.items():
        cells = [row[index].strip() for _, row in lines]
        columns[f"{role}s"], columns[f"{role}_names"] = _groups(path, cells) if role == "group" else _labels(cells)
    try:
        return Samples(x, **columns)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{path}: {error}") from None


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, with their numbers, all of one width."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} expected comma-separated text in UTF-8, but it cannot be read ({error}).") from None
    if not lines:
        raise ValueError(f"{path} expected rows of numbers, but is empty.")
    width = len(lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(
                f"{path} expected {width} columns in every line, as in its first, but line {number} has {len(row)}."
            )
    return lines


def _header(path: Path, first: list[str]) -> list[str]:
    numeric = [_is_number(cell) for cell in first]
    if all(numeric):
        return []
    names = [cell.strip() for cell in first]
    if any(numeric):
        raise ValueError(
            f"{path} must be names or numbers in its first line, but it mixes them ({', '.join(names[:6])}); name all columns."
        )
    if "" in names:
        raise ValueError(
            f"{path} must be a name for every column, but column {names.index('') + 1} has none; "
            "name it, or drop it if it only numbers the rows."
        )
    return names


def _special(path: Path, names: list[str]) -> dict[str, int]:
    special: dict[str, int] = {}
    for index, name in enumerate(names):
        role = ROLES.get(name.lower())
        if role in special:
            raise ValueError(f"{path} must be one column of {role}s, but has two; rename one of them.")
        if role:
            special[role] = index
    return special


def _numbers(path: Path, lines: list[tuple[int, list[str]]], kept: list[int], names: list[str]) -> Array:
    try:
        return np.array([[row[i] for i in kept] for _, row in lines], dtype=np.float64)
    except ValueError:
        line, column = next((n, i) for n, row in lines for i in kept if not _is_number(row[i]))
        cell = next(row for n, row in lines if n == line)[column]
        where = repr(names[column]) if names else f"number {column + 1}"
        raise ValueError(f"{path} must be a number in line {line}, column {where}, but found {cell!r}.") from None


def _groups(path: Path, cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(dict.fromkeys(("background", *cells)))
    if "background" not in cells or "" in cells:
        raise ValueError(
            f"{path} must be whole numbers in its group column (0 is the background), or names of which one is 'background', "
            f"but found {', '.join(map(repr, names[1:4]))}."
        )
    return np.array([names.index(cell) for cell in cells]), names


def _labels(cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(_is_number(cell) for cell in cells):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(sorted(set(cells) - {""}))
    return np.array([names.index(cell) if cell else -1 for cell in cells]), names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
