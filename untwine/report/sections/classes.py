"""What shows class and content apart: the grid of both, what is near in each space, and what can be read from each part."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.report.sections.gallery import missing
from untwine.report.tables import shown
from untwine.report.verdict import known, number
from untwine.runs.reading import Run

PARTS = ("class", "content")
WANTED = {True: "as near to 1 as can be", False: "as near to chance as can be"}
READ = (
    "A small network learns to tell the class, or the content, from the codes of one part; the numbers are its accuracy on "
    "codes that it did not learn from. Each part should tell its own and nothing of the other."
)
UNSURE = (
    "The size of the mean and the deviation that each dimension of a code is inferred with, averaged over the samples. Grey "
    "ones fell back on the prior, mean 0 and deviation 1, and hold nothing. Where few are left, with a large mean and a small "
    "deviation, the prior is no tight bottleneck: a content code may still hold the class."
)


def switches(run: Run) -> Markup:
    """Return every class with every content."""
    gallery = run.gallery or {}
    if not _applies(run):
        return Markup("")
    if not {"switch_sources", "switch_grid"} <= set(gallery):
        return missing(run, "classes with other contents")
    sources = gallery["switch_sources"]
    figure = plots.swap_grid(sources, sources, gallery["switch_grid"], blocks=("class", "content"))
    caption = (
        "Each image joins the class of the image at the left of its row with the content of the image at the top of its "
        "column. The same images stand at both edges, so those on the diagonal are reconstructions. Where the parts came "
        "apart, a row keeps its class and a column its content."
    )
    return image(figure, "A grid of images, a class in each row and a content in each column.", caption, wide=True)


def neighbours(run: Run) -> Markup:
    """Return which images are near to each other in each space."""
    gallery = run.gallery or {}
    if not _applies(run) or "near_sources" not in gallery:
        return Markup("")
    near = {part: gallery[f"near_{part}"] for part in PARTS if f"near_{part}" in gallery}
    if not near or any(cells.shape[1] == 0 for cells in near.values()):
        return Markup("")
    caption = (
        "The nearest first, of all images scored. Where the parts came apart, those near by class show the same class in "
        "other contents, and those near by content show other classes in the same content."
    )
    return image(
        plots.nearest_neighbours(gallery["near_sources"], near), "Images and those nearest to them.", caption, wide=True
    )


def posteriors(run: Run) -> Markup:
    """Return how sure each dimension of each part is; nothing where codes are no Gaussians."""
    gallery = run.gallery or {}
    parts = [part for part in PARTS if f"posterior_{part}" in gallery and part in run.blocks]
    if not parts:
        return Markup("")
    figures = []
    for part in parts:
        means, deviations = gallery[f"posterior_{part}"]
        figures.append(
            image(plots.posterior_statistics(means, deviations, part), f"Mean and deviation of each dimension of {part}.")
        )
    return join(tag("p", UNSURE, class_="note"), tag("div", *figures, class_="pair"))


def readings(run: Run) -> Markup:
    """Return what can be read from each part, with chance beside it; nothing where it was not scored."""
    rows = []
    for what in PARTS:
        floor = number((run.scores or {}).get(f"{what}_chance.x", {}), "value")
        for part, score in known(run, f"{what}_read").items():
            cells = (shown(number(score, "value")), shown(floor), WANTED[part == what])
            rows.append(tag("tr", tag("th", f"{what} from {part}", scope="row"), *(tag("td", cell) for cell in cells)))
    if not rows:
        return Markup("")
    head = tag("tr", *(tag("th", name, scope="col") for name in ("", "accuracy", "chance", "wanted")))
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="overview"), class_="scroll")
    return join(tag("p", READ, class_="note"), table)


def _applies(run: Run) -> bool:
    return set(PARTS) <= set(run.blocks) and run.has_images
