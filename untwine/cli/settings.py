"""Options given as name=value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def parse_settings(settings: Sequence[str], flag: str) -> dict[str, Any]:
    """Parse name=value pairs; a value is JSON (a number, true, null) or otherwise text."""
    options: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"{flag} must be name=value; got {setting!r}.")
        if name in options:
            raise ValueError(f"{flag} must have each name once; got {name!r} twice; leave one out.")
        try:
            options[name] = json.loads({"True": "true", "False": "false", "None": "null"}.get(value, value))
        except json.JSONDecodeError:
            options[name] = value
    return options


def check_known(options: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    """Refuse an unknown option, naming the nearest."""
    from untwine.registry.checks import suggestion

    known = tuple(known)
    for name in options:
        if name not in known:
            raise ValueError(f"{owner} has no option {name!r}; {suggestion(name, known)}")
