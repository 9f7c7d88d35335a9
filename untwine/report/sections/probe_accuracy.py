"""How well class and content are predicted from each block of a class-supervised method."""

from __future__ import annotations

import math

from untwine.report.markup import Markup, join, tag
from untwine.report.section import Section
from untwine.report.tables import shown
from untwine.report.verdict import finite_scores
from untwine.runs.reading import Run

BLOCKS = ("class", "content")
WANTED = {True: "near 1", False: "near the chance level"}
NOTE = (
    "A small network is trained to predict the class, or the content, from the codes of one block; the numbers are its "
    "accuracy on held-out codes. Each block should predict its own and not the other's. The chance level is the "
    "accuracy of always predicting the most frequent one."
)


def probe_accuracy(run: Run) -> Markup:
    """Return the accuracy from each block beside the chance level; nothing where it was not scored."""
    rows = []
    for what in BLOCKS:
        baseline = (run.scores or {}).get(f"{what}_chance.x")
        for block, score in finite_scores(run, f"{what}_read").items():
            cells = (shown(score.value), shown(math.nan if baseline is None else baseline.value), WANTED[block == what])
            rows.append(tag("tr", tag("th", f"{what} from {block}", scope="row"), *(tag("td", cell) for cell in cells)))
    if not rows:
        return Markup("")
    head = tag("tr", *(tag("th", name, scope="col") for name in ("", "accuracy", "chance level", "wanted")))
    table = tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="overview"), class_="scroll")
    return join(tag("p", NOTE, class_="note"), table)


SECTION = Section("Probe accuracy per block", 20, probe_accuracy)
