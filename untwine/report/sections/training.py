"""The training curves: every term of the objective over the epochs."""

from __future__ import annotations

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.report.tables import shown
from untwine.runs.history import terms
from untwine.runs.names import HISTORY
from untwine.runs.reading import Run


def training(run: Run) -> Markup:
    """Return a curve for every term of the objective, by stage."""
    if run.history is None:
        return tag("p", f"This run has no {HISTORY}. Write it with ", tag("code", "untwine fit"), ", as below.")
    curves = terms(run.history)
    if not curves:
        return tag("p", "There are no training curves: this method has a closed form.")
    stages: dict[str, list[Markup]] = {}
    for (stage, player, term), (epochs, values) in curves.items():
        points = zip(epochs, values, strict=True)
        rows = [{"stage": stage, "player": player, "term": term, "epoch": epoch, "value": value} for epoch, value in points]
        alt = f"{player}: {term}, from {shown(float(values[0]))} to {shown(float(values[-1]))} in {len(values)} epochs."
        stages.setdefault(stage, []).append(image(plots.training_curves(rows), alt))
    named = [join(tag("h4", f"Stage {stage}"), tag("div", *figures, class_="many")) for stage, figures in stages.items()]
    return join(*named) if len(named) > 1 else tag("div", *next(iter(stages.values())), class_="many")


SECTION = Section("Training curves", 150, training)
