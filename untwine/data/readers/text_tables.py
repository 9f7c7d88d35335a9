"""Tables of text: their separator, their header and their cells, as numbers where they are.

Numbers are parsed at once by numpy where every cell is one; else row by row, which finds what is missing or wrong and where.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.readers import notes
from untwine.data.readers.contents import read_text
from untwine.registry.checks import listed, shortened

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
ROWS_SEEN = 50  # to find out the separator and the decimal mark
ROWS_AT_ONCE = 2000
MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none"))
BOOLEANS = {"true": "1", "false": "0"}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
Row = tuple[int, list[str]]  # with the number of its last line


@dataclass(frozen=True)
class TextTable:
    """A table of text, not yet parsed.

    Parameters
    ----------
    path
        Its file.
    text
        The whole content.
    separator, decimal
        The marks between columns and in decimal numbers.
    names
        The header, empty where there is none.
    width
        The number of columns.
    skipped
        How many lines come before the first sample.
    """

    path: Path
    text: str
    separator: str
    decimal: str
    names: tuple[str, ...]
    width: int
    skipped: int

    def rows(self) -> Iterator[Row]:
        """Yield the rows below the header that are not blank, all of one width, or refuse the first that is not."""
        for line, row in _split(self.path, self.text, self.separator):
            if line <= self.skipped or not any(map(str.strip, row)):
                continue
            if len(row) != self.width:
                self.refuse_width(line, len(row))
            yield line, row

    def refuse_width(self, line: int, width: int) -> None:
        """Refuse a line that has another number of columns than the first."""
        raise ValueError(
            f"{self.path} must have {self.width} columns in every line, as in the first; got {width} in line {line}; "
            "correct it."
        )

    def name(self, column: int) -> str:
        """Return what a column is called in a sentence."""
        return repr(shortened(self.names[column])) if self.names else f"number {column + 1}"


def open_table(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> TextTable:
    """Read a table of text and find out its separator, its decimal mark and its header, where they are not given."""
    text = read_text(path, encoding)
    if separator is None:
        separator = _find_separator(path, text)
    elif separator in ("\\t", "tab"):
        separator = "\t"
    if len(separator) != 1 or separator in '\r\n"':
        raise ValueError(f"separator must be one character, such as ';'; got {separator!r}.")
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ','; got {decimal!r}.")
    first = next(((n, row) for n, row in _split(path, text, separator) if any(map(str.strip, row))), None)
    if first is None:
        raise ValueError(f"{path} must have rows of numbers; it is empty; add rows.")
    line, cells = first
    start = TextTable(path, text, separator, ".", (), len(cells), 0)
    if decimal is None:
        decimal = "." if separator == "," else _find_decimal(start)
    names = _header(path, cells, decimal, header)
    return TextTable(path, text, separator, decimal, tuple(names), len(cells), line if names else line - 1)


def _split(path: Path, text: str, separator: str) -> Iterator[Row]:
    """Yield the rows of a text with the numbers of their last lines."""
    lines = io.StringIO(text, newline="")
    if '"' not in text:
        for number, line in enumerate(lines, 1):
            yield number, line.rstrip("\r\n").split(separator)
        return
    reader = csv.reader(lines, delimiter=separator, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(
            f"{path} must be a table of text; line {reader.line_num} cannot be read ({error}); correct its quotes."
        ) from None


def _find_separator(path: Path, text: str) -> str:
    """Return the separator by the ending and by the first lines: what gives all of them the same number of columns."""
    tabs = path.name.lower().removesuffix(".gz").endswith(".tsv")
    usual = "\t" if tabs else ","
    first = next(line for line in io.StringIO(text) if line.strip())
    if usual in first:
        return usual
    for mark, words in SEPARATORS.items():
        if mark in first:
            try:
                rows = [row for _, row in islice(_split(path, text, mark), ROWS_SEEN) if any(map(str.strip, row))]
            except ValueError:
                continue
            if len({len(row) for row in rows}) == 1:
                notes.say(f"{path} has {words} between its columns.")
                return mark
            raise ValueError(
                f"{path} must have {SEPARATORS[usual]} between its columns; its first line has {words}, but not all lines "
                "have as "
                f"many; correct it, or name the separator, such as separator={mark!r}."
            )
    return usual


def _find_decimal(table: TextTable) -> str:
    """Return the decimal mark by the first rows; refuse what could be either."""
    cells = [cell.strip() for _, row in islice(table.rows(), ROWS_SEEN) for cell in row]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    points = [cell for cell in cells if DECIMAL_POINT.fullmatch(cell)]
    if not commas:
        return "."
    if points or all(THOUSANDS.fullmatch(cell) for cell in commas):
        other = f"and {points[0]!r}" if points else "which may be thousands"
        raise ValueError(
            f"{table.path} must have one decimal mark; got {commas[0]!r} {other}; say which it is by decimal=',' or save the "
            "table "
            "with points in decimal numbers and without marks of thousands."
        )
    notes.say(f"{table.path} has commas in decimal numbers.")
    return ","


def _header(path: Path, cells: list[str], decimal: str, header: bool | None) -> list[str]:
    names = [cell.strip() for cell in cells]
    numeric = [is_number(_pointed(cell, decimal)) for cell in names]
    if header is False or (header is None and all(numeric)):
        return []
    if header is None and any(numeric):
        raise ValueError(
            f"{path} must have names or numbers in its first line; it mixes them ({listed(names, 60)}); name all columns, or "
            "pass "
            "header=True."
        )
    repeated = [name for name in dict.fromkeys(names) if name and names.count(name) > 1] if len(set(names)) < len(names) else []
    if repeated:
        raise ValueError(
            f"{path} must have a different name for every column; got {listed(map(repr, repeated), 100)} more than once; "
            "rename them."
        )
    return names


def described_cells(table: TextTable, columns: Sequence[int]) -> tuple[int, dict[int, list[str]]]:
    """Return the number of samples, and the cells of some columns as text; all rows are checked to have one width."""
    cells: dict[int, list[str]] = {column: [] for column in columns}
    n, last = 0, max(columns, default=-1)
    if '"' not in table.text:  # without splitting lines beyond the last of the columns: a table may have thousands
        blank, mark = f"{table.separator} \t\r\n", table.separator
        for number, line in enumerate(io.StringIO(table.text, newline=""), 1):
            if number <= table.skipped or not line.strip(blank):
                continue
            if line.count(mark) != table.width - 1:
                table.refuse_width(number, line.count(mark) + 1)
            n += 1
            first = line.rstrip("\r\n").split(mark, last + 1) if cells else []
            for column, own in cells.items():
                own.append(first[column].strip())
        return n, cells
    for _, row in table.rows():
        n += 1
        for column, own in cells.items():
            own.append(row[column].strip())
    return n, cells


def numbers(table: TextTable, columns: Sequence[int], n: int) -> Array:
    """Return some columns as numbers (n, k), NaN where a cell is missing; refuse columns and cells of text by name."""
    text = table.text
    if table.decimal == ",":
        text = text if '"' in text else text.replace(",", ".")
    if table.decimal == "." or '"' not in text:
        try:
            x: Array = np.loadtxt(
                io.StringIO(text), delimiter=table.separator, skiprows=table.skipped, quotechar='"', comments=None, ndmin=2,
                usecols=None if len(columns) == table.width else list(columns),
            )  # fmt: skip
            if len(x) == n:
                return x
        except ValueError:  # missing values, text, or blank lines: the rows say where
            pass
    return _numbers_by_row(table, columns)


def _numbers_by_row(table: TextTable, columns: Sequence[int]) -> Array:
    """Parse block by block, and gather what is no number."""
    rows, blocks = table.rows(), []
    texts: dict[int, tuple[int, str]] = {}  # of a column, the line and the cell of its first text
    numeric: set[int] = set()
    while block := list(islice(rows, ROWS_AT_ONCE)):
        values = _at_once(block, columns) if table.decimal == "." else None
        if values is not None:
            numeric.update(column for k, column in enumerate(columns) if np.isfinite(values[:, k]).any())
            blocks.append(values)
            continue
        values = np.full((len(block), len(columns)), np.nan)
        for k, column in enumerate(columns):
            cells = [row[column] for _, row in block]
            for i, cell in enumerate(cells):
                number = _number(cell, table.decimal)
                if number is None:
                    texts.setdefault(column, (block[i][0], cell.strip()))
                else:
                    values[i, k] = number
            if np.isfinite(values[:, k]).any():
                numeric.add(column)
        blocks.append(values)
    _refuse_texts(table, texts, numeric)
    return np.concatenate(blocks)


def _at_once(block: list[Row], columns: Sequence[int]) -> Array | None:
    """Return a block as numbers if nothing but empty cells is missing in it; else None."""
    cells = [[row[column] or "nan" for column in columns] for _, row in block]
    try:
        values = np.array(cells, dtype=np.float64)
    except ValueError:
        return None
    return None if any("_" in cell for row in cells for cell in row) else values


def _refuse_texts(table: TextTable, texts: dict[int, tuple[int, str]], numeric: set[int]) -> None:
    """Refuse a cell of text in a column of numbers, and else all columns of text."""
    for column, (line, cell) in texts.items():
        if column in numeric:
            raise ValueError(
                f"{table.path} must have a number in line {line}, column {table.name(column)}; got {shortened(cell)!r}; "
                "correct it."
            )
    refuse_text_columns(table.path, {table.name(column): shortened(cell) for column, (_, cell) in texts.items()})


def refuse_text_columns(where: object, columns: dict[str, str]) -> None:
    """Refuse columns without a role that hold text, each given with one of its values."""
    if columns:
        shown = listed((f"{name} ({value!r})" for name, value in columns.items()), 160)
        raise ValueError(
            f"{where} must have numbers in every column without a role; got text in {shown}; give each a role (group, label, "
            "covariates, source, factors or id), or leave it out by drop=[...]."
        )


def _number(cell: str, decimal: str) -> float | None:
    """Return a cell as a number, NaN where it is missing, None where it is text."""
    cell = cell.strip()
    if cell.lower() in MISSING:
        return np.nan
    cell = BOOLEANS.get(cell.lower(), _pointed(cell, decimal))
    return float(cell) if is_number(cell) else None


def _pointed(cell: str, decimal: str) -> str:
    return cell.replace(",", ".") if decimal == "," and DECIMAL_COMMA.fullmatch(cell.strip()) else cell


def typed(cells: list[str], decimal: str = ".") -> Array:
    """Return the cells of a column as numbers, NaN where missing, if all others are numbers; else as text."""
    values = [_number(cell, decimal) for cell in cells]
    if any(value is None for value in values) or any(cell.lower() in BOOLEANS for cell in cells):
        return np.array(cells)
    return np.array(values, dtype=np.float64)


def is_number(cell: str) -> bool:
    """Whether a text is a number as tables have it: Python's underscores are none."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
