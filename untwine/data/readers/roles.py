"""Roles of columns: which columns of a table say what is known of each sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.checks import listed, suggestion
from untwine.samples import BACKGROUND


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The names of the columns that describe the samples; all other columns are left to the reader.

    Parameters
    ----------
    group
        The column that says which group a sample belongs to, such as the condition.
    background
        The values of that column that are the background, such as "control"; without it the column must have the value
        "background". All other values are targets, each by its name.
    label
        The column of classes. An empty cell is an unknown class.
    covariates
        Columns of known nuisances: text is categorical, numbers are continuous.
    source
        The column of what a sample was made from or belongs to, such as the patient.
    factors
        Columns of numbers that are known of the samples, for evaluation only. An empty cell is unknown.
    id
        The column with a name for each sample.
    required
        Whether these columns must be there, and the background among the groups: for the data that a method is fitted on.
        Samples that a fitted method is applied to may lack them.
    """

    group: str | None = None
    background: tuple[str, ...] = ()
    label: str | None = None
    covariates: tuple[str, ...] = ()
    source: str | None = None
    factors: tuple[str, ...] = ()
    id: str | None = None
    required: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that have a role, once each."""
        single = (self.group, self.label, self.source, self.id)
        return tuple(dict.fromkeys((*(name for name in single if name), *self.covariates, *self.factors)))

    def columns(self, table: Mapping[str, ArrayLike], where: str) -> dict[str, Any]:
        """Return what the columns say, as the arguments of `Samples`.

        Parameters
        ----------
        table
            From the name of a column to its values: numbers, or text in which "" is a missing value.
        where
            What the table is, for error messages, such as the path of its file.
        """
        if not self.required:
            return self._present(table).columns(table, where)
        for name in self.names:
            if name not in table:
                raise ValueError(f"{where} must have the column {name!r}; it has none of that name; {suggestion(name, table)}")
        if self.background and not self.group:
            raise ValueError(f"background={self.background[0]!r} is a value of the group column; name the column as well.")
        given: dict[str, Any] = {}
        if self.group:
            given["groups"], given["group_names"] = _groups(_cells(table[self.group]), self, where)
        if self.label:
            given["labels"], given["label_names"] = _labels(_cells(table[self.label]))
        if self.source:
            given["sources"] = _filled(_cells(table[self.source]), self.source, where)
        if self.id:
            given["ids"] = _filled(_cells(table[self.id]), self.id, where).astype(str)
        if self.covariates:
            given["covariates"] = {name: _filled(_cells(table[name]), name, where) for name in self.covariates}
        if self.factors:
            given["factors"] = np.stack([_factor(_cells(table[name]), name, where) for name in self.factors], axis=1)
            given["factor_names"] = self.factors
        return given

    def _present(self, table: Mapping[str, ArrayLike]) -> Roles:
        """Return the roles that a table can fill; groups only where it has both targets and the background."""
        group = self.group if self.group in table else None
        if group is not None:
            values = set(_texts(_cells(table[group])).tolist())
            wanted = set(self.background or ("background",))
            group = group if wanted <= values and values - wanted - {""} and "" not in values else None
        return replace(
            self,
            group=group,
            background=self.background if group else (),
            label=self.label if self.label in table else None,
            covariates=tuple(name for name in self.covariates if name in table),
            source=self.source if self.source in table else None,
            factors=tuple(name for name in self.factors if name in table),
            id=self.id if self.id in table else None,
            required=True,
        )


def _cells(column: ArrayLike) -> Array:
    """Return a column as numbers or as text, in which a missing value is NaN or an empty text."""
    array = np.asarray(column)
    if array.dtype.kind in "uifb":
        return array
    texts = ["" if one is None or (isinstance(one, float) and math.isnan(one)) else str(one).strip() for one in array.tolist()]
    return np.array(texts, dtype=str)


def _missing(cells: Array) -> Array:
    missing: Array = cells == "" if cells.dtype.kind == "U" else np.isnan(cells.astype(np.float64))
    return missing


def _filled(cells: Array, name: str, where: str) -> Array:
    """Return the cells, unless some are missing."""
    if many := int(_missing(cells).sum()):
        raise ValueError(
            f"{where} must have a value in every row of the column {name!r}; {many} of {len(cells)} are missing; fill them "
            "in, or leave these samples out."
        )
    return cells


def _texts(cells: Array) -> Array:
    """Return cells as text: integers without a decimal point."""
    if cells.dtype.kind == "f" and np.equal(cells, np.rint(cells)).all():
        cells = cells.astype(np.int64)
    return cells.astype(str)


def _groups(cells: Array, roles: Roles, where: str) -> tuple[Array, tuple[str, ...]]:
    values = _texts(_filled(cells, str(roles.group), where))
    known = sorted(set(values.tolist()))
    wanted = roles.background or ("background",)
    if absent := [value for value in wanted if value not in known]:
        ask = "correct it" if roles.background else "say which value is the background, such as background='control'"
        raise ValueError(
            f"{where} must have the background {absent[0]!r} in the column {roles.group!r}; got "
            f"{listed(map(repr, known), 100)}; {ask}."
        )
    targets = [value for value in known if value not in wanted]
    if not targets:
        raise ValueError(
            f"{where} must have targets in the column {roles.group!r}; all samples are of the background "
            f"{listed(map(repr, wanted), 100)}; add samples of another group."
        )
    numbers = {**dict.fromkeys(wanted, BACKGROUND), **{name: i + 1 for i, name in enumerate(targets)}}
    return np.array([numbers[value] for value in values.tolist()]), (wanted[0] if len(wanted) == 1 else "background", *targets)


def _labels(cells: Array) -> tuple[Array, tuple[str, ...]]:
    missing = _missing(cells)
    texts = np.full(len(cells), "", dtype=object)
    texts[~missing] = _texts(cells[~missing]).tolist()
    names = tuple(sorted(set(texts[~missing].tolist())))
    return np.array([names.index(text) if text else -1 for text in texts]), names


def _factor(cells: Array, name: str, where: str) -> Array:
    """Return a factor as numbers, NaN where missing; text is refused."""
    if cells.dtype.kind != "U":
        return cells.astype(np.float64)
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells.tolist()):
        if cell:
            try:
                numbers[row] = float(cell)
            except ValueError:
                raise ValueError(
                    f"{where} must have numbers in the factor {name!r}; got {cell!r}; number its values, or make it the label."
                ) from None
    return numbers
