"""The codes of every block in two dimensions."""

from __future__ import annotations

from untwine import plots
from untwine.report.figures import missing
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.runs.reading import Run


def planes(run: Run) -> Markup:
    """Return the t-SNE of every block, of the run and of its baselines."""
    figures = [figure for one in (run, *run.baselines) for figure in _planes(one, "" if one is run else f"{one.path.name}: ")]
    if not figures:
        return missing(run, "the codes in two dimensions")
    separated, mixed, also = ("salient", "common", ", and so are target and background")
    if "content" in run.blocks:
        separated, mixed, also = ("class", "content", "")
    text = (
        "Each point is a sample, placed by t-SNE of its codes; the background is grey. The name of a class is placed where its "
        f"samples cluster. Where the blocks are disentangled, the classes are separated in the {separated} block and mixed in "
        f"the {mixed} block{also}."
    )
    return join(tag("p", text, class_="note"), tag("div", *figures, class_="pair"))


def _planes(run: Run, prefix: str) -> list[Markup]:
    planes = run.gallery.planes
    if planes is None:
        return []
    figures = []
    for block, points in planes.points.items():
        title = f"{prefix}{block}" if block == "z" else f"{prefix}{block} block"
        figure = plots.embedding_scatter(
            points,
            planes.labels,
            planes.groups,
            label_names=planes.label_names,
            group_names=planes.group_names,
            title=title,
        )
        figures.append(image(figure, f"Codes in two dimensions, coloured by class: {title}."))
    return figures


SECTION = Section("t-SNE of the codes", 140, planes)
