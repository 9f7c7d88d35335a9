"""What to try when a block has collapsed or leaks: the evidence, and the options of the method to change."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from untwine.report.causes import Cause, find_causes
from untwine.report.contrast import is_salient
from untwine.report.markup import Markup, join, tag
from untwine.report.rules import (
    COMMON_COLLAPSED,
    COMMON_LEAKS,
    EPOCHS,
    LARGE,
    MEANINGS,
    PRESENT_IN_BACKGROUND,
    SALIENT_COLLAPSED,
    SALIENT_LEAKS,
    WEAK,
    Rule,
)
from untwine.report.sections.reproduce import fit_again, show_data
from untwine.report.verdict import (
    ENCODES,
    LEAKS,
    THINGS,
    chance_level,
    common_collapsed,
    finite_scores,
    salient_collapsed,
    verdict,
)
from untwine.runs.history import terms
from untwine.runs.reading import Run

PRESENT = 0.25  # of the targets' salient energy: a background with more has salient codes
MOST = 4  # suggestions
BEHIND_A_COLLAPSE = ("under-trained", "poor reconstruction", "mislabelled")  # the others may follow from a collapse
FAILED, COULD_BE_BETTER = "What failed, and what to try", "What could still be better, and what to try"
STEP = 3  # times: by how much an option is raised or lowered at a time

NOTHING = (
    "The contrast test above found no direction in which targets vary and the background does not, and no option changes that. "
    "More samples might, or a background that shares more with the targets: look at what both groups are."
)


@dataclass(frozen=True)
class Finding:
    """What failed, the numbers that show it, and what to try."""

    failure: str
    evidence: str
    suggestions: tuple[str, ...] = ()


def advice(run: Run) -> Markup:
    """Return what failed in a run and what to try, as a list; nothing where nothing did.

    Where the scores with labels are good, what is listed comes from those without labels, and does not contradict them.
    """
    items = []
    for finding in findings(run):
        to_try = join(" Try:", tag("ul", *(tag("li", text) for text in finding.suggestions))) if finding.suggestions else ""
        items.append(tag("li", tag("b", finding.failure), f" {finding.evidence}", to_try))
    heading = COULD_BE_BETTER if verdict(run).status == "disentangled" else FAILED
    return join(tag("h4", heading), tag("ul", *items)) if items else Markup("")


def findings(run: Run) -> Iterator[Finding]:
    """Yield what failed in a run with a common and a salient block; consequences of a collapse are left out."""
    if not run.is_contrastive:
        return
    if salient_collapsed(run):
        yield _salient_collapsed(run)
    if common_collapsed(run):
        yield _common_collapsed(run)
    if salient_collapsed(run) or common_collapsed(run):
        if run.contrast is None or is_salient(run.contrast):
            held = () if common_collapsed(run) else ("group readable",)  # by a common block that took everything
            yield from causes(run, (*BEHIND_A_COLLAPSE, *held))
        return
    nothing = run.contrast is not None and not is_salient(run.contrast)
    if nothing:
        yield Finding("There may be nothing to disentangle.", NOTHING, (look_at_data(run),))
    yield from _leaks(run)
    if not nothing:  # two groups that vary alike have codes alike, under any setting
        yield from _background(run)
        yield from causes(run)


def causes(run: Run, among: Collection[str] | None = None) -> Iterator[Finding]:
    """Yield the known causes that scores without labels show, each with the command to try next; of those `among` names."""
    for cause in find_causes(run.scores or {}, improving=still_improving(run)):
        if among is not None and cause.name not in among:
            continue
        command = next_try(run, cause)
        yield Finding(cause.failure, cause.evidence, (command,) if command else ())


def next_try(run: Run, cause: Cause) -> Markup:
    """Return the command that tries the first option against a cause that the method has and that can still go that way."""
    for verb, name in cause.rules:
        value = _number(run.table("params").get(name)) if not name.startswith("n_") else run.width(name.removeprefix("n_"))
        if value is None or not _option(run, verb, name):
            continue
        times = STEP if verb == "raise" else 1 / STEP
        new = (
            max(1, round(value * times))
            if isinstance(run.table("params").get(name), int) or name.startswith("n_")
            else value * times
        )
        if new != value:
            return tag("pre", tag("code", fit_again(run, {name: new})))
    return tag("pre", tag("code", cause.command.format(run=shlex.quote(str(run.path))))) if cause.command else Markup("")


def look_at_data(run: Run) -> Markup:
    """Return the command that shows the data, where no setting of the method could help."""
    return tag("pre", tag("code", show_data(run)))


def _salient_collapsed(run: Run) -> Finding:
    codes = (run.codes or {})["salient", "target"]
    failure = "The salient block has collapsed."
    evidence = (
        f"Its codes are nearly constant over the targets: their variance is {_largest(codes.variance)} in each of "
        f"{len(codes.variance)} dimensions, and they account for {100 * codes.effect:.1f} % of the variance of the targets."
    )
    if run.contrast is not None and not is_salient(run.contrast):
        right = "The contrast test above found nothing salient, so an empty block may be right."
        return Finding(failure, f"{evidence} {right}", (look_at_data(run),))
    more = () if run.contrast is not None else ("test with un.contrast_test(samples) whether there is anything salient",)
    return Finding(failure, evidence, (*suggestions(run, SALIENT_COLLAPSED), *more))


def _common_collapsed(run: Run) -> Finding:
    codes = (run.codes or {})["common", "background"]
    evidence = (
        "Its codes are nearly constant over the background, though the background varies: their variance is "
        f"{_largest(codes.variance)} in each of {len(codes.variance)} dimensions, and they account for "
        f"{100 * codes.effect:.1f} % of the variance of the background. That it leaks nothing is then no evidence."
    )
    return Finding("The common block has collapsed.", evidence, tuple(suggestions(run, COMMON_COLLAPSED)))


def _largest(variances: Sequence[float]) -> str:
    largest = max(variances, default=0.0)
    return f"at most {largest:.4f}" if largest >= 0.0001 else "less than 0.0001"


def _leaks(run: Run) -> Iterator[Finding]:
    """Yield which block encodes what only the other one should, and whether the salient block encodes what it should."""
    for metric, thing in {**THINGS, "factors": "the factors that both groups share"}.items():
        scores, chance = finite_scores(run, metric), chance_level(run, metric) or 0.0
        if not {"common", "salient"} <= set(scores) or chance >= 1:
            continue
        share = {block: (score.value - chance) / (1 - chance) for block, score in scores.items()}
        evidence = {block: _prediction(metric, score.value, chance) for block, score in scores.items()}
        other, rules = ("salient", SALIENT_LEAKS) if metric == "factors" else ("common", COMMON_LEAKS)
        if share[other] > LEAKS:
            yield Finding(f"The {other} block leaks {thing}.", evidence[other], tuple(suggestions(run, rules)))
        if other == "common" and share["salient"] < ENCODES:
            failure = f"The salient block encodes little of {thing}."
            yield Finding(failure, evidence["salient"], tuple(suggestions(run, WEAK)))


def _prediction(metric: str, value: float, chance: float) -> str:
    if metric == "probe":
        return f"A linear probe predicts the class from it with accuracy {value:.2f}; the chance level is {chance:.2f}."
    return f"A linear regression predicts them from it with R² {value:.2f}; 0 is the constant predictor, 1 is perfect."


def _background(run: Run) -> Iterator[Finding]:
    target, background = ((run.codes or {}).get(("salient", group)) for group in ("target", "background"))
    if target is None or background is None or not background.energy > PRESENT * target.energy:
        return
    share = 100 * background.energy / target.energy if target.energy else 100.0
    evidence = f"Their mean squared size is {share:.0f} % of that of the targets; it should be near 0 %."
    yield Finding("The background still has salient codes.", evidence, tuple(suggestions(run, PRESENT_IN_BACKGROUND)))


def suggestions(run: Run, rules: Sequence[Rule]) -> list[Markup]:
    """Return the first few rules that apply to the run: to fields that its method has, and that can still go that way.

    Where none applies there is still one suggestion: to train longer or, for methods in closed form, another width.
    """
    ordered = dict.fromkeys([EPOCHS, *rules] if EPOCHS in rules and still_improving(run) else rules)
    texts = (_width(run, verb) if name == "n_salient" else _option(run, verb, name) for verb, name in ordered)
    chosen = [text for text in texts if text][:MOST]
    widths = [rule for rule in rules if rule[1] == "n_salient"]
    last = (_option(run, verb, name) for verb, name in (EPOCHS, *widths, ("raise", "n_common")))
    return chosen or [text for text in last if text][:1]


def still_improving(run: Run) -> bool:
    """Whether the reconstruction error fell in the last quarter of training by a twentieth of all its fall, or more."""
    curves = [values for (_, _, term), (_, values) in terms(run.history or ()).items() if term == "reconstruction"]
    if not curves or len(curves[0]) < 2:
        return False
    values = curves[0]
    return bool(values[3 * (len(values) - 1) // 4] - values[-1] > 0.05 * (values[0] - values[-1]) > 0)


def _option(run: Run, verb: str, name: str) -> Markup:
    params = {**run.table("params"), **run.table("found")}
    if name in ("alpha", "gamma") and name in params and params[name] is None:
        return join(
            f"{verb} ", tag("code", name), f", {MEANINGS[name]} (chosen from the data now, ", tag("code", f"{name}_"), ")"
        )
    is_width = name.startswith("n_")
    value = run.width(name.removeprefix("n_")) if is_width else _number(params.get(name))
    if value is None or (verb == "lower" and not value > (1 if is_width else 0)):
        return Markup("")
    if (name == "scale" and not _uses_scale(run)) or (verb == "raise" and value >= LARGE.get(name, math.inf)):
        return Markup("")
    still = "; the error was still falling" if (verb, name) == EPOCHS and still_improving(run) else ""
    return join(f"{verb} ", tag("code", name), f", {MEANINGS[name]} ({value:g} now{still})")


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def _uses_scale(run: Run) -> bool:
    """Whether the likelihood has the field `scale`: others learn theirs, as that of vectors does, or have none."""
    likelihood = run.table("params").get("likelihood")
    return likelihood in ("gaussian", "laplace") or (likelihood == "auto" and run.has_images)


def _width(run: Run, verb: str) -> Markup:
    """Return the suggestion of another salient width, where the contrast test estimated another than the run has."""
    estimate, width = run.contrast.n_salient if run.contrast else 0, run.width("salient")
    if width is None or not estimate or (estimate >= width if verb == "lower" else estimate <= width):
        return Markup("")
    return join(
        f"{verb} ",
        tag("code", "n_salient"),
        f", its number of dimensions ({width} now; the contrast test estimated {estimate}, which ",
        tag("code", 'n_salient="auto"'),
        " uses)",
    )
