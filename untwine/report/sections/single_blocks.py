"""Targets decoded from both blocks, and from each block with the other removed."""

from __future__ import annotations

from untwine.report.figures import missing, sample_rows
from untwine.report.markup import Markup
from untwine.report.section import Section
from untwine.runs.reading import Run

CAPTION = (
    "From top to bottom: targets; decoded from both blocks; from the common block alone; from the salient block alone. The "
    "other block is removed: its codes are 0."
)


def single_blocks(run: Run) -> Markup:
    """Return targets decoded from both blocks and from each alone."""
    targets, single = run.gallery.targets, run.gallery.single_blocks
    if targets is None or single is None:
        return missing(run, "single blocks", needs_salient=True)
    rows = {"original": targets.originals, "both": targets.reconstructions, "common": single.common, "salient": single.salient}
    alt = "Targets, decoded from both blocks, from the common block alone and from the salient block alone."
    return sample_rows(rows, alt, CAPTION)


SECTION = Section("Decoding single blocks", 40, single_blocks, decodes=True)
