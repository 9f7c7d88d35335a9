"""Say in words what came apart, and say it plainly when it did not."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from untwine.runs.measured import Codes
from untwine.runs.reading import Run, Score, split

# Codes that are not used vary far less than the 1 of their prior, and holding them still changes nothing that is decoded.
EMPTY_VARIANCE, EMPTY_EFFECT = 0.05, 0.002

# Shares of the way from guessing to perfect: at least CARRIES to be in a part, at most LEAKS to be out of it.
CARRIES, LEAKS = 0.5, 0.2

NOUNS = {"probe": "label probe", "factors": "R² of the true factors", "factors_salient": "R² of the salient factors"}
THINGS = {"probe": "the class", "factors": "the true factors", "factors_salient": "the salient factors"}
TITLES = {
    "apart": "The parts came apart",
    "partly": "The parts came apart only partly",
    "not": "The parts did not come apart",
    "one": "One part: there is nothing to take apart",
    "unknown": "No score says whether the parts came apart",
}
MARKS = {"apart": "✓", "partly": "≈", "not": "✗", "one": "•", "unknown": "?"}


EMPTY = "The salient part is empty: nothing that is decoded comes from it, whatever a classifier may read from traces in it."
SILENT = "The common part is silent: nothing that is decoded comes from it, so what both groups share is in no part."
NOTHING = "No labels and no true factors were scored, so the images below are all there is to judge by."


@dataclass(frozen=True)
class Verdict:
    """What a run's scores say: one of apart, partly, not, one, unknown; and the reasons as sentences."""

    status: str
    reasons: tuple[str, ...]

    @property
    def title(self) -> str:
        """The status in words."""
        return TITLES[self.status]

    @property
    def mark(self) -> str:
        """The status as a sign."""
        return MARKS[self.status]


def verdict(run: Run) -> Verdict:
    """Judge a run by its probe and its factors: what should hold them must, and what should not must not."""
    if run.scores is None:
        return Verdict("unknown", (f"This run has no scores yet: run untwine evaluate {run.path}.",))
    if collapsed(run):
        return Verdict("not", (EMPTY,))
    if silent(run):
        return Verdict("not", (SILENT,))
    judged = _judged(run)
    if not judged:
        return Verdict("unknown", (NOTHING,))
    # The worst counts: a salient part that holds nothing at all keeps the other factors out as well.
    status = next(status for status in ("not", "partly", "apart", "one", "unknown") if status in {found for found, _ in judged})
    return Verdict(status, tuple(reason for _, reason in judged))


def collapsed(run: Run) -> bool:
    """Say whether the salient part is empty: its codes of targets hardly vary, and what is decoded not with them."""
    return _unused((run.codes or {}).get(("salient", "target")))


def silent(run: Run) -> bool:
    """Say whether the common part is empty, though there is something for it to hold: the background varies."""
    codes = (run.codes or {}).get(("common", "background"))
    return run.is_contrastive and codes is not None and codes.varies and _unused(codes)


def _unused(codes: Codes | None) -> bool:
    return codes is not None and max(codes.variance, default=0.0) <= EMPTY_VARIANCE and codes.effect <= EMPTY_EFFECT


def known(run: Run, metric: str) -> dict[str, Score]:
    """Return the finite scores of one metric by block."""
    named = {split(name): score for name, score in (run.scores or {}).items()}
    blocks = {block: score for (which, block), score in named.items() if which == metric and block in run.blocks}
    return {block: score for block, score in blocks.items() if number(score, "value") is not None}


def number(score: Score, key: str) -> float | None:
    """Return a finite number of a score, or None."""
    value: Any = score.get(key)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def chance(run: Run, metric: str) -> float | None:
    """Return what guessing would score: 0 for factors, the share of the largest class for the probe, None if unknown."""
    if metric != "probe":
        return 0.0
    gallery = run.gallery or {}
    if "plane_labels" not in gallery:
        return None
    labels = gallery["plane_labels"].ravel()
    groups = gallery.get("plane_groups", np.ones(len(labels))).ravel()
    sizes = np.unique(labels[(labels >= 0) & (groups != 0)], return_counts=True)[1]
    return float(sizes.max() / sizes.sum()) if len(sizes) > 1 else None


def _judged(run: Run) -> list[tuple[str, str]]:
    return [_judge(metric, scores, chance(run, metric)) for metric in NOUNS if (scores := known(run, metric))]


def _judge(metric: str, scores: Mapping[str, Score], floor: float | None) -> tuple[str, str]:
    if len(scores) == 1:
        return "one", f"The whole code, {_numbers(metric, scores, floor)}."
    wanted = {block: score for block, score in scores.items() if score.get("direction") == "higher"}
    unwanted = {block: score for block, score in scores.items() if score.get("direction") == "lower"}
    if not wanted or not unwanted:
        return "unknown", f"{_numbers(metric, scores, floor)}; the scores do not say which part should hold {THINGS[metric]}."
    best = max(wanted, key=lambda block: float(wanted[block]["value"]))
    leak = max(unwanted, key=lambda block: float(unwanted[block]["value"]))
    status, words = _compare(wanted[best], unwanted[leak], floor or 0.0)
    sentence = words.format(thing=THINGS[metric], best=best, leak=leak)
    return status, f"{_numbers(metric, {best: scores[best], leak: scores[leak]}, floor)}: {sentence}."


def _compare(best: Score, leak: Score, floor: float) -> tuple[str, str]:
    value, other = float(best["value"]), float(leak["value"])
    low, high = number(best, "low"), number(leak, "high")
    if (value if low is None else low) <= (other if high is None else high):
        if value > other:
            return "not", "the {best} part may tell more about {thing} than the {leak} part does, but these rows do not show it"
        return "not", "the {best} part tells no more about {thing} than the {leak} part does"
    share, rest = ((number - floor) / (1 - floor) for number in (value, other))
    if share < CARRIES:
        return "partly", "the {best} part tells more about {thing} than the {leak} part does, but not much"
    if rest > LEAKS:
        return "partly", "{thing} can be read from the {best} part, but the {leak} part still leaks it"
    return "apart", "{thing} can be read from the {best} part and hardly from the {leak} part"


def _numbers(metric: str, scores: Mapping[str, Score], floor: float | None) -> str:
    (first, score), *others = scores.items()
    text = f"{first if len(scores) == 1 else _title(first) + ' part'}: {NOUNS[metric]} {float(score['value']):.2f}"
    text += "".join(f", {block} part: {float(other['value']):.2f}" for block, other in others)
    return f"{text} (chance {floor:.2f})" if metric == "probe" and floor is not None else text


def _title(block: str) -> str:
    return block[:1].upper() + block[1:]
