"""Encode once, score every block: what should be there and what should not.

The metrics are imported when something is scored: there are many, and `import untwine` is to be quick.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from untwine.runs.scores import Score
from untwine.samples import Samples
from untwine.training.progress import bar

if TYPE_CHECKING:
    from untwine.metrics.encoded import Encoded, Fitted


def evaluate(
    method: Fitted,
    samples: Samples,
    metrics: Sequence[str] | None = None,
    seeds: int = 5,
    progress: bool = False,
    train: Samples | None = None,
) -> dict[str, Score]:
    """Return the scores of every block of a fitted method, by name: "probe.salient", "probe.common", and so on.

    Labels and factors are scored on target rows where they are known (all rows are targets where there are no groups);
    classes of fewer than 5 rows are left out. A factor named "salient ..." is a truth of the salient part, scored as
    "factors_salient.<block>"; every other factor is one of the common part, scored as "factors.<block>". Regressions do the
    same. Scores of single latents (sap, mig and so on) are about the factors that a block should hold. To sap whole numbers of
    at most 20 values are classes and all others lie on a scale; to the others a factor of at most 100 values has classes.

    Parameters
    ----------
    metrics
        Names from `METRICS`; all that are quick and that the samples allow where not given.
    seeds
        How many random halves the intervals of clustering, w2 and others rest on; those of probe, factors and others rest on
        folds.
    progress
        Whether to show a bar.
    train
        Other samples with the same labels and factors. Where given, the classifiers of probe and per_class, the regressions and
        the judge of swaps learn from them, and are scored on all of `samples`. Otherwise the first three use 5 folds of
        `samples`, and the judge learns from one half of them and sees the other half.
    """
    from untwine.evaluation.named_metrics import BY_DEFAULT, METRICS, VERSIONS
    from untwine.metrics.encoded import Encoded

    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names; got the single string {metrics!r}; wrap it in a list.")
    unknown = [name for name in metrics or () if name not in METRICS]
    if unknown:
        raise ValueError(f"metrics must be names among {', '.join(METRICS)}; got {unknown[0]!r}; choose from those.")
    if seeds < 2:
        raise ValueError(f"seeds expected at least 2, to make an interval of; got {seeds}.")
    data = Encoded(method, samples, method.encode(samples.x), seeds, _other(method, samples, seeds, train))
    for name in metrics or ():
        if lack := data.lacks(name):
            raise ValueError(f"the metric {name!r} expected {lack}, or leave {name!r} out.")
    scores: dict[str, Score] = {}
    wanted = BY_DEFAULT if metrics is None else metrics
    names = [name for name in METRICS if name in wanted and not data.lacks(name)]
    with bar("scoring", len(names), progress) as advance:
        for done, name in enumerate(names):
            began = time.perf_counter()
            for found in METRICS[name](data):
                seconds, began = time.perf_counter() - began, time.perf_counter()
                low, high = found.interval
                scores[found.name] = Score(
                    found.name, found.value, low, high, found.n, seconds, found.direction, VERSIONS[name]
                )
            advance(done + 1, partial(str, name))
    return scores


def _other(method: Fitted, samples: Samples, seeds: int, train: Samples | None) -> Encoded | None:
    """Return the samples to learn from with their codes, if there are any, or say why they do not fit the scored ones."""
    from untwine.metrics.encoded import Encoded

    if train is None:
        return None
    for name in ("label_names", "factor_names"):
        if getattr(train, name) != getattr(samples, name):
            raise ValueError(
                f"train expected the {name} of the scored samples, {getattr(samples, name)}; got {getattr(train, name)}; "
                "take both from one data set."
            )
    return Encoded(method, train, method.encode(train.x), seeds)
