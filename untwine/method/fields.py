"""The types of a method's options, and the one checker that reads them.

A field's annotation says what it may hold: `Literal["i", "ii"]`, `Annotated[int, Ge(1)]`, a union of such. `check` refuses all
other values before any data is read; `describe` gives the same types as text for `--help` and the docs.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from untwine.registry.checks import did_you_mean, join_choices


class Pattern(NamedTuple):
    """A bound on strings: the regular expression that the whole string matches, and how to say it."""

    regex: str
    text: str


Count = Annotated[int, Ge(1)]
CountOrZero = Annotated[int, Ge(0)]
Width = Count | Literal["auto"]
Positive = Annotated[float, Gt(0)]
if TYPE_CHECKING:
    AutoCount = Any  # what builds and trains a method runs on a view of it that has the number (`Method.settled`)
    AutoCountOrZero = Any
else:
    AutoCount = Count | Literal["auto"]
    AutoCountOrZero = CountOrZero | Literal["auto"]
Scale = Positive | Literal["learned", "auto"]
NonNegative = Annotated[float, Ge(0)]
Weight = Annotated[float, Ge(0)]
Probability = Annotated[float, Ge(0), Lt(1)]
Seed = Annotated[int, Ge(0), Lt(2**63)]
Device = Annotated[str, Pattern(r"auto|(cpu|cuda|mps)(:\d+)?", "'auto', 'cpu', 'cuda', 'cuda:N' or 'mps'")]
Names = tuple[str, ...]
Precision = Literal["float32", "bfloat16", "float64"]
Likelihood = Literal["auto", "gaussian_learned", "gaussian", "bernoulli", "laplace", "negative_binomial", "zero_inflated"]
Library = Literal["observed", "learned"]
Loss = Literal["l1", "l2", "vgg16", "squeezenet"]
Networks = Literal[
    "auto",
    "standard",
    "mlp",
    "conv",
    "conv_norm",
    "conv3d",
    "conv64",
    "dcgan",
    "dcgan_attention",
    "dcgan_attention_linear",
    "higgins",
    "karras",
    "layers6",
    "layers8",
]
ClassContentNetworks = Networks | Literal["adain"]
TranslatorNetworks = Networks | Literal["residual"]

BOUNDS = {Ge: ">=", Gt: ">", Le: "<=", Lt: "<"}


class Option(NamedTuple):
    """One option of a method: its name, its type as text, its default and what it means."""

    name: str
    kind: str
    default: Any
    meaning: str


def check(cls: type, values: Mapping[str, Any], owner: str | None = None) -> None:
    """Refuse a value that its field's type does not allow.

    Parameters
    ----------
    cls
        A dataclass; its annotations say what each field may hold.
    values
        The value of each field, by name.
    owner
        What the sentence of an error begins with; by default the name of the class.

    Raises
    ------
    TypeError, ValueError
        For a value of another type, and for one of the right type that is out of range or no choice.
    """
    hints = _hints(cls)
    for name, value in values.items():
        alternatives = _alternatives(hints[name])
        if any(_is_type(value, one) and _is_allowed(value, one) for one in alternatives):
            continue
        known = any(_is_type(value, one) for one in alternatives)
        infinite = isinstance(value, float | np.floating) and not _is_finite(value)
        allowed = _text(hints[name], article="a finite" if infinite else "a")
        error = ValueError if known else TypeError
        raise error(f"{owner or cls.__name__}: {name} must be {allowed}; got {value!r}{_nearest(value, alternatives)}")


def describe(cls: type) -> list[Option]:
    """Return the options of a method with types as text and defaults; meanings come from the docstrings of its class and bases.

    Parameters
    ----------
    cls
        A dataclass with numpydoc docstrings.
    """
    hints, meanings = _hints(cls), dict[str, str]()
    for base in reversed(cls.__mro__):
        meanings |= _parameters(vars(base).get("__doc__") or "")
    return [
        Option(field.name, _text(hints[field.name]), field.default, meanings.get(field.name, ""))
        for field in dataclasses.fields(cls)
    ]


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls, include_extras=True)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union, its literals as one."""
    members = list(_members(hint))
    choices = tuple(choice for one in members if typing.get_origin(one) is Literal for choice in typing.get_args(one))
    others = tuple(one for one in members if typing.get_origin(one) is not Literal)
    return (*others, Literal[choices]) if choices else others


def _members(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        for one in typing.get_args(hint):
            yield from _members(one)
    else:
        yield hint


def _split(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the bare type and its bounds."""
    if typing.get_origin(hint) is Annotated:
        kind, *bounds = typing.get_args(hint)
        return kind, tuple(bounds)
    return hint, ()


def _is_type(value: Any, hint: Any) -> bool:
    kind, _ = _split(hint)
    if typing.get_origin(kind) is Literal:
        return isinstance(value, tuple({type(choice) for choice in typing.get_args(kind)}))
    if kind is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if kind == Names:
        return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    return kind is Any or isinstance(value, typing.get_origin(kind) or kind)  # types of somebody's own method


def _is_allowed(value: Any, hint: Any) -> bool:
    """Whether a value of the right type is in range, or one of the choices."""
    kind, bounds = _split(hint)
    if typing.get_origin(kind) is Literal:
        return value in typing.get_args(kind)
    if kind is float and not _is_finite(value):
        return False
    return all(_holds(value, bound) for bound in bounds)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no float can hold
        return False


def _holds(value: Any, bound: Any) -> bool:
    match bound:
        case Ge(least):
            return bool(value >= least)
        case Gt(least):
            return bool(value > least)
        case Le(most):
            return bool(value <= most)
        case Lt(most):
            return bool(value < most)
        case Pattern(regex, _):
            return re.fullmatch(regex, value) is not None
    raise TypeError(f"a bound must be Ge, Gt, Le, Lt or Pattern; got {bound!r}.")


def _text(hint: Any, article: str = "") -> str:
    return join_choices([text for one in _alternatives(hint) for text in _texts(one, article)])


def _texts(hint: Any, article: str) -> list[str]:
    kind, bounds = _split(hint)
    if typing.get_origin(kind) is Literal:
        return [repr(choice) for choice in typing.get_args(kind)]
    if kind is type(None):
        return ["None"]
    if kind is bool:
        return ["True", "False"]
    for bound in bounds:
        if isinstance(bound, Pattern):
            return [bound.text]
    nouns = {int: "integer", float: "number", str: "string", Names: "list of names"}
    noun = nouns.get(kind, getattr(kind, "__name__", str(kind)))
    article = "an" if article == "a" and noun[0] in "aeiou" else article
    limits = " and ".join(f"{BOUNDS[type(bound)]} {_number(bound)}" for bound in bounds)
    return [" ".join(word for word in (article, noun, limits) if word)]


def _number(bound: Any) -> str:
    limit = next(value for value in dataclasses.astuple(bound))
    exponent = int(limit).bit_length() - 1
    return f"2^{exponent}" if limit >= 2**31 and limit == 2**exponent else f"{limit:g}"


def _nearest(value: Any, alternatives: tuple[Any, ...]) -> str:
    """Return the end of the sentence: the choice whose spelling is closest to the value, if one is close."""
    choices = [choice for one in alternatives if typing.get_origin(one) is Literal for choice in typing.get_args(one)]
    return did_you_mean(value, choices)


def _parameters(docstring: str) -> dict[str, str]:
    """Return the meaning of each name in the Parameters section of a numpydoc docstring; names may share one, by commas."""
    _, _, section = inspect.cleandoc(docstring).partition("Parameters\n----------\n")
    section = re.split(r"\n\n\S.*\n-+\n", section)[0]
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        names, _, text = entry.partition("\n")
        meanings |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return meanings
