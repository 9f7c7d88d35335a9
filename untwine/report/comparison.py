"""The top of the page of a comparison: which method to take and why, the ranking, the same samples by every method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from untwine import plots
from untwine._typing import Array
from untwine.evaluation.ranking import MEANINGS, apart
from untwine.report.figures import MOST, are_images
from untwine.report.markup import Markup, image, join, tag
from untwine.report.sections.reproduce import command_line
from untwine.report.tables import shown
from untwine.runs.comparison import FAILED, STOPPED, Comparison, Place
from untwine.runs.reading import Run

TIE = 0.02  # of the value: what is nearer, or as near as seeds are to each other, cannot be told apart
POOR = 0.4  # of how far the blocks are apart: below it no method took the data apart
EARLY = 0.25  # of the epochs that a method would have without a budget: with fewer the order says little
CLEAR = 0.05  # of a term: a smaller difference is no reason
BESIDE = ("probe.salient", "probe.common", "factors_salient.salient", "factors_salient.common", "factors.common", "probe.z")

HOW = (
    "The value is the share that is explained times the mean of the other terms, each from 0 to 1, higher is better; none uses "
    "a label that the method was not given. It is of the test split, so the value of the first of many is a little too good. "
    "How well such an order agrees with labelled scores is in docs/results.md."
)


def select_runs(comparison: Comparison, runs: Sequence[Run]) -> list[Run]:
    """Return the best run of each method, in the order of the ranking."""
    by_name = {run.name: run for run in runs}
    return [by_name[place.best.folder] for place in comparison.ranking() if place.best.folder in by_name]


def advise(comparison: Comparison) -> list[str]:
    """Return in sentences which method to take, and why."""
    places = [place for place in comparison.ranking() if place.value is not None]
    if not places or places[0].value is None:
        return [_unranked(comparison)]
    first = places[0]
    return [
        *_lead(first, places[1:]),
        *_reasons(first, places[1] if len(places) > 1 and apart(first.terms) >= POOR else None),
        *_cautions(first, places),
    ]


def _unranked(comparison: Comparison) -> str:
    if not comparison.finished():
        return "No run is finished yet: the same command goes on."
    if comparison.supervision == "nothing":
        return (
            "Without groups or classes there is no ranking without labels: the table shows what each method explains "
            "and, with several "
            "seeds, how well their codes agree."
        )
    if comparison.supervision == "labels":
        return "No run could be ranked: the test split has too few samples, or too few classes, to score it by."
    return (
        "No run could be ranked: a network that sees the samples themselves cannot tell targets from background, or "
        "the test split is "
        "too small to train it. There may be nothing salient."
    )


def _lead(first: Place, others: Sequence[Place]) -> list[str]:
    value = f"{first.value:.2f}{_range(first)}"
    if first.value is not None and apart(first.terms) < POOR:
        text = f"No method took these data apart: the first, {first.method}, has {value} of 1."
        return [text, "What failed is said at each run on the page."]
    if not others:
        return [f"Take {first.method}: its value without labels is {value} of 1. Nothing else was ranked."]
    second = others[0]
    text = f"the next, {second.method}, has {second.value:.2f}{_range(second)}"
    if _is_tie(first, second):
        tie = f"Take {first.method}, or {second.method}: they cannot be told apart."
        return [f"{tie} {first.method} has {value} without labels, of 1; {text}."]
    return [f"Take {first.method}, ranked first without labels: {value} of 1; {text}."]


def _reasons(first: Place, second: Place | None) -> list[str]:
    beside = {} if second is None else {name: first.terms[name] - second.terms.get(name, 0.0) for name in first.terms}
    ahead = sorted((name for name in beside if beside[name] > CLEAR), key=lambda name: -beside[name])[:2]
    because = [
        f"{name} {first.terms[name]:.2f} against {second.terms.get(name, 0.0):.2f} ({MEANINGS.get(name, name)})"
        for name in ahead
        if second is not None
    ]
    sentences = [f"Because: {'; '.join(because)}."] if because else []
    weakest = min(first.terms, key=first.terms.__getitem__)
    return [*sentences, f"Its weakest point is {weakest}, {first.terms[weakest]:.2f} ({MEANINGS.get(weakest, weakest)})."]


def _cautions(first: Place, places: Sequence[Place]) -> list[str]:
    sentences = []
    if first.is_baseline and len(places) > 1:
        sentences.append("It is a trivial baseline: no network did better in this time.")
    short = [place for place in places if _is_short(place)]
    if any(place.best.epochs < EARLY * place.best.wanted for place in places):
        sentences.append(
            f"It is too early to say: {'; '.join(map(_length, short))}. In full they would take about "
            f"{_minutes(short)} minutes more: pass more --minutes, into another folder."
        )
    elif short:
        names = ", ".join(place.method for place in short)
        sentences.append(
            f"The budget trained {names} for fewer epochs than without it: "
            "more minutes, into another folder, may change the order."
        )
    if len(first.values) == 1:
        sentences.append("There is one seed: with more, such as --seeds 0 1 2, the table also says how far they agree.")
    return sentences


def _is_short(place: Place) -> bool:
    return place.best.epochs < 0.9 * place.best.wanted


def _length(place: Place) -> str:
    return f"{place.method} was trained for {place.best.epochs} of {place.best.wanted} epochs"


def _minutes(places: Iterable[Place]) -> int:
    """Return how many minutes more the whole training of methods would take, of all their seeds."""
    more = (
        (place.best.wanted / max(1, place.best.epochs) - 1) * place.best.seconds * max(1, len(place.values)) for place in places
    )
    return math.ceil(sum(more) / 60)


def _is_tie(a: Place, b: Place) -> bool:
    spread = max((max(place.values) - min(place.values) for place in (a, b) if place.values), default=0.0)
    return (a.value or 0.0) - (b.value or 0.0) < max(TIE, spread)


def _range(place: Place) -> str:
    return (
        f" ({min(place.values):.2f} to {max(place.values):.2f} over {len(place.values)} seeds)" if len(place.values) > 1 else ""
    )


def ranking_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Return the ranking as a table of text: its head, and a row for each method."""
    places = comparison.ranking()
    terms = list(dict.fromkeys(name for place in places for name in place.terms))
    head = ["method", "value", *terms, "seeds agree", "epochs", "fit, s"]
    rows = []
    for place in places:
        agree = comparison.stability.get(place.method)
        epochs = f"{place.best.epochs} of {place.best.wanted}" if place.best.wanted else "-"
        rows.append(
            [
                f"{place.method}{' (baseline)' if place.is_baseline else ''}",
                "-" if place.value is None else f"{place.value:.2f}",
                *(f"{place.terms[name]:.2f}" if name in place.terms else "-" for name in terms),
                "-" if agree is None else f"{agree:.2f}",
                epochs,
                f"{place.best.seconds:.1f}",
            ]
        )
    return head, rows


def unfinished(comparison: Comparison) -> list[str]:
    """Return a sentence for each run that failed or is not finished."""
    sentences = []
    for one in comparison.candidates:
        if one.state == FAILED:
            sentences.append(f"{one.method}, seed {one.seed}, failed: {one.reason}")
        elif one.state == STOPPED:
            sentences.append(f"{one.method}, seed {one.seed}, is not finished: the same command resumes it.")
    return sentences


def comparison_section(comparison: Comparison, runs: Sequence[Run]) -> Markup:
    """Return the top of the page: advice, ranking, images side by side, and how to use the first.

    `runs` are the best runs of the methods, in the order of the ranking and of the page.
    """
    first, *rest = advise(comparison)
    card = tag("div", tag("strong", first), *(tag("p", text) for text in rest), class_="verdict")
    undone = [tag("li", text) for text in unfinished(comparison)]
    use = Markup("")
    if runs and comparison.ranking()[0].value is not None:
        use = join(tag("h3", f"Use {runs[0].method}"), tag("pre", tag("code", _use(runs[0]))))
    return tag(
        "section",
        tag("h2", "Which method?", id="comparison"),
        card,
        tag("h3", "Ranking without labels"),
        _table(comparison, runs),
        tag("p", HOW, class_="note"),
        tag("ul", *undone) if undone else "",
        _side_by_side(runs),
        use,
    )


def _table(comparison: Comparison, runs: Sequence[Run]) -> Markup:
    head, rows = ranking_rows(comparison)
    known = [name for name in BESIDE if any(name in (run.scores or {}) for run in runs)]
    titles = [tag("th", name, scope="col", title=MEANINGS.get(name, "")) for name in (*head, *(f"{name} *" for name in known))]
    anchors = {run.name: f"#run-{i + 1}" for i, run in enumerate(runs)}
    by_name, body = {run.name: run for run in runs}, []
    for place, (name, *cells) in zip(comparison.ranking(), rows, strict=True):
        link = tag("a", name, href=anchors[place.best.folder]) if place.best.folder in anchors else name
        run = by_name.get(place.best.folder)
        beside = [_labelled(run, score) for score in known]
        body.append(tag("tr", tag("th", link, scope="row"), *(tag("td", cell) for cell in (*cells, *beside))))
    table = tag("table", tag("thead", tag("tr", *titles)), tag("tbody", *body), class_="overview")
    note = tag("p", "* uses labels or factors, for information: it has no say in the order.", class_="note") if known else ""
    return join(tag("div", table, class_="scroll"), note)


def _labelled(run: Run | None, name: str) -> str:
    score = (run.scores or {}).get(name) if run is not None else None
    return shown(score.value) if score is not None and math.isfinite(score.value) else "-"


def _side_by_side(runs: Sequence[Run]) -> Markup:
    """Return what the methods make of the same samples: their reconstructions, and counterparts without the salient block."""
    originals = next((run.gallery.targets.originals for run in runs if run.gallery.targets is not None), None)
    if originals is None or not are_images(originals):
        return Markup("")
    counterparts = {run.method: run.gallery.single_blocks.common for run in runs if run.gallery.single_blocks is not None}
    salient = {run.method: run.gallery.single_blocks.salient for run in runs if run.gallery.single_blocks is not None}
    decoded = {run.method: run.gallery.targets.reconstructions for run in runs if run.gallery.targets is not None}
    return join(
        _rows(
            "Without the salient block",
            originals,
            counterparts,
            "What a target would be as background: what is salient is gone.",
        ),
        _rows(
            "From the salient block alone", originals, salient, "What is salient is there, and what both groups share is not."
        ),
        _rows("Reconstructions", originals, decoded, "From all blocks."),
    )


def _rows(title: str, originals: Array, rows: Mapping[str, Array], caption: str) -> Markup:
    if not rows:
        return Markup("")
    figure = plots.image_rows({name: row[:MOST] for name, row in {"original": originals, **rows}.items()})
    return join(tag("h3", title), image(figure, f"{title}: a row of images for each of {', '.join(rows)}.", caption, wide=True))


def _use(run: Run) -> str:
    return f"untwine explore {run.path}\n\n# the same run again\n{command_line(run)}"
