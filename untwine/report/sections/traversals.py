"""Traversals: images that change while single latents do."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.runs.reading import Run

NOTE = (
    "One latent in each row, the one with the largest effect first, traversed over its range (the central 98 % of its values "
    "in the data), while all other codes are held at those of one sample near the mean. Where single factors are "
    "disentangled, a row changes one thing."
)


def traversals(run: Run) -> Markup:
    """Return images along each latent of each block; nothing for vectors."""
    if "shape" in run.card and not run.draws_images:
        return Markup("")
    figures = []
    for block in run.blocks:
        if (traversal := run.gallery.traversals.get(block)) is not None:
            names = [f"{block} {int(i)}" for i in traversal.latents]
            figure = plots.traversal_grid(traversal.images, traversal.values, names, traversal.change)
            figures.append(image(figure, f"Images that change along single latents of {block}.", wide=True))
    return join(tag("p", NOTE, class_="note"), *figures) if figures else missing(run, "latent traversals")


SECTION = Section("Latent traversals", 110, traversals, decodes=True)
