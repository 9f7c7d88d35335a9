"""Scores as tables: a run beside its baselines, and all runs of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from untwine.evaluation.registry import explain
from untwine.report.markup import Markup, join, tag
from untwine.report.verdict import verdict
from untwine.runs.reading import Run, split
from untwine.runs.scores import Score

ARROWS = {"higher": ("↑", "higher is better"), "lower": ("↓", "lower is better")}
INFORMATION = ("·", "for information")


def scores_table(run: Run) -> Markup:
    """Return a table with a row for each metric and a column for each block of the run and of its baselines."""
    runs = [one for one in (run, *run.baselines) if one.scores]
    columns = {one.name: _columns(one) for one in runs}
    head = tag("tr", *(_run_head(one, run, len(columns[one.name])) for one in runs)) if len(runs) > 1 else Markup("")
    blocks = [tag("th", block or "all", scope="col") for one in runs for block in columns[one.name]]
    metrics = dict.fromkeys(split(name)[0] for one in runs for name in one.scores or ())
    span = len(blocks)
    bodies = []
    for metric in metrics:
        title = tag("th", tag("b", metric), " ", tag("span", explain(metric)), colspan=span, scope="rowgroup")
        cells = [cell for one in runs for cell in _cells(one, metric, columns[one.name])]
        bodies.append(tag("tbody", tag("tr", title), tag("tr", *cells)))
    table = tag("table", tag("thead", head, tag("tr", *blocks)), *bodies, class_="scores")
    key = (
        "Below each value: its 95 % interval and the number of samples, n. "
        "↑ higher is better, ↓ lower is better, · for information."
    )
    return join(tag("div", table, class_="scroll"), tag("p", key, class_="note"))


def overview_table(runs: Sequence[Run]) -> Markup:
    """Return a table with a row for each run and a column for each score, the best of each column in bold."""
    names = list(dict.fromkeys(name for run in runs for name in run.scores or ()))
    metrics = list(dict.fromkeys(split(name)[0] for name in names))
    names.sort(key=lambda name: metrics.index(split(name)[0]))
    best = {name: _best([run.scores[name] for run in runs if run.scores and name in run.scores]) for name in names}
    head = tag(
        "tr",
        tag("th", "run", scope="col"),
        tag("th", "disentangled", scope="col"),
        *(_score_head(name, runs) for name in names),
    )
    rows = []
    for i, run in enumerate(runs):
        judged = verdict(run)
        link = tag("th", tag("a", run.name, href=f"#run-{i + 1}"), scope="row")
        mark = tag(
            "td",
            tag("span", judged.mark, class_=f"mark {judged.status}", title=judged.title),
            tag("span", judged.title, class_="hidden"),
        )
        values = [_short((run.scores or {}).get(name), best[name]) for name in names]
        rows.append(tag("tr", link, mark, *values))
    return tag("div", tag("table", tag("thead", head), tag("tbody", *rows), class_="overview"), class_="scroll")


def shown(value: float) -> str:
    """Return a number with the digits that matter."""
    if not math.isfinite(value):
        return "n/a"
    if value and (abs(value) < 0.0001 or abs(value) >= 100000):
        return f"{value:.1e}"
    if 0 < abs(value) < 0.01:
        return f"{value:.5f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def _columns(run: Run) -> list[str]:
    """Return the blocks that get a column: the method's, and others for which a metric has a score beside those."""
    pairs = [split(name) for name in run.scores or ()]
    shared = {metric for metric, block in pairs if block in run.blocks}
    names = dict.fromkeys(block for metric, block in pairs if metric in shared and block not in run.blocks)
    scored = {block for _, block in pairs}
    return [block for block in run.blocks if block in scored] + list(names) or [""]


def _cells(run: Run, metric: str, columns: Sequence[str]) -> list[Markup]:
    scores = {block: score for name, score in (run.scores or {}).items() for which, block in [split(name)] if which == metric}
    alone = [block for block in scores if block not in columns]
    if alone:  # a score of the whole method, not of a block
        return [_cell(scores[alone[0]], len(columns))]
    return [_cell(scores.get(block), 1) for block in columns]


def _cell(score: Score | None, span: int) -> Markup:
    if score is None:
        return tag("td", tag("span", "-", class_="faint"), colspan=span)
    arrow, words = ARROWS.get(score.direction, INFORMATION)
    sign = tag("span", tag("span", arrow, aria_hidden="true"), tag("span", words, class_="hidden"), class_="arrow", title=words)
    small = [f"{interval},"] if (interval := _interval(score)) else []
    if score.n:
        small.append(f"n = {score.n:.0f}")
    words_below = [join(" ", tag("span", text)) for text in small]
    value = tag("span", tag("span", shown(score.value), class_="value"), " ", sign)
    return tag("td", value, tag("small", *words_below), colspan=span)


def _interval(score: Score) -> str:
    known = math.isfinite(score.low) and math.isfinite(score.high)
    return f"{shown(score.low)} to {shown(score.high)}" if known else ""


def _run_head(one: Run, main: Run, span: int) -> Markup:
    name = one.method if one is main else one.path.name
    return tag("th", name, colspan=span, scope="colgroup")


def _score_head(name: str, runs: Sequence[Run]) -> Markup:
    direction = next(run.scores[name].direction for run in runs if run.scores and name in run.scores)
    arrow, words = ARROWS.get(direction, INFORMATION)
    return tag("th", name, " ", tag("span", arrow, title=words, class_="arrow"), scope="col")


def _best(scores: Sequence[Score]) -> float | None:
    values = [score.value for score in scores if math.isfinite(score.value)]
    choose: Mapping[str, float] = {"higher": max(values), "lower": min(values)} if len(values) > 1 else {}
    return choose.get(scores[0].direction)


def _short(score: Score | None, best: float | None) -> Markup:
    if score is None:
        return tag("td", tag("span", "-", class_="faint"))
    return tag("td", tag("b", shown(score.value)) if best is not None and score.value == best else shown(score.value))
