"""What the numpydoc docstrings of methods, data sets and metrics say."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
KINDS = {
    "int": "integer",
    "float": "number",
    "str": "text",
    "bool": "true or false",
    "Path": "path",
    "NoneType": "None",
    "Any": "any value",
}


def summary(thing: object) -> str:
    """Return the first paragraph of a docstring as one line."""
    return _joined(inspect.getdoc(thing) or "", 1)[0]


def description(thing: object) -> list[str]:
    """Return the paragraphs and list items after the summary and in the section Notes, each as one line."""
    text, *sections = SECTION.split(inspect.getdoc(thing) or "")
    notes = dict(zip(sections[::2], sections[1::2], strict=True)).get("Notes", "")
    return [*_joined(text)[1:], *filter(None, _joined(notes))]


def parameters(thing: object) -> dict[str, str]:
    """Return the meaning of each parameter, by name, from the section Parameters."""
    sections = SECTION.split(inspect.getdoc(thing) or "")
    section = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Parameters", "")
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section.strip()):
        names, _, text = entry.partition("\n")
        meanings |= dict.fromkeys(
            (name.strip() for name in names.split(":")[0].split(",") if name.strip()), " ".join(text.split())
        )
    return meanings


def options(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """Return the keyword options of a function: name, kind, default and meaning of each."""
    meanings = parameters(function)
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):  # of a plug-in: names that only a type checker imports, or no plain function
        hints = {}
    return [
        {
            "name": name,
            "kind": _kind(hints.get(name, Any)),
            "default": None if parameter.default is parameter.empty else parameter.default,
            "meaning": meanings.get(name, ""),
        }
        for name, parameter in inspect.signature(function).parameters.items()
    ]


def _kind(hint: Any) -> str:
    """Return a type in words, such as "integer or None"."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_kind, typing.get_args(hint))))
    if origin is typing.Literal:
        return " or ".join(map(repr, typing.get_args(hint)))
    if origin is typing.Annotated:
        return _kind(typing.get_args(hint)[0])
    name = getattr(hint, "__name__", str(hint))
    return KINDS.get(name, name if origin is None else str(hint))


def _joined(text: str, most: int | None = None) -> list[str]:
    """Return the paragraphs and list items of a text, each as one line; at least one, which may be empty."""
    paragraphs = re.split(r"\n\n+|\n(?=- )", text.strip())
    return [" ".join(paragraph.split()) for paragraph in paragraphs][:most]
