"""Images and their nearest neighbours by class and by content."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image
from untwine.report.section import Section
from untwine.runs.reading import Run

BLOCKS = ("class", "content")
CAPTION = (
    "The nearest first, among all scored images, by Euclidean distance of the codes. Where the blocks are disentangled, "
    "neighbours by class show the same class with other contents, and neighbours by content show other classes with the same "
    "content."
)


def neighbours(run: Run) -> Markup:
    """Return which images are nearest to each other in each block."""
    neighbours = run.gallery.neighbours
    if neighbours is None or not (set(BLOCKS) <= set(run.blocks) and run.draws_images):
        return Markup("")
    near = {block: neighbours.nearest[block] for block in BLOCKS if block in neighbours.nearest}
    if not near or any(cells.shape[1] == 0 for cells in near.values()):
        return Markup("")
    return image(plots.nearest_neighbours(neighbours.sources, near), "Images and their nearest neighbours.", CAPTION, wide=True)


SECTION = Section("Nearest neighbours per block", 90, neighbours)
