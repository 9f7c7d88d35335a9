"""Images generated from codes that are drawn from the prior."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image
from untwine.report.section import Section
from untwine.runs.reading import Run

CAPTION = (
    "All codes are drawn from the prior. Each row has one common code: at the left without a salient code, then with several."
)


def generated(run: Run) -> Markup:
    """Return generated images, a common code in each row; nothing for methods without a prior."""
    grid = run.gallery.generated
    if grid is None:
        return Markup("")
    figure = plots.strips(grid[:, 1:], grid[:, 0], titles=("s = 0", "several s", ""))
    return image(figure, "Images generated from codes that were drawn from the prior.", CAPTION)


SECTION = Section("Samples from the prior", 130, generated, decodes=True)
