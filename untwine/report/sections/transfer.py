"""Targets with their salient block removed, and backgrounds that got it."""

from __future__ import annotations

from untwine._typing import Array
from untwine.report.figures import sample_rows
from untwine.report.markup import Markup
from untwine.report.section import Section
from untwine.runs.reading import Run

CAPTION = (
    "Top: targets, their reconstructions, and the same with the salient block s removed. Bottom: backgrounds, their "
    "reconstructions, and each with the salient block of the target at the top of its column."
)


def transfer(run: Run) -> Markup:
    """Return targets without and backgrounds with a salient block; nothing in runs that were evaluated without them."""
    gallery = run.gallery
    if gallery.background_with_salient is None:
        return Markup("")
    rows: dict[str, Array] = {}
    if gallery.targets is not None:
        rows |= {"target": gallery.targets.originals, "reconstruction": gallery.targets.reconstructions}
    if gallery.single_blocks is not None:
        rows["without s"] = gallery.single_blocks.common
    if gallery.background is not None:
        rows |= {"background": gallery.background.originals, "its reconstruction": gallery.background.reconstructions}
    rows["with s above"] = gallery.background_with_salient
    return sample_rows(rows, "Targets without their salient block, and backgrounds with it.", CAPTION)


SECTION = Section("Removing and transferring the salient block", 70, transfer, decodes=True)
