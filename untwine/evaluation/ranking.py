r"""A rank for runs without labels: one number from scores that need none, to compare methods and settings on the same data.

For contrastive methods

    value = explained (valid + private + quiet) / 3,

each term in [0, 1], higher is better:

- *valid*: $(removed + added) / 2$ of `counterfactual`: how much of the step between the groups the salient block takes.
- *private*: 1 - `leakage_group` of the common block, by the strong reader: the common block does not say which group it is.
- *quiet*: 1 - `background_change`: the salient block of a background is empty.
- *explained*: the share of the variance that is decoded: what is not decoded is in neither block.

Where `counterfactual_gap` is near 0 nothing told the groups apart and validity says nothing: there is no value. Minimality is
left out: an empty salient block is the most minimal, and on all data sets it correlated negatively with labelled scores.

For class-supervised methods, whose labels are given anyway, value = explained (class + content) / 2: how much of the class is
predicted from the block that should have it, from chance to perfect, and 1 minus the same of the other block (`reading`).

How well this agrees with labels and ground-truth factors is measured by `python tools/rank_agreement.py`; see docs/results.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

EXPLAINED = "explained"
GAP = 0.1  # of mean probabilities: below it the network that judges counterparts cannot tell real groups apart
GOOD, BAD = 0.7, 0.3  # all terms at least GOOD where blocks are disentangled, one below BAD where they are not
METRICS = ("counterfactual", "leakage", "background_quiet", "explained")
CLASS_METRICS = ("reading", "explained")

MEANINGS = {
    "valid": "counterparts without the salient block pass for background, backgrounds with one for targets",
    "private": "the common block does not say which group a sample is of",
    "quiet": "the salient block of backgrounds is empty",
    "explained": "what varies is in the decoded samples",
    "class": "the class is predicted from the class block",
    "content": "the class is not predicted from the content block",
}


@dataclass(frozen=True)
class Ranked:
    """The value of a run without labels, in [0, 1], higher is better, and the terms that it is made of."""

    value: float
    terms: Mapping[str, float]


def label_free(scores: Mapping[str, Any]) -> Ranked | None:
    """Return the value of a run from its scores by name, floats or `Score`; None where one that it needs is missing.

    Examples
    --------
    >>> perfect = {"counterfactual_removed.x": 1.0, "counterfactual_added.x": 1.0, "counterfactual_gap.x": 0.9}
    >>> perfect |= {"leakage_group.common": 0.0, "background_change.x": 0.0, "explained.x": 1.0}
    >>> label_free(perfect).value
    1.0
    """
    values = {name: _number(score) for name, score in scores.items()}
    for terms_of in (_contrastive, _class_supervised):
        terms = terms_of(lambda name: values.get(name, math.nan))
        if terms and all(math.isfinite(term) for term in terms.values()):
            clipped = {name: min(max(term, 0.0), 1.0) for name, term in terms.items()}
            return Ranked(combine(clipped), clipped)
    return None


def combine(terms: Mapping[str, float]) -> float:
    """Return the share that is explained times how far the blocks are apart."""
    return terms[EXPLAINED] * apart(terms)


def apart(terms: Mapping[str, float]) -> float:
    """Return the mean of all terms but the share that is explained: how far the blocks are apart."""
    rest = [term for name, term in terms.items() if name != EXPLAINED]
    return sum(rest) / len(rest)


def separation(terms: Mapping[str, float]) -> str:
    """Return disentangled, partly or not, by the terms without what is explained."""
    rest = [term for name, term in terms.items() if name != EXPLAINED]
    return "disentangled" if min(rest) >= GOOD else "not" if min(rest) < BAD else "partly"


def _contrastive(score: Callable[[str], float]) -> dict[str, float]:
    if score("counterfactual_gap.x") < GAP:
        return {}
    return {
        "valid": (score("counterfactual_removed.x") + score("counterfactual_added.x")) / 2,
        "private": 1 - score("leakage_group.common"),
        "quiet": 1 - score("background_change.x"),
        EXPLAINED: score("explained.x"),
    }


def _class_supervised(score: Callable[[str], float]) -> dict[str, float]:
    chance = score("class_chance.x")
    if not chance < 1:
        return {}
    return {
        "class": (score("class_read.class") - chance) / (1 - chance),
        "content": 1 - max(0.0, score("class_read.content") - chance) / (1 - chance),
        EXPLAINED: score("explained.x"),
    }


def _number(score: Any) -> float:
    value = getattr(score, "value", score)
    return float(value) if value is not None else math.nan
