"""What a section of the page about one run is; each file of `untwine.report.sections` holds one, named SECTION."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from untwine.report.markup import Markup
from untwine.runs.reading import Run


@dataclass(frozen=True)
class Section:
    """A section of the page about one run.

    Parameters
    ----------
    title
        Its heading.
    order
        Its position: sections are in ascending order.
    draw
        Returns its content; a section without content is left out.
    decodes
        Whether it shows what a method decodes.
    """

    title: str
    order: int
    draw: Callable[[Run], Markup]
    decodes: bool = False
