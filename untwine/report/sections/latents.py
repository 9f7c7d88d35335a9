"""The single latents of one run: what each changes, what each tells of the true factors, and which are dead."""

from __future__ import annotations

from collections.abc import Iterator

from untwine import plots
from untwine._typing import Array
from untwine.report.markup import Markup, image, join, tag
from untwine.report.sections.gallery import missing
from untwine.runs.reading import Run

WALKED = (
    "One latent a row, the one that changes most first, through its range (the middle 98 % of its values in the data), while "
    "all other codes stay those of one sample near the mean. Where single factors came apart, a row changes one thing."
)
TOLD = (
    "Left: mean and deviation of every latent over the samples; one that hardly varies is dead. Right: the share of each true "
    "factor that the latent alone tells (mutual information over entropy; dead ones count as 0, and few samples show a "
    "little of everything). Framed is the latent that tells most. Where single factors came apart, a column has one dark cell, "
    "and no two share a row."
)


def walks(run: Run) -> Markup:
    """Return images along each latent of each block; nothing for vectors."""
    gallery = run.gallery or {}
    if "shape" in run.about and not run.has_images:
        return Markup("")
    figures = []
    for block in _blocks(run, "walk_"):
        names = [f"{block} {int(i)}" for i in gallery[f"walk_latents_{block}"]]
        figure = plots.traversal_grid(
            gallery[f"walk_{block}"], gallery.get(f"walk_values_{block}"), names, gallery.get(f"walk_change_{block}")
        )
        figures.append(image(figure, f"Images that change while single latents of {block} move.", wide=True))
    return join(tag("p", WALKED, class_="note"), *figures) if figures else missing(run, "what each latent changes")


def told(run: Run) -> Markup:
    """Return the spread of each latent beside the matrix of latents and factors, block by block."""
    figures = [figure for block in _blocks(run, "spread_") for figure in _told(run, block)]
    if not figures:
        return missing(run, "single latents")
    return join(tag("p", TOLD, class_="note"), tag("div", *figures, class_="pair"))


def _told(run: Run, block: str) -> Iterator[Markup]:
    gallery = run.gallery or {}
    means, deviations = gallery[f"spread_{block}"]
    alt = f"Mean and deviation of the {len(means)} latents of {block}."
    yield image(plots.latent_statistics(means, deviations, title=block), alt)
    matrix: Array | None = gallery.get(f"told_{block}")
    if matrix is not None:
        factors = [str(name) for name in gallery["factor_names"]] if "factor_names" in gallery else None
        names = [f"{block} {i}" + " (dead)" * (not row.any()) for i, row in enumerate(matrix)]
        yield image(plots.factor_matrix(matrix, factors, names), f"How much each latent of {block} tells of each factor.")


def _blocks(run: Run, prefix: str) -> list[str]:
    needed = (prefix, "walk_latents_") if prefix == "walk_" else (prefix,)
    return [block for block in run.blocks if all(f"{name}{block}" in (run.gallery or {}) for name in needed)]
