"""The schema of a study's file: its tables and keys, and the type of each value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from untwine.registry.checks import suggestion

SIZES = ("paper", "small")
CHOICES = {
    "part": ("test", "validation"),
    "shuffle": ("groups", "labels"),
    "learn": ("folds", "first half", "training part"),
    "defaults": ("auto", "fixed"),
}
BEST = ("lowest", "highest")  # keys of a swept row that shows one value alone: the score by which it is best
SCORING = {"seeds": "wholes", "metrics": "texts", "resamples": "whole", "epochs_scored": "wholes", "epochs_metrics": "texts"}
KEYS: Mapping[str, Mapping[str, str]] = {
    "study": {"title": "text", "paper": "text", "part": "text", "data": "tables", "row": "tables", "column": "tables"}
    | {"defaults": "text", "size": "table", "published": "table", "figure": "table", "resources": "table"}
    | SCORING,
    "data": {"name": "text", "label": "text", "needs": "texts", "sizes": "texts", "options": "table", "fields": "table"}
    | {"learn": "text"}
    | dict.fromkeys(SIZES, "table"),
    "data's size": {"options": "table", "fields": "table"},
    "row": {"label": "text", "method": "text", "shuffle": "text", "metrics": "texts", "fields": "table"}
    | {"defaults": "text", "ending": "text", "data": "texts", "lowest": "text", "highest": "text"}
    | dict.fromkeys(SIZES, "table"),
    "column": {"scores": "texts", "title": "text", "scale": "number", "digits": "whole", "data": "texts"},
    "size": dict.fromkeys(SIZES, "table"),
    "one size": {"preset": "flag", "fields": "table", "resources": "table"} | SCORING,
    "resources": {"threads": "count", "memory": "number", "gpus": "number"},
    "figure": {"over_epochs": "texts", "over_sweep": "texts", "against": "text"},
}
NEEDED = {
    "study": ("title", "seeds", "metrics", "data", "row", "column"),
    "data": ("name",),
    "row": ("label",),
    "column": ("scores",),
}
WORDS = {
    "text": "a line of text",
    "number": "a number",
    "whole": "an integer of at least 0",
    "count": "an integer of at least 1",
    "flag": "true or false",
    "table": "a table",
}


def check_table(table: Mapping[str, Any], kind: str, where: str) -> None:
    """Refuse a table with an unknown key, a value of the wrong type or a missing key."""
    check_known(table, KEYS[kind], where, "key")
    for key, value in table.items():
        wanted = KEYS[kind][key]
        if not is_a(wanted, value):
            words = WORDS.get(wanted) or f"a list of at least one item, each {WORDS[wanted[:-1]]}"
            raise ValueError(f"{key} of {where} must be {words}; got {value!r}.")
    for key in NEEDED.get(kind, ()):
        if key not in table:
            raise ValueError(f"{where} must have the key {key!r}; got {', '.join(table) or 'no keys'}; add it.")


def is_a(kind: str, value: Any) -> bool:
    """Return whether a value is of a type of the schema, such as "text"; "texts" is a list of them, not empty."""
    if kind.endswith("s"):
        return isinstance(value, list) and bool(value) and all(is_a(kind[:-1], one) for one in value)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "text": isinstance(value, str) and bool(value.strip()) and value.isprintable(),
        "number": number,
        "whole": number and isinstance(value, int) and value >= 0,
        "count": number and isinstance(value, int) and value >= 1,
        "flag": isinstance(value, bool),
        "table": isinstance(value, dict),
    }[kind]


def check_known(names: Collection[str], known: Collection[str], owner: str, what: str = "option") -> None:
    """Refuse an unknown name, and suggest the nearest known one."""
    for name in names:
        if name not in known:
            raise ValueError(f"{owner} must have known {what}s only; got {name!r}; {suggestion(name, dict.fromkeys(known))}")


def check_among(values: Collection[str], known: Collection[str], where: str) -> None:
    """Refuse a value that is not among the known ones, and suggest the nearest."""
    for value in values:
        if value not in known:
            raise ValueError(f"{where} must be a known name; got {value!r}; {suggestion(value, dict.fromkeys(known))}")
