"""Say in words whether the blocks of a run are disentangled, and say it plainly when they are not."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from untwine.evaluation.ranking import EXPLAINED, MEANINGS, Ranked, label_free, separation
from untwine.runs.diagnostics import Codes
from untwine.runs.reading import Run, split
from untwine.runs.scores import Score

# Codes that are not used vary far less than the 1 of their prior, and replacing them by their mean changes nothing decoded.
COLLAPSED_VARIANCE, COLLAPSED_EFFECT = 0.05, 0.002

# Shares of the way from the chance level to a perfect score: at least ENCODES to be in a block, at most LEAKS to be out of it.
ENCODES, LEAKS = 0.5, 0.2

NOUNS = {
    "probe": "linear-probe accuracy",
    "factors": "R² of the ground-truth factors",
    "factors_salient": "R² of the salient factors",
}
THINGS = {"probe": "the class", "factors": "the ground-truth factors", "factors_salient": "the salient factors"}
TITLES = {
    "disentangled": "The blocks are disentangled",
    "partly": "The blocks are partly disentangled",
    "not": "The blocks are not disentangled",
    "single": "A single block: there is nothing to disentangle",
    "unknown": "No score shows whether the blocks are disentangled",
}
MARKS = {"disentangled": "✓", "partly": "≈", "not": "✗", "single": "•", "unknown": "?"}


SALIENT_COLLAPSED = (
    "The salient block has collapsed: the decoder does not use it, whatever a classifier may predict from traces in it."
)
COMMON_COLLAPSED = "The common block has collapsed: the decoder does not use it, so what both groups share is in neither block."
OTHER_SCORES = "Neither probe nor factors was scored, on which this judgement rests: see the scores of the other metrics below."
OF_GROUND_TRUTH = (  # what the names of other scores of labels or factors start with
    *(
        "probe_",
        "clustering",
        "silhouette",
        "ari",
        "nmi",
        "per_class",
        "per_factor",
        "leakage",
        "regression",
        "sap",
        "mig",
        "dci",
    ),
    *("modularity", "explicitness", "z_diff", "factor_vae", "attributes", "class_read", "swap"),
)
UNSCORED = "No labels and no ground-truth factors were scored, so the images below are all there is to judge by."


@dataclass(frozen=True)
class Verdict:
    """The judgement of a run by its scores: one of disentangled, partly, not, single, unknown; and the reasons as sentences."""

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
    """Judge a run by its probe and its factors: blocks that should encode them must, and the others must not."""
    if run.scores is None:
        return Verdict("unknown", (f"This run has no scores yet: run untwine evaluate {shlex.quote(str(run.path))}.",))
    if salient_collapsed(run):
        return Verdict("not", (SALIENT_COLLAPSED,))
    if common_collapsed(run):
        return Verdict("not", (COMMON_COLLAPSED,))
    judgements = [
        _judge(metric, scores, chance_level(run, metric)) for metric in NOUNS if (scores := finite_scores(run, metric))
    ]
    if not judgements and (ranked := label_free(run.scores)) is not None:
        return _without_labels(ranked)
    if not judgements:
        metrics = [split(name)[0] for name in run.scores]
        other = any(metric.startswith(OF_GROUND_TRUTH) and metric != "leakage_group" for metric in metrics)
        return Verdict("unknown", (OTHER_SCORES if other else UNSCORED,))
    # The worst counts: a salient block that encodes nothing at all keeps the other factors out as well.
    statuses = {status for status, _ in judgements}
    status = next(status for status in ("not", "partly", "disentangled", "single", "unknown") if status in statuses)
    return Verdict(status, tuple(reason for _, reason in judgements))


def _without_labels(ranked: Ranked) -> Verdict:
    """Judge by the scores that need no labels: every term but what is explained must be high, and none may be low."""
    terms = {name: term for name, term in ranked.terms.items() if name != EXPLAINED}
    numbers = ", ".join(f"{name} {term:.2f} ({MEANINGS[name]})" for name, term in terms.items())
    return Verdict(separation(ranked.terms), (f"Judged without labels, from 0 to 1: {numbers}.",))


def salient_collapsed(run: Run) -> bool:
    """Whether the salient block has collapsed: its codes of targets hardly vary, and have no effect on what is decoded."""
    return _unused((run.codes or {}).get(("salient", "target")))


def common_collapsed(run: Run) -> bool:
    """Whether the common block has collapsed though there is something for it to encode: the background varies."""
    codes = (run.codes or {}).get(("common", "background"))
    return run.is_contrastive and codes is not None and codes.varies and _unused(codes)


def _unused(codes: Codes | None) -> bool:
    return codes is not None and max(codes.variance, default=0.0) <= COLLAPSED_VARIANCE and codes.effect <= COLLAPSED_EFFECT


def finite_scores(run: Run, metric: str) -> dict[str, Score]:
    """Return the finite scores of one metric by block."""
    named = {split(name): score for name, score in (run.scores or {}).items()}
    blocks = {block: score for (which, block), score in named.items() if which == metric and block in run.blocks}
    return {block: score for block, score in blocks.items() if math.isfinite(score.value)}


def chance_level(run: Run, metric: str) -> float | None:
    """Return the score of a constant predictor: 0 for factors, the share of the largest class for the probe; or None."""
    if metric != "probe":
        return 0.0
    planes = run.gallery.planes
    if planes is None or planes.labels is None:
        return None
    labels = planes.labels.ravel()
    groups = (np.ones(len(labels)) if planes.groups is None else planes.groups).ravel()
    sizes = np.unique(labels[(labels >= 0) & (groups != 0)], return_counts=True)[1]
    return float(sizes.max() / sizes.sum()) if len(sizes) > 1 else None


def _judge(metric: str, scores: Mapping[str, Score], chance: float | None) -> tuple[str, str]:
    if len(scores) == 1:
        return "single", f"All codes together, {_numbers(metric, scores, chance)}."
    wanted = {block: score for block, score in scores.items() if score.direction == "higher"}
    unwanted = {block: score for block, score in scores.items() if score.direction == "lower"}
    if not wanted or not unwanted:
        numbers = _numbers(metric, scores, chance)
        return "unknown", f"{numbers}; the scores do not say which block should encode {THINGS[metric]}."
    best = max(wanted, key=lambda block: wanted[block].value)
    leak = max(unwanted, key=lambda block: unwanted[block].value)
    status, words = _compare(wanted[best], unwanted[leak], chance or 0.0)
    sentence = words.format(thing=THINGS[metric], best=best, leak=leak)
    return status, f"{_numbers(metric, {best: scores[best], leak: scores[leak]}, chance)}: {sentence}."


def _compare(best: Score, leak: Score, chance: float) -> tuple[str, str]:
    low, high = (bound if math.isfinite(bound) else score.value for bound, score in ((best.low, best), (leak.high, leak)))
    if low <= high:
        if best.value > leak.value:
            return "not", "the {best} block may encode {thing} better than the {leak} block, but their intervals overlap"
        return "not", "the {best} block encodes {thing} no better than the {leak} block"
    share, rest = ((value - chance) / (1 - chance) for value in (best.value, leak.value))
    if share < ENCODES:
        return "partly", "the {best} block encodes {thing} better than the {leak} block, but not well"
    if rest > LEAKS:
        return "partly", "the {best} block encodes {thing}, but the {leak} block still leaks"
    return "disentangled", "the {best} block encodes {thing}, and the {leak} block hardly does"


def _numbers(metric: str, scores: Mapping[str, Score], chance: float | None) -> str:
    (first, score), *others = scores.items()
    text = f"{first if len(scores) == 1 else _title(first) + ' block'}: {NOUNS[metric]} {score.value:.2f}"
    text += "".join(f", {block} block: {other.value:.2f}" for block, other in others)
    return f"{text} (chance level {chance:.2f})" if metric == "probe" and chance is not None else text


def _title(block: str) -> str:
    return block[:1].upper() + block[1:]
