"""Covariates as the networks of a method have them: one-hot categories, and numbers standardised as in training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from untwine._typing import Array
from untwine.registry.checks import listed
from untwine.registry.covariates import Covariates

LIBRARY = "library_size"  # beside the covariates in what latents carry along


class Columns(NamedTuple):
    """The names of covariates and of their levels; no levels where one is continuous."""

    names: tuple[str, ...] = ()
    levels: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, covariates: Covariates | None) -> Self:
        """Return the columns of covariates, none where there are none."""
        return cls() if covariates is None else cls(covariates.names, covariates.levels)

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Self:
        """Return what `to_json` wrote."""
        return cls(tuple(table["names"]), tuple(tuple(levels) for levels in table["levels"]))

    def to_json(self) -> dict[str, Any]:
        """Return names and levels as lists."""
        return {"names": list(self.names), "levels": [list(levels) for levels in self.levels]}

    @property
    def width(self) -> int:
        """The number of columns that the networks see: one for each level, one for each number."""
        return sum(len(levels) or 1 for levels in self.levels)

    def select(self, covariates: Covariates | None, owner: str) -> Covariates:
        """Return the covariates of other samples in the columns of the fit; what is missing is refused by name."""
        known = () if covariates is None else covariates.names
        missing = [name for name in self.names if name not in known]
        if covariates is None or missing:
            raise ValueError(
                f"{owner} was fitted with the covariates {listed(self.names)}; got samples without {listed(missing)}; pass "
                f"Samples(x, covariates={{{missing[0]!r}: ...}})."
            )
        order = [covariates.names.index(name) for name in self.names]
        for name, wanted, got in zip(self.names, self.levels, (covariates.levels[k] for k in order), strict=True):
            if bool(wanted) != bool(got):
                fitted, given = ("categories" if levels else "numbers" for levels in (wanted, got))
                raise ValueError(f"the covariate {name!r} must be {fitted}, as in fit; got {given}; convert the column.")
        chosen = Covariates(covariates.values[:, order], self.names, tuple(covariates.levels[k] for k in order))
        return chosen.with_levels(self.levels)


class CovariateUnits(nn.Module):
    """The mean and standard deviation of continuous covariates in training, and the usual value of each.

    The usual value is the most frequent level of a category and the mean of a number: what is decoded where nothing is said.
    """

    centre: Tensor
    spread: Tensor
    usual: Tensor

    def __init__(self, columns: Columns) -> None:
        super().__init__()
        self.levels = columns.levels
        for name, value in (("centre", 0.0), ("spread", 1.0), ("usual", 0.0)):
            self.register_buffer(name, torch.full((len(columns.names),), value))

    def fit(self, covariates: Covariates) -> None:
        """Take the statistics of the training samples."""
        for k, (column, levels) in enumerate(zip(covariates.values.T, covariates.levels, strict=True)):
            if levels:
                self.usual[k] = int(np.bincount(column.astype(int), minlength=len(levels)).argmax())
                continue
            centre, spread = float(column.mean()), float(column.std())
            constant = spread <= 1e-6 * abs(centre) + 1e-30
            self.centre[k], self.spread[k], self.usual[k] = centre, 1.0 if constant else spread, centre

    def forward(self, values: Tensor) -> Tensor:
        """Map values (n, covariates), the number of the level for a category, to what the networks see (n, width)."""
        standard = (values - self.centre) / self.spread
        columns = [
            nn.functional.one_hot(values[:, k].long(), len(levels)).to(standard.dtype) if levels else standard[:, k : k + 1]
            for k, levels in enumerate(self.levels)
        ]
        return torch.cat(columns, 1)


def as_columns(covariates: Covariates) -> dict[str, Array]:
    """Return each covariate (n,) by name: categories as strings, numbers as they are."""
    return {
        name: np.array(levels)[column.astype(int)] if levels else column
        for name, levels, column in zip(covariates.names, covariates.levels, covariates.values.T, strict=True)
    }


def from_columns(columns: Columns, usual: Array, n: int, *given: Mapping[str, ArrayLike]) -> Covariates:
    """Return the covariates of n samples: the usual ones, over which those that are given by name are written in turn.

    What is given is one value for all samples, or one (n,) for each; other names than covariates are refused in the last.
    """
    if unknown := [name for name in given[-1] if name not in columns.names]:
        known = listed(columns.names) or "none"
        raise ValueError(f"covariates must be those of the fit, {known}; got {listed(map(repr, unknown))}; leave them out.")
    values = {name: value for one in given for name, value in one.items() if name in columns.names}
    table: dict[str, ArrayLike] = {}
    for name, levels, default in zip(columns.names, columns.levels, usual, strict=True):
        value = np.asarray(values.get(name, levels[int(default)] if levels else default))
        value = value.astype(str) if levels else value
        table[name] = np.full(n, value) if value.ndim == 0 else value
    return columns.select(Covariates.of(table, n), "decode")
