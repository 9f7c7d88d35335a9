"""Checks of options: numbers, choices and names. Each refuses in one sentence: what must hold, what came, what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Integral, Real


def check_int(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return the option as an integer from `least` to `most`, or refuse it."""
    if not isinstance(value, bool) and isinstance(value, Integral):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(f"{name} must be an integer {bounds}; got {value!r}.")


def check_latents(name: str, latents: Sequence[int] | None, width: int) -> None:
    """Refuse latents that a block of this width lacks, none, or one twice."""
    if latents is not None and not (len(latents) and len(set(latents)) == len(latents) and {*latents} <= {*range(width)}):
        raise ValueError(f"{name} must be different numbers from 0 to {width - 1}; got {list(latents)}; correct them.")


def check_float(name: str, value: object, least: float, most: float = math.inf) -> float:
    """Return the option as a finite float from `least` to `most`, or refuse it."""
    if not isinstance(value, bool) and isinstance(value, Real):
        number = float(value)
        if math.isfinite(number) and least <= number <= most:
            return number
    bounds = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
    raise ValueError(f"{name} must be a number {bounds}; got {value!r}.")


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return the option if it is one of the choices, or refuse it with the nearest of them."""
    choices = tuple(choices)
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{name} must be {join_choices(map(repr, choices))}; got {value!r}{did_you_mean(value, choices)}")


def did_you_mean(value: object, choices: Iterable[str]) -> str:
    """Return the end of a sentence about a value: the choice whose spelling is closest, if one is close."""
    near = nearest(value, choices)
    return f"; did you mean {near!r}?" if near else "."


def nearest(value: object, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the choice whose spelling is closest to a text; empty where none is close."""
    close = get_close_matches(value, tuple(choices), 1, cutoff) if isinstance(value, str) else ()
    return close[0] if close else ""


def join_choices(choices: Iterable[str]) -> str:
    """Return choices as a sentence lists them: "a", "a or b", "a, b or c"."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def suggestion(name: object, known: Iterable[str]) -> str:
    """Return the end of a sentence about an unknown name: the nearest known ones, or all of them."""
    known = tuple(known)
    near = get_close_matches(str(name), known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"choose one of {', '.join(known)}."


def listed(names: Iterable[object], most: int = 200) -> str:
    """Return names as text of about `most` characters: the first ones, and how many more there are."""
    texts = tuple(map(str, names))
    shown: list[str] = []
    for name in texts:
        if shown and sum(map(len, shown)) + 2 * len(shown) + len(name) > most:
            break
        shown.append(shortened(name, most))
    more = len(texts) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def shortened(text: object, most: int = 40) -> str:
    """Return the start of a text, with an ellipsis where it is longer."""
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."
