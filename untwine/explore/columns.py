"""What is known of each sample, as columns that the points of a map are coloured by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.samples import Samples

MAX_LEVELS = 1_000  # of a column of categories; names of more could not be shown
FEW = 12  # integers of a factor that are shown as categories


class Column(NamedTuple):
    """A column of samples.

    Attributes
    ----------
    name, kind
        Such as "digit" and "factor"; the kind is "group", "label", "covariate" or "factor".
    values
        Values (n,) as float32; of a categorical column the numbers of the levels. NaN where not known.
    levels
        The names of the levels; empty for numbers.
    """

    name: str
    kind: str
    values: Array
    levels: tuple[str, ...] = ()


def columns_of(samples: Samples) -> tuple[Column, ...]:
    """Return groups, labels, covariates and factors of samples, those that are there."""
    return tuple(_columns(samples))


def _columns(samples: Samples) -> Iterator[Column]:
    if samples.groups is not None:
        yield Column("group", "group", samples.groups.astype(np.float32), samples.group_names)
    if samples.labels is not None and len(samples.label_names) <= MAX_LEVELS:
        yield Column("label", "label", _known(samples.labels, samples.labels >= 0), samples.label_names)
    if (covariates := samples.covariates) is not None:
        for k, (name, levels) in enumerate(zip(covariates.names, covariates.levels, strict=True)):
            if len(levels) <= MAX_LEVELS:
                values = covariates.values[:, k]
                yield Column(name, "covariate", _known(values, values >= 0 if levels else np.isfinite(values)), levels)
    if samples.factors is not None:
        for name, values in zip(samples.factor_names, samples.factors.T, strict=True):
            yield _factor(name, values)


def _factor(name: str, values: Array) -> Column:
    """Return a factor: as categories where it has few integer values, else as numbers."""
    known = ~np.isnan(values)
    levels = np.unique(values[known])
    if 0 < len(levels) <= FEW and np.equal(levels, np.round(levels)).all():
        numbers = np.where(known, np.searchsorted(levels, np.where(known, values, levels[0])), np.nan)
        return Column(name, "factor", numbers.astype(np.float32), tuple(f"{level:.0f}" for level in levels))
    return Column(name, "factor", values.astype(np.float32))


def _known(values: Array, known: Array) -> Array:
    return np.where(known, values, np.nan).astype(np.float32)


def text_of(column: Column, position: int) -> str:
    """Return the value of one sample as text: the name of its level, or the number with four digits; empty if not known."""
    value = float(column.values[position])
    if np.isnan(value):
        return ""
    return column.levels[int(value)] if column.levels else f"{value:.4g}"
