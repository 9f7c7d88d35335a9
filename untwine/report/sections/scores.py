"""The scores of a run and of its baselines, as bars and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from untwine import plots
from untwine.report.figures import evaluate_command
from untwine.report.markup import Markup, image, join, tag
from untwine.report.section import Section
from untwine.report.tables import scores_table, shown
from untwine.report.verdict import NOUNS, chance_level, finite_scores
from untwine.runs.reading import Run

# Both readings of the class: a linear probe, and an MLP on standardised columns.
FIGURES = ("probe", "probe_strong", *(metric for metric in NOUNS if metric != "probe"))


def scores(run: Run) -> Markup:
    """Return the bars and the table of a run and its baselines."""
    if not run.scores:
        return tag("p", "There are no scores yet. Compute them with ", evaluate_command(run), ".")
    figures = []
    for metric in FIGURES:
        bars = {name: score for one in (run, *run.baselines) for name, score in _bars(one, run, metric)}
        if bars:
            alt = f"Bars of {metric}: " + ", ".join(f"{name} {shown(score['value'])}" for name, score in bars.items())
            level = chance_level(run, "probe") if metric.startswith("probe") else None
            figures.append(image(plots.scores_bars(bars, metric, level), alt))
    return join(tag("div", *figures, class_="pair") if figures else Markup(""), scores_table(run))


def _bars(one: Run, main: Run, metric: str) -> Iterator[tuple[str, dict[str, Any]]]:
    scores = finite_scores(one, metric)
    for block, score in scores.items():
        # A single block is not expected to encode one thing and not another.
        direction = score.direction if len(scores) > 1 else "info"
        name = block if one is main else f"{one.path.name}: {block}"
        yield name, {**score.to_json(), "block": block, "direction": direction}


SECTION = Section("Scores", 10, scores)
