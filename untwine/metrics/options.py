"""Options of metrics: typed, checked before any data is read, and written behind the metric's name, "z_diff(pairs=256)"."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from untwine.method import fields as types
from untwine.registry.checks import suggestion

if TYPE_CHECKING:
    from untwine.metrics.metric import Requirement

NAME = re.compile(r"\s*(\w+)\s*=\s*")
PLAIN = re.compile(r"[^\W\d](?:[\w -]*\w)?")  # text that needs no quotes
SPELLING = "a metric with options must be written as name(option=value, ...)"


@dataclass(frozen=True)
class Options:
    """The options of a metric, here none. A subclass is a frozen dataclass: its fields have types, defaults and meanings."""

    def requires(self) -> Sequence[Requirement]:
        """Return what the method and the samples must have because of these options."""
        return ()


def set_options(metric: str, options: Options, values: Mapping[str, Any]) -> Options:
    """Return options with other values, or refuse an unknown option and a value that its type does not allow.

    Parameters
    ----------
    metric
        The name of the metric, for error messages.
    options
        Its options.
    values
        The new values by name. Several names are a list, or one text.
    """
    known = {field.name: field for field in fields(options)}
    for name in values:
        if name not in known:
            hint = suggestion(name, known) if known else "it has none; leave it out."
            raise ValueError(f"options of the metric {metric!r} must be known ones; got {name!r}; {hint}")
    given = {name: _as_tuple(value) if isinstance(known[name].default, tuple) else value for name, value in values.items()}
    types.check(type(options), given, f"the metric {metric!r}")
    return replace(options, **given)


def changed(options: Options) -> dict[str, Any]:
    """Return the options that do not have their default value, in the order of the fields."""
    values = {field.name: (getattr(options, field.name), field.default) for field in fields(options)}
    return {name: value for name, (value, default) in values.items() if value != default}


def spell(options: Options) -> str:
    """Return the options that do not have their default value as they are written behind a name; empty if there are none."""
    words = [f"{name}={_text(value)}" for name, value in changed(options).items()]
    return f"({','.join(words)})" if words else ""


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a metric written as "name" or "name(option=value, ...)".

    A value is JSON (a number, true, null, a list) or otherwise text up to the next comma.
    """
    name, bracket, rest = text.strip().partition("(")
    if bracket and not rest.endswith(")"):
        raise ValueError(f"{SPELLING}; got {text!r}; close the bracket.")
    values: dict[str, Any] = {}
    rest = rest[:-1].strip()
    while rest:
        match = NAME.match(rest)
        if match is None:
            raise ValueError(f"{SPELLING}; got {text!r}; write {rest!r} as option=value.")
        if match[1] in values:
            raise ValueError(f"{SPELLING}, each option once; got {match[1]!r} twice in {text!r}; leave one out.")
        values[match[1]], rest = _value(rest[match.end() :])
    return name.strip(), values


def plain_name(score: str) -> str:
    """Return the name of a score without its options: "z_diff" for "z_diff(pairs=256)"."""
    return score.partition("(")[0] if score.endswith(")") else score


def _value(text: str) -> tuple[Any, str]:
    """Return the value that a text begins with, and what comes after its comma."""
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError:
        value, end = None, -1
    rest = text[end:].strip()
    if end < 0 or rest[:1] not in ("", ","):
        value, _, rest = text.partition(",")
        return value.strip(), rest.strip()
    return value, rest[1:].strip()


def _as_tuple(value: Any) -> Any:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, tuple) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and PLAIN.fullmatch(value) and value not in ("true", "false", "null", "NaN", "Infinity"):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
