"""Which fields of a method are worth a search, and between which bounds; a field is only searched where the method has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from untwine.method.contract import Method
from untwine.registry.checks import listed


class Range(NamedTuple):
    """The bounds of one field, on a logarithmic scale; integers where both are."""

    low: float
    high: float

    @property
    def is_whole(self) -> bool:
        """Whether the field is an integer, such as a width."""
        return isinstance(self.low, int) and isinstance(self.high, int)


# In the order of importance on our data: the weights that decide which block holds what, then likelihood, widths and the rest.
RANGES: Mapping[str, Range] = {
    "beta_salient": Range(0.02, 5.0),
    "beta_common": Range(0.1, 10.0),
    "lambda_z": Range(0.3, 100.0),
    "lambda_s": Range(0.1, 50.0),
    "lambda_tc": Range(0.1, 30.0),
    "lambda_mi": Range(0.1, 10.0),
    "lambda_class": Range(0.1, 10.0),
    "w_info_s": Range(0.1, 10.0),
    "w_info_real": Range(0.1, 10.0),
    "lambda_od": Range(0.5, 100.0),
    "alpha": Range(0.1, 30.0),
    "beta": Range(0.3, 16.0),
    "gamma": Range(0.3, 50.0),
    "sigma": Range(0.05, 1.0),
    "scale": Range(0.05, 0.7),
    "n_salient": Range(1, 32),
    "n_common": Range(2, 64),
}
MOST = 5  # fields that are searched unless others are named: each more needs more trials


def search_space(method: Method, fields: Sequence[str] | Mapping[str, tuple[float, float] | None] = ()) -> dict[str, Range]:
    """Return the ranges of the fields that are searched: those that are named, or the most important ones of the method.

    Parameters
    ----------
    method
        The method, whose other fields stay as they are.
    fields
        Names of fields, or bounds by name, None for ours.
    """
    own = method.get_params()
    named = dict(fields) if isinstance(fields, Mapping) else dict.fromkeys(fields)
    if not named:
        known = [name for name in RANGES if name in own and _is_number(own[name])]
        return {name: RANGES[name] for name in known[:MOST]}
    space = {}
    for name, bounds in named.items():
        if name not in own:
            raise ValueError(
                f"fields must be those of {method.name}; got {name!r}; choose from {listed([n for n in RANGES if n in own])}."
            )
        if bounds is None and name not in RANGES:
            raise ValueError(f"fields without a range of ours need bounds; got {name!r}; give {name}=LOW:HIGH.")
        space[name] = RANGES[name] if bounds is None else Range(*bounds)
        if not 0 < space[name].low < space[name].high:
            raise ValueError(
                f"bounds of {name} must be above 0, the lower one first; got {space[name].low}:{space[name].high}."
            )
    return space


def _is_number(value: object) -> bool:
    """Whether a field holds a number, or one that is chosen from the data."""
    return value is None or value in ("auto", "learned") or (isinstance(value, (int, float)) and not isinstance(value, bool))
