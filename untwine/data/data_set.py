"""Entry of the catalogue of data sets."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from untwine.data.data_card import DataCard
from untwine.data.factor_grid import FactorGrid
from untwine.data.remote import Download
from untwine.data.splits import Splits
from untwine.registry.checks import suggestion

StandIn = Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue.

    Parameters
    ----------
    load
        Function of keyword options, each with a default, that returns `Splits`. The first line of its docstring is the
        summary in lists.
    grid
        Function of keyword options that returns all images as a `FactorGrid`, for data sets that have every combination of
        their factors.
    stand_in
        From options of `load` to the name and options of the data set that `load` returns, where another data set stands in
        for missing files.
    downloads
        What `untwine data get` downloads for it, or asks to be placed by hand.
    """

    load: Callable[..., Splits]
    grid: Callable[..., FactorGrid] | None = None
    stand_in: StandIn | None = None
    downloads: tuple[Download, ...] = ()

    @property
    def card(self) -> DataCard | None:
        """The description that `described` gave to `load`; None where a data set has none."""
        card = getattr(self.load, "card", None)
        return card if isinstance(card, DataCard) else None


def as_data_set(entry: object) -> DataSet:
    """Return an entry of the catalogue as `DataSet`: a plain function is its `load`."""
    return entry if isinstance(entry, DataSet) else DataSet(entry)  # type: ignore[arg-type]


def check_data_set(name: str, entry: object) -> None:
    """Refuse what is not a data set: neither a `DataSet` nor a function of keyword options with defaults."""
    if not isinstance(entry, DataSet) and (not callable(entry) or isinstance(entry, type)):
        raise TypeError(
            f"data set {name!r} must be a DataSet or a function that returns Splits; got {type(entry).__name__}; "
            "register the function itself."
        )
    data_set = as_data_set(entry)
    for function in (data_set.load, data_set.grid):
        for option, parameter in inspect.signature(function).parameters.items() if function is not None else ():
            named = parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            if not named or parameter.default is parameter.empty:
                raise TypeError(
                    f"options of data set {name!r} must be keywords with defaults; got {str(parameter)!r}; "
                    f"write {option}=... in its signature."
                )


def call_with_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a function of a data set, or refuse an option that it does not have."""
    defaults = {option: p.default for option, p in inspect.signature(function).parameters.items()}
    for option in options:
        if option not in defaults:
            choices = ", ".join(f"{key}={value!r}" for key, value in defaults.items())
            raise ValueError(
                f"options of {name} must be among {choices}; got {option!r}; {suggestion(option, defaults)}"
                if defaults
                else f"{name} has no options; got {option!r}; drop it."
            )
    return function(**options)
