"""Columns of the obs and var of AnnData as numpy arrays: categories, nullable numbers and missing values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.registry.checks import suggestion


class Columns(Mapping[str, Array]):
    """The columns of a data frame by name, each converted when it is asked for; `index` are the names of the lines."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._names = {str(name): i for i, name in enumerate(frame.columns)}

    @property
    def index(self) -> Array:
        """The names of the lines, as text."""
        return np.array([str(name) for name in self._frame.index], dtype=str)

    def __getitem__(self, name: str) -> Array:
        """Return a column: text with "" for a missing value, or numbers with NaN."""
        return as_array(self._frame.iloc[:, self._names[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def as_array(column: Any) -> Array:
    """Return a pandas column as numbers, NaN where missing, or as text, "" where missing; categories are always text."""
    missing = np.asarray(column.isna(), dtype=bool)
    if hasattr(column, "cat"):
        names = np.array([*map(_text, column.cat.categories.tolist()), ""], dtype=str)
        return np.asarray(names[np.asarray(column.cat.codes)])
    dtype = column.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "uif" or (kind == "b" and not missing.any()):
        return np.asarray(
            column.to_numpy(dtype=np.float64, na_value=np.nan) if missing.any() else column.to_numpy(_plain(dtype))
        )
    values = column.to_numpy(dtype=object)
    return np.array(["" if lacks else _text(one) for one, lacks in zip(values.tolist(), missing, strict=True)], dtype=str)


def feature_mask(table: Columns, name: str, where: str) -> Array:
    """Return the mask of features for which a column of var is true."""
    if name not in table:
        rest = suggestion(name, table) if len(table) else "var has no columns; leave var out."
        raise ValueError(f"{where} must have the column {name!r} in var; it has none of that name; {rest}")
    column = table[name]
    if column.dtype.kind == "U" and set(column.tolist()) <= {"True", "False"}:
        column = column == "True"
    if column.dtype.kind not in "bui" or not np.isin(column, (0, 1)).all():
        got = "missing values" if column.dtype.kind == "U" and "" in column else f"others, such as {column[0]!s}"
        raise ValueError(
            f"{where} must have true or false for every feature in the column {name!r} of var; got {got}; name another."
        )
    mask: Array = column.astype(bool)
    if not mask.any():
        raise ValueError(f"{where} must have a feature to keep; the column {name!r} of var is false for all {len(mask)}.")
    return mask


def _plain(dtype: Any) -> Any:
    """Return numpy's type of a nullable one."""
    return getattr(dtype, "numpy_dtype", dtype)


def _text(value: Any) -> str:
    """Return a value as text: an integer without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
