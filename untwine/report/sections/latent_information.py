"""Statistics of single latents, and the information that each has on each ground-truth factor."""

from __future__ import annotations

from collections.abc import Iterator

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.runs.gallery import LatentStatistics
from untwine.runs.reading import Run

NOTE = (
    "Left: mean and standard deviation of every latent over the samples; one that hardly varies is inactive. Right: the "
    "mutual information of each latent and each ground-truth factor, as a share of the factor's entropy (0 for inactive "
    "latents; biased slightly upwards when samples are few). The latent with the most information on a factor is framed. "
    "Where single factors are disentangled, a column has one dark cell, and no two of them share a row."
)


def latent_information(run: Run) -> Markup:
    """Return the statistics of each latent beside its information on the factors, block by block."""
    latents = {block: run.gallery.latents[block] for block in run.blocks if block in run.gallery.latents}
    if not latents:
        return missing(run, "single latents")
    figures = [figure for block, statistics in latents.items() for figure in _figures(run, block, statistics)]
    return join(tag("p", NOTE, class_="note"), tag("div", *figures, class_="pair"))


def _figures(run: Run, block: str, statistics: LatentStatistics) -> Iterator[Markup]:
    alt = f"Mean and standard deviation of the {len(statistics.mean)} latents of {block}."
    yield image(plots.latent_statistics(statistics.mean, statistics.std, title=block), alt)
    if (matrix := statistics.information) is not None:
        factors = run.gallery.factor_names or None
        names = [f"{block} {i}" + " (inactive)" * (not row.any()) for i, row in enumerate(matrix)]
        yield image(
            plots.factor_matrix(matrix, factors, names), f"Mutual information of each latent of {block} and each factor."
        )


SECTION = Section("Mutual information of latents and factors", 120, latent_information)
