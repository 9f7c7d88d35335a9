"""Every common block with every salient block, as images."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image
from untwine.report.section import Section
from untwine.runs.reading import Run

MOST = 8  # rows and columns of the grid
CAPTION = (
    "Each image combines the common block of the image at the left of its row with the salient block of the image at the top "
    "of its column. Where the blocks are disentangled, a row keeps its background and a column keeps what is salient."
)


def swaps(run: Run) -> Markup:
    """Return the grid of swapped blocks."""
    swaps = run.gallery.swaps
    if swaps is None:
        return missing(run, "swaps", needs_salient=True)
    figure = plots.swap_grid(swaps.common[:MOST], swaps.salient[:MOST], swaps.grid[:MOST, :MOST])
    return image(figure, "A grid of images with swapped blocks.", CAPTION)


SECTION = Section("Swaps", 60, swaps, decodes=True)
