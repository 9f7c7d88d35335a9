"""What was measured and written down about one run: scores, curves, settings, and how to repeat it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from untwine import plots
from untwine.report.markup import Markup, image, join, tag
from untwine.report.repeat import command_line, python_lines
from untwine.report.tables import scores_table, shown
from untwine.report.verdict import NOUNS, chance, known
from untwine.runs.history import terms
from untwine.runs.reading import Run, Score


def scores(run: Run) -> Markup:
    """Return the bars and the table of a run and its baselines."""
    if not run.scores:
        return tag("p", "There are no scores yet. Make them with ", tag("code", f"untwine evaluate {run.path}"), ".")
    figures = []
    for metric in NOUNS:
        bars = {name: score for one in (run, *run.baselines) for name, score in _bars(one, run, metric)}
        if bars:
            alt = f"Bars of {metric}: " + ", ".join(f"{name} {shown(float(score['value']))}" for name, score in bars.items())
            figures.append(image(plots.scores_bars(bars, metric, chance(run, metric) if metric == "probe" else None), alt))
    return join(tag("div", *figures, class_="pair") if figures else Markup(""), scores_table(run))


def _bars(one: Run, main: Run, metric: str) -> Iterator[tuple[str, Score]]:
    found = known(one, metric)
    for block, score in found.items():
        # Of a single part it cannot be said that it should hold something and another should not.
        direction = score.get("direction") if len(found) > 1 else "info"
        yield block if one is main else f"{one.path.name}: {block}", {**score, "block": block, "direction": direction}


def training(run: Run) -> Markup:
    """Return a curve for every term of the objective, the stages apart."""
    if run.history is None:
        return tag("p", "This run has no history.csv. Make it with ", tag("code", "untwine fit"), ", as below.")
    lines = terms(run.history)
    if not lines:
        return tag("p", "Nothing was trained step by step: this method is solved in closed form.")
    stages: dict[str, list[Markup]] = {}
    for (stage, player, term), (epochs, values) in lines.items():
        points = zip(epochs, values, strict=True)
        rows = [{"stage": stage, "player": player, "term": term, "epoch": epoch, "value": value} for epoch, value in points]
        alt = f"{player}: {term}, from {shown(float(values[0]))} to {shown(float(values[-1]))} in {len(values)} epochs."
        stages.setdefault(stage, []).append(image(plots.training_curves(rows), alt))
    named = [join(tag("h4", f"Stage {stage}"), tag("div", *drawn, class_="many")) for stage, drawn in stages.items()]
    return join(*named) if len(named) > 1 else tag("div", *next(iter(stages.values())), class_="many")


def configuration(run: Run) -> Markup:
    """Return what was fitted, on what and with what."""
    tables = {
        "parameters": run.part("params"),
        "data": {"shape of a sample": run.about.get("shape"), **run.part("data")},
        "widths of the parts": run.part("blocks"),
        "versions": run.part("versions"),
        "seconds": run.part("seconds"),
        "files": {key: run.about[key] for key in ("weights_sha256", "sha256", "format_version") if key in run.about},
    }
    return tag("div", *(_settings(name, rows) for name, rows in tables.items() if rows), class_="sheet")


def repeat(run: Run) -> Markup:
    """Return the lines that make the run again."""
    return join(
        tag("p", "On the command line:"),
        tag("pre", tag("code", command_line(run))),
        tag("p", "In Python:"),
        tag("pre", tag("code", python_lines(run))),
    )


def _settings(name: str, rows: Mapping[str, Any]) -> Markup:
    lines = [
        tag("tr", tag("th", str(key), scope="row"), tag("td", _value(value)))
        for key, value in rows.items()
        if value is not None or name == "parameters"
    ]
    return tag("div", tag("table", tag("caption", name), tag("tbody", *lines), class_="settings"))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
