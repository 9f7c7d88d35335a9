"""What the page asks for, checked: numbers of samples, blocks, positions. Nothing of it is ever a path."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from untwine.registry.checks import check_choice, check_float, check_int, shortened

INTEGER, NUMBER = re.compile(r"-?[0-9]{1,9}"), re.compile(r"-?[0-9]{0,9}\.?[0-9]{0,18}(e-?[0-9]{1,2})?")
MAX_EDITS, MAX_CODE = 512, 1e6


class Edit(NamedTuple):
    """A latent of a block, and the value that it gets."""

    block: str
    latent: int
    value: float


class Query:
    """The fields of a request, each asked for by its name and checked; those that nobody asked for are refused.

    Parameters
    ----------
    fields
        The fields of the address. The token is none of them.
    """

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        pairs = [(name, value) for name, value in fields if name != "token"]
        self._fields = dict(pairs)
        if len(self._fields) < len(pairs):
            raise ValueError("every field of a request must be there once; one is there twice; leave one out.")

    def done(self) -> None:
        """Refuse fields that were not asked for."""
        if self._fields:
            raise ValueError(f"there is no field {shortened(next(iter(self._fields)))!r} in this request; leave it out.")

    def text(self, name: str, default: str | None = None) -> str:
        """Return a field as it was sent."""
        value = self._fields.pop(name, default)
        if value is None:
            raise ValueError(f"the request must have the field {name!r}; it is missing; add it.")
        return value

    def choice(self, name: str, choices: Iterable[str], default: str | None = None) -> str:
        """Return a field that is one of some words."""
        return check_choice(name, shortened(self.text(name, default), 80), choices)

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """Return a field that is an integer from `least` to `most`."""
        text = self.text(name, None if default is None else str(default))
        return check_int(name, int(text) if INTEGER.fullmatch(text) else shortened(text), least, most)

    def number(self, name: str, least: float, most: float) -> float:
        """Return a field that is a number from `least` to `most`."""
        return check_float(name, _float(self.text(name)), least, most)

    def integers(self, name: str, below: int, many: range) -> list[int]:
        """Return a field of integers from 0 to `below` - 1 with commas between them, as many as allowed."""
        texts = self.text(name).split(",", many.stop)
        if len(texts) not in many:
            raise ValueError(f"{name} must be {many.start} to {many.stop - 1} numbers; got {len(texts)}; change how many.")
        return [check_int(name, int(text) if INTEGER.fullmatch(text) else shortened(text), 0, below - 1) for text in texts]

    def edits(self, name: str, blocks: Mapping[str, int]) -> list[Edit]:
        """Return a field of edits such as "salient:3:1.25", with commas between them."""
        texts = self.text(name, "").split(",", MAX_EDITS)
        if len(texts) > MAX_EDITS:
            raise ValueError(f"{name} must be at most {MAX_EDITS} edits; got more; change fewer latents.")
        return [_edit(name, text, blocks) for text in texts if text]


def _edit(name: str, text: str, blocks: Mapping[str, int]) -> Edit:
    block, latent, value = [*text.split(":", 2), "", ""][:3]
    check_choice(f"the block in {name}", shortened(block, 80), blocks)
    number = int(latent) if INTEGER.fullmatch(latent) else shortened(latent)
    check_int(f"the latent in {name}", number, 0, blocks[block] - 1)
    return Edit(block, int(latent), check_float(f"the value in {name}", _float(value), -MAX_CODE, MAX_CODE))


def _float(text: str) -> float | str:
    """Return a text as a finite number, or as it is."""
    try:
        value = float(text) if NUMBER.fullmatch(text) else math.nan
    except ValueError:
        value = math.nan
    return value if math.isfinite(value) else shortened(text)
