"""Put the page together and write it."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from untwine.report import sections
from untwine.report.advice import advice
from untwine.report.contrast import contrast
from untwine.report.markup import Markup, join, tag
from untwine.report.section import Section
from untwine.report.style import CSS
from untwine.report.tables import overview_table, shown
from untwine.report.trade_off import trade_offs
from untwine.report.verdict import verdict
from untwine.runs import files
from untwine.runs.names import report_path
from untwine.runs.reading import Run, read_runs


@cache
def find_sections() -> tuple[Section, ...]:
    """Return the sections of a run in their order: the SECTION of each module of `untwine.report.sections`."""
    modules = (import_module(f"{sections.__name__}.{module.name}") for module in iter_modules(sections.__path__))
    return tuple(sorted((module.SECTION for module in modules), key=lambda section: section.order))


def report(runs: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Make one self-contained HTML page about a run folder, or about all run folders in a folder.

    The page needs no network and no scripts. Where a run has no scores or images yet, it names the command that makes them.

    Parameters
    ----------
    runs
        A run folder, or a folder with run folders in it. Runs inside a run folder are its baselines, shown beside it.
    out
        Where to write the page.

    Returns
    -------
    Path
        Where the page is.
    """
    out = Path(out)
    if out.is_dir():
        raise ValueError(f"out must be a file to write; {str(out)!r} is a folder; use {str(report_path(out))!r}.")
    files.write(out, page(read_runs(runs)))
    return out


def page(runs: list[Run]) -> str:
    """Return the whole page about some runs; one run with its baselines is a page about that run."""
    inside = {baseline.path for run in runs for baseline in run.baselines}
    tops = [run for run in runs if run.path not in inside]
    title = tops[0].name if len(tops) == 1 else f"{len(tops)} runs"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} · untwine"),
        tag("style", Markup(CSS)),
    )
    top = tag("header", tag("p", "untwine report", class_="about"), tag("h1", title))
    headings = ["Disentanglement" if tops == [run] else run.name for run in runs]
    body = [_run(run, f"run-{i + 1}", heading) for i, (run, heading) in enumerate(zip(runs, headings, strict=True))]
    main = tag("main", _contents(runs, headings), overview(runs) if len(tops) > 1 else "", *body)
    foot = tag("footer", "Made by untwine from the files of each run. This page loads nothing from the network.")
    return "<!doctype html>\n" + tag("html", head, tag("body", top, main, foot), lang="en") + "\n"


def overview(runs: list[Run]) -> Markup:
    """Return all scores of all runs in one table, and disentanglement against reconstruction."""
    table = overview_table(runs) if any(run.scores for run in runs) else tag("p", "No run has scores yet.")
    return tag("section", tag("h2", "All runs", id="all-runs"), table, trade_offs(runs))


def _contents(runs: list[Run], headings: list[str]) -> Markup:
    if len(runs) == 1:
        return Markup("")
    links = [
        tag("li", tag("a", heading, href=f"#run-{i + 1}"), f" ({run.method}): {verdict(run).title.lower()}")
        for i, (run, heading) in enumerate(zip(runs, headings, strict=True))
    ]
    return tag("nav", tag("ol", *links, class_="contents"), aria_label="Contents")


def _run(run: Run, anchor: str, heading: str) -> Markup:
    judged = verdict(run)
    mark = tag("span", f"{judged.mark} ", aria_hidden="true")
    reasons = (tag("p", reason) for reason in judged.reasons)
    card = tag("div", tag("strong", mark, judged.title), *reasons, advice(run), class_=f"verdict {judged.status}")
    if tested := contrast(run):
        card = join(tag("h3", "Is there salient variation?"), tested, tag("h3", "Are the blocks disentangled?"), card)
    contents = {section.title: section.draw(run) for section in find_sections()}
    shown_sections = [join(tag("h3", title), content) for title, content in contents.items() if content]
    return tag(
        "section", tag("h2", heading, id=anchor), tag("p", _about(run), class_="about"), card, *shown_sections, class_="run"
    )


def _about(run: Run) -> str:
    data = run.table("data").get("name") or "unnamed data"
    blocks = ", ".join(f"{name} ({width}-dimensional)" for name, width in run.table("blocks").items())
    seconds = run.table("seconds").get("fit")
    text = f"{run.method} on {data}"
    text += f"; blocks: {blocks}" if blocks else ""
    return text + (f"; fitted in {shown(float(seconds))} s" if isinstance(seconds, (int, float)) else "")
