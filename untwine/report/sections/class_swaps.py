"""Every class with every content, as images."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image
from untwine.report.section import Section
from untwine.runs.reading import Run

CAPTION = (
    "Each image combines the class of the image at the left of its row with the content of the image at the top of its column. "
    "The same images are at both edges, so the diagonal holds reconstructions. Where the blocks are disentangled, a row "
    "keeps its class and a column its content."
)


def class_swaps(run: Run) -> Markup:
    """Return the grid of classes and contents; nothing for methods without them."""
    if not ({"class", "content"} <= set(run.blocks) and run.draws_images):
        return Markup("")
    swaps = run.gallery.class_swaps
    if swaps is None:
        return missing(run, "classes with other contents")
    figure = plots.swap_grid(swaps.sources, swaps.sources, swaps.grid, blocks=("class", "content"))
    return image(figure, "A grid of images, a class in each row and a content in each column.", CAPTION, wide=True)


SECTION = Section("Class and content swaps", 30, class_swaps, decodes=True)
