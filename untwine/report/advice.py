"""When a part has collapsed or leaks: which, by what numbers, and what to try with the options that the method has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from untwine.report.markup import Markup, join, tag
from untwine.report.rules import (
    COLLAPSED,
    COMMON_LEAKS,
    EPOCHS,
    LARGE,
    MEANINGS,
    PRESENT_IN_BACKGROUND,
    SALIENT_LEAKS,
    SILENT,
    WEAK,
    Rule,
)
from untwine.report.sections.contrast import is_salient
from untwine.report.verdict import CARRIES, LEAKS, THINGS, chance, collapsed, known, number, silent
from untwine.runs.history import terms
from untwine.runs.reading import Run

PRESENT = 0.25  # of the targets' salient energy, in the background: from here on it is no longer silent
MOST = 4  # things to try

NOTHING = (
    "The test above found no way in which targets vary and the background does not, and no setting changes that. More rows, or "
    "a background that shares more with the targets, might."
)


@dataclass(frozen=True)
class Finding:
    """What failed, the numbers that say so, and what to try."""

    what: str
    why: str
    tries: tuple[str, ...] = ()


def advice(run: Run) -> Markup:
    """Return what failed in a run and what to try, as a list; nothing where nothing did."""
    items = []
    for found in findings(run):
        to_try = join(" Try:", tag("ul", *(tag("li", text) for text in found.tries))) if found.tries else ""
        items.append(tag("li", tag("b", found.what), f" {found.why}", to_try))
    return join(tag("h4", "What failed, and what to try"), tag("ul", *items)) if items else Markup("")


def findings(run: Run) -> Iterator[Finding]:
    """Yield what failed in a run with a common and a salient part; what only follows from a collapse is left out."""
    if not run.is_contrastive:
        return
    if collapsed(run):
        yield _collapsed(run)
    if silent(run):
        yield _silent(run)
    if collapsed(run) or silent(run):
        return
    nothing = run.contrast is not None and not is_salient(run.contrast)
    if nothing:
        yield Finding("There may be nothing to take apart.", NOTHING)
    yield from _leaks(run)
    if not nothing:  # two groups that vary alike have codes alike, under any setting
        yield from _background(run)


def _collapsed(run: Run) -> Finding:
    codes = (run.codes or {})["salient", "target"]
    what = "The salient part has collapsed."
    why = (
        f"Its codes are all but the same for every target: their variance is {_most(codes.variance)} in each of "
        f"{len(codes.variance)} dimensions, and {100 * codes.effect:.1f} % of what varies in the targets comes from it."
    )
    if run.contrast is not None and not is_salient(run.contrast):
        return Finding(what, f"{why} The test above found nothing salient in this data, so an empty part may be just right.")
    more = () if run.contrast is not None else ("ask un.contrast_test(samples) whether there is anything salient",)
    return Finding(what, why, (*tries(run, COLLAPSED), *more))


def _silent(run: Run) -> Finding:
    codes = (run.codes or {})["common", "background"]
    why = (
        "Its codes are all but the same for every background, though the background varies: their variance is "
        f"{_most(codes.variance)} in each of {len(codes.variance)} dimensions, and {100 * codes.effect:.1f} % of what varies "
        "in the background comes from it. That nothing salient can be read from it says nothing then."
    )
    return Finding("The common part is silent.", why, tuple(tries(run, SILENT)))


def _most(variances: Sequence[float]) -> str:
    largest = max(variances, default=0.0)
    return f"at most {largest:.4f}" if largest >= 0.0001 else "less than 0.0001"


def _leaks(run: Run) -> Iterator[Finding]:
    """Yield which part holds what only the other one should, and whether the salient part holds what it should."""
    for metric, thing in {**THINGS, "factors": "the factors that both groups have"}.items():
        scores, floor = known(run, metric), chance(run, metric) or 0.0
        if not {"common", "salient"} <= set(scores) or floor >= 1:
            continue
        share = {block: (float(score["value"]) - floor) / (1 - floor) for block, score in scores.items()}
        why = {block: _read(metric, float(score["value"]), floor) for block, score in scores.items()}
        other, rules = ("salient", SALIENT_LEAKS) if metric == "factors" else ("common", COMMON_LEAKS)
        if share[other] > LEAKS:
            yield Finding(f"The {other} part leaks {thing}.", why[other], tuple(tries(run, rules)))
        if other == "common" and share["salient"] < CARRIES:
            yield Finding(f"The salient part holds little of {thing}.", why["salient"], tuple(tries(run, WEAK)))


def _read(metric: str, value: float, floor: float) -> str:
    if metric == "probe":
        return f"From it a linear classifier reads the class with accuracy {value:.2f}; guessing gives {floor:.2f}."
    return f"From it a linear regression reads them with R² {value:.2f}; 0 is nothing, 1 is all."


def _background(run: Run) -> Iterator[Finding]:
    target, background = ((run.codes or {}).get(("salient", group)) for group in ("target", "background"))
    if target is None or background is None or not background.energy > PRESENT * target.energy:
        return
    share = 100 * background.energy / target.energy if target.energy else 100.0
    why = f"They are {share:.0f} % as large (squared, on average) as those of the targets; near 0 % is wanted."
    yield Finding("The background still has salient codes.", why, tuple(tries(run, PRESENT_IN_BACKGROUND)))


def tries(run: Run, rules: Sequence[Rule]) -> list[Markup]:
    """Return the first few rules that apply to the run: to fields that its method has, and that can still go that way.

    Where none applies there is still one thing to try: to learn longer, or for methods that do not learn, another width.
    """
    ordered = dict.fromkeys([EPOCHS, *rules] if EPOCHS in rules and still_learning(run) else rules)
    found = (_width(run, verb) if field == "n_salient" else _weight(run, verb, field) for verb, field in ordered)
    chosen = [text for text in found if text][:MOST]
    widths = [rule for rule in rules if rule[1] == "n_salient"]
    last = (_weight(run, verb, field) for verb, field in (EPOCHS, *widths, ("raise", "n_common")))
    return chosen or [text for text in last if text][:1]


def still_learning(run: Run) -> bool:
    """Say whether the error of reconstruction fell in the last quarter of training by a twentieth of all its fall, or more."""
    lines = [values for (_, _, term), (_, values) in terms(run.history or ()).items() if term == "reconstruction"]
    if not lines or len(lines[0]) < 2:
        return False
    values = lines[0]
    return bool(values[3 * (len(values) - 1) // 4] - values[-1] > 0.05 * (values[0] - values[-1]) > 0)


def _weight(run: Run, verb: str, field: str) -> Markup:
    params = run.part("params")
    if field in ("alpha", "gamma") and field in params and params[field] is None:
        return join(
            f"{verb} ", tag("code", field), f", {MEANINGS[field]} (chosen from the data now, ", tag("code", f"{field}_"), ")"
        )
    width = field.startswith("n_")
    value = run.width(field.removeprefix("n_")) if width else number(params, field)
    if value is None or (verb == "lower" and not value > (1 if width else 0)):
        return Markup("")
    if (field == "scale" and not _has_scale(run)) or (verb == "raise" and value >= LARGE.get(field, math.inf)):
        return Markup("")
    still = "; the error was still falling" if (verb, field) == EPOCHS and still_learning(run) else ""
    return join(f"{verb} ", tag("code", field), f", {MEANINGS[field]} ({value:g} now{still})")


def _has_scale(run: Run) -> bool:
    """Say whether the field counts: other likelihoods learn their spread, as that of vectors does, or have none."""
    likelihood = run.part("params").get("likelihood")
    return likelihood in ("gaussian", "laplace") or (likelihood == "auto" and run.has_images)


def _width(run: Run, verb: str) -> Markup:
    """Return advice on the salient width, where the test found another one than the run has."""
    estimate, width = run.contrast.n_salient if run.contrast else 0, run.width("salient")
    if width is None or not estimate or (estimate >= width if verb == "lower" else estimate <= width):
        return Markup("")
    return join(
        f"{verb} ",
        tag("code", "n_salient"),
        f", its number of dimensions ({width} now; the test above found {estimate}, which ",
        tag("code", 'n_salient="auto"'),
        " takes)",
    )
