"""Known nuisances of samples, such as batch, site or age: categorical and continuous columns under their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.registry.checks import listed
from untwine.registry.columns import kind_of


@dataclass(frozen=True, eq=False)
class Covariates:
    """Columns (n, k) that say what is known of each sample, each categorical or continuous.

    Parameters
    ----------
    values
        The table (n, k) as float64: the number of the level for a categorical column, the value itself for a continuous one.
    names
        A name for each column.
    levels
        For each column the names of its levels; empty for a continuous one.

    Examples
    --------
    >>> Covariates.of({"batch": ["b", "a", "b"], "age": [31.0, 40.0, 28.0]}, 3)
    Covariates(3 samples: batch (a, b), age)
    """

    values: Array
    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, given: Covariates | Mapping[str, ArrayLike], n: int) -> Covariates:
        """Check columns by name: strings and booleans are categories, numbers are continuous."""
        if isinstance(given, Covariates):
            if len(given.values) != n:
                raise ValueError(f"covariates must have one row for each of the {n} samples of x; got {len(given.values)}.")
            return given
        if not isinstance(given, Mapping) or not given:
            raise TypeError(
                f"covariates must be a mapping from name to column, such as {{'batch': batches}}; got {type(given).__name__}."
            )
        columns = {str(name): _column(str(name), column, n) for name, column in given.items()}
        values = np.stack([column for column, _ in columns.values()], axis=1)
        return cls(values, tuple(columns), tuple(levels for _, levels in columns.values()))

    @classmethod
    def join(cls, sets: Mapping[str, Covariates | None]) -> Covariates | None:
        """Join the covariates of several sets, which must have the same columns; the levels become those of all."""
        if all(one is None for one in sets.values()):
            return None
        if missing := [name for name, one in sets.items() if one is None]:
            raise ValueError(f"target and background must have the same covariates; {missing[0]!r} has none; give it some.")
        known = [one for one in sets.values() if one is not None]
        first = known[0]
        for name, one in zip(sets, known, strict=True):
            kinds = [bool(levels) for levels in one.levels], [bool(levels) for levels in first.levels]
            if one.names != first.names or kinds[0] != kinds[1]:
                raise ValueError(
                    f"target and background must have the same covariates; got {first} and, in {name!r}, {one}; give all of "
                    "them the same columns."
                )
        levels = tuple(tuple(sorted(set().union(*(one.levels[k] for one in known)))) for k in range(len(first.names)))
        return replace(first, values=np.concatenate([one.with_levels(levels).values for one in known]), levels=levels)

    def with_levels(self, levels: Sequence[tuple[str, ...]]) -> Covariates:
        """Return the same columns with categories numbered by other levels; a level that is not among them is refused."""
        values = self.values.copy()
        for k, (name, mine, wanted) in enumerate(zip(self.names, self.levels, levels, strict=True)):
            if mine == tuple(wanted):
                continue
            numbers = {level: number for number, level in enumerate(wanted)}
            present = [mine[number] for number in np.unique(self.values[:, k]).astype(int)]
            if unknown := [level for level in present if level not in numbers]:
                raise ValueError(
                    f"the covariate {name!r} must have levels among {listed(map(repr, wanted), 100)}; got "
                    f"{listed(map(repr, unknown), 100)}; leave these samples out, or fit with them."
                )
            new = np.array([numbers.get(level, -1) for level in mine])
            values[:, k] = new[self.values[:, k].astype(int)]
        return replace(self, values=values, levels=tuple(map(tuple, levels)))

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Covariates:
        """Return the rows of chosen samples, with all levels."""
        return replace(self, values=self.values[index])

    def __repr__(self) -> str:
        pairs = zip(self.names, self.levels, strict=True)
        columns = [f"{name} ({listed(levels, 60)})" if levels else name for name, levels in pairs]
        return f"Covariates({len(self)} samples: {', '.join(columns)})"


def _column(name: str, column: ArrayLike, n: int) -> tuple[Array, tuple[str, ...]]:
    """Return a column as numbers, and the levels of a categorical one."""
    array = np.asarray(column)
    if array.shape != (n,):
        raise ValueError(f"the covariate {name!r} must have one value for each of the {n} samples of x; got {array.shape}.")
    if array.dtype.kind == "O" and all(isinstance(one, str) for one in array):
        array = array.astype(str)
    if array.dtype.kind in "USb":
        levels, numbers = np.unique(array.astype(str), return_inverse=True)
        return numbers.astype(np.float64), tuple(map(str, levels))
    if array.dtype.kind not in "uif":
        raise TypeError(f"the covariate {name!r} must be strings or numbers; got {kind_of(array)}; convert the column.")
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise ValueError(
            f"the covariate {name!r} must be finite; {bad} of {n} values are NaN or infinite; impute them or leave these "
            "samples out."
        )
    return array.astype(np.float64), ()
