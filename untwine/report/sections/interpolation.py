"""Interpolation between four salient codes."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image
from untwine.report.section import Section
from untwine.runs.reading import Run

CAPTION = (
    "The framed corners have the salient codes of four images, and the images between them bilinear mixtures of these; "
    "all have the common code of the first, at the upper left."
)


def interpolation(run: Run) -> Markup:
    """Return the grid between four salient codes."""
    grid = run.gallery.interpolation
    if grid is None:
        return missing(run, "the interpolation", needs_salient=True)
    return image(plots.interpolation(grid), "A grid of images that change smoothly between four corners.", CAPTION)


SECTION = Section("Interpolation of the salient block", 80, interpolation, decodes=True)
