"""What there is to know of a data set before it is loaded: one typed description, beside each data set."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

HEADING = "\nNotes\n-----\n"
NAMES = {
    "source": "Source",
    "licence": "Licence",
    "size": "Size",
    "files": "Files",
    "groups": "Group",
    "labels": "Label",
    "factors": "Factors",
    "masks": "Masks",
    "sources": "Source of a sample",
}


@dataclass(frozen=True)
class DataCard:
    """The description of a data set; each text is a sentence or two.

    Parameters
    ----------
    source
        Where the data is from, and who made it.
    licence
        What may be done with it.
    size
        How many samples of which shape there are by default.
    files
        Which files go where, and whether their checksum is known.
    groups, labels, factors, masks
        What is a group, a class and a factor, and which pixels are salient, if that is known.
    sources
        What a sample was made from or belongs to: `Samples.sources`.
    studies
        The studies in `studies/` that use it, each with the paper's table that it repeats, or its title.
    papers
        Papers that use it beyond those.
    """

    source: str
    licence: str
    size: str
    files: str
    groups: str
    labels: str
    factors: str
    sources: str
    masks: str = ""
    studies: Mapping[str, str] = field(default_factory=dict)
    papers: tuple[str, ...] = ()

    def items(self) -> dict[str, str]:
        """Return the texts by their names on pages and in docstrings; what does not apply is left out."""
        texts = {name: getattr(self, key) for key, name in NAMES.items() if getattr(self, key)}
        used = [*(f"`{name}` ({what})" for name, what in self.studies.items()), *self.papers]
        return texts | ({"Used by": "; ".join(used) + "."} if used else {})


def described(card: DataCard) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add a description to the section Notes of a function's docstring, and to the function as its `card`."""

    def describe(function: Callable[P, R]) -> Callable[P, R]:
        text = inspect.getdoc(function) or ""
        notes = [f"- {name}: {what}" for name, what in card.items().items()]
        before, _, after = text.partition(HEADING)
        function.__doc__ = f"{before.rstrip()}\n{HEADING}" + "\n".join(notes) + (f"\n\n{after}" if after else "\n")
        setattr(function, "card", card)  # noqa: B010 (functions have no such attribute by their type)
        return function

    return describe
