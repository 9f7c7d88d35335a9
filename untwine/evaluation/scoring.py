"""Score every block of a fitted method: what it should encode and what it should not.

The metrics are imported when something is scored, so that `import untwine` is quick.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from untwine.method.feature_order import arrange_samples
from untwine.registry.checks import check_int, listed
from untwine.runs.scores import Score
from untwine.samples import Samples
from untwine.training.progress import bar

if TYPE_CHECKING:
    from untwine.metrics.encoded import Encoded, Fitted
    from untwine.metrics.metric import Measurement, Metric

    AnyMetric = str | Metric | Callable[[Encoded], Iterable[Measurement]]

__all__ = ["Score", "evaluate"]


def evaluate(
    method: Fitted,
    samples: Samples | ArrayLike,
    metrics: Sequence[AnyMetric] | None = None,
    seeds: int = 5,
    progress: bool = False,
    train: Samples | None = None,
    skip_inapplicable: bool = False,
) -> dict[str, Score]:
    """Return the scores of every block of a fitted method, by name: "probe.salient", "probe.common", and so on.

    Labels and factors are scored on target samples where they are known (all samples are targets where there are no groups);
    classes of fewer than 5 samples are left out. A factor named "salient ..." belongs to the salient block, and is scored as
    "factors_salient.<block>"; every other factor belongs to the common block, and is scored as "factors.<block>". Regressions
    do the same. Scores of single latents (sap, mig and so on) are about the factors that a block should encode. For sap,
    integer-valued factors of at most 20 values are classes and all others are continuous; for the other scores a factor of at
    most 100 values is discrete.

    Parameters
    ----------
    method
        A fitted method.
    samples
        What is scored: `Samples`; or an array, sparse matrix, data frame or AnnData, of which nothing else is known.
    metrics
        Names from the catalogue (`untwine list metrics`), `untwine.metrics.Metric` objects, or functions. By default all that
        apply and are quick. Options are written behind a name, "z_diff(pairs=256)", or set by `Metric.with_options(pairs=256)`;
        those that do not have their default value are in the names of the scores: "z_diff(pairs=256).z". A function is given
        the encoded samples (`untwine.metrics.Encoded`: `latents`, `samples`, `method`, ...) and returns or yields
        `untwine.metrics.Measurement("<score>.<block>", value, (low, high), n)`.
    seeds
        How many random halves the intervals of clustering, w2 and others rest on; those of probe, factors and others rest on
        folds.
    progress
        Whether to show a progress bar.
    train
        Other samples with the same labels and factors. Where given, the classifiers of probe and per_class, the regressions
        (those of factors too) and the networks of swap are trained on them, and tested on all of `samples`. Otherwise the first
        three use 5 folds of `samples`, and the networks of swap are trained on one half of them and tested on the other half.
        Where samples have sources, no source is in two folds or halves, and none of the targets' may be in both `train` and
        `samples`.
    skip_inapplicable
        Whether to skip a metric whose requirements the method or the samples do not meet; otherwise it is refused.
    """
    from untwine.metrics.encoded import Encoded, encode
    from untwine.metrics.options import changed

    chosen = find_metrics(metrics)
    check_int("seeds", seeds, 2)
    samples = arrange_samples(samples if isinstance(samples, Samples) else Samples(samples), method)  # type: ignore[arg-type]
    if train is not None:
        train = arrange_samples(train, method)
        _check_train(samples, train)
    others = None if train is None else Encoded(method, train, encode(method, train), seeds)
    data = Encoded(method, samples, encode(method, samples), seeds, others)
    missing = {metric.spelling: sentence for metric in chosen if (sentence := metric.missing(data))}
    if missing and metrics is not None and not skip_inapplicable:
        raise ValueError(next(iter(missing.values())))
    applicable = [metric for metric in chosen if metric.spelling not in missing]
    scores: dict[str, Score] = {}
    with bar("scoring", len(applicable), progress) as advance:
        for done, metric in enumerate(applicable):
            began = time.perf_counter()
            for one in metric.measure(data):
                seconds, began = time.perf_counter() - began, time.perf_counter()
                if one.name in scores:
                    raise ValueError(
                        f"scores must have different names; got {one.name!r} again from the metric {metric.name!r}; rename one."
                    )
                value, low, high = map(float, (one.value, *one.interval))  # JSON has no numbers of numpy
                rest = one.direction or "info", metric.version, changed(metric.options)
                scores[one.name] = Score(one.name, value, low, high, int(one.n), seconds, *rest)
            advance(done + 1, partial(str, metric.spelling))
    return scores


def find_metrics(metrics: Sequence[AnyMetric] | None) -> list[Metric]:
    """Return the metrics in the order of their scores: those of the catalogue in its order, then others as they are given."""
    from untwine.evaluation.registry import METRICS

    if metrics is None:
        return [metric for metric in METRICS.values() if metric.default]
    if isinstance(metrics, str):
        raise TypeError(f"metrics must be a list of names; got the single string {metrics!r}; wrap it in a list.")
    order = {name: i for i, name in enumerate(METRICS)}
    chosen: list[Metric] = []
    for metric in map(_metric, metrics):
        if metric not in chosen:
            chosen.append(metric)
    chosen.sort(key=lambda metric: order[metric.name] if _is_ours(metric) else len(order))
    names = [metric.spelling for metric in chosen]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"metrics must have different names; got two named {repeated[0]!r}; rename one.")
    return chosen


def _is_ours(metric: Metric) -> bool:
    """Return whether a metric is that of the catalogue, whatever its options."""
    from untwine.evaluation.registry import METRICS

    own = METRICS.get(metric.name)
    return own is not None and replace(own, options=metric.options) == metric


def _metric(metric: AnyMetric) -> Metric:
    from untwine.evaluation.registry import find_metric
    from untwine.metrics.metric import Metric

    if isinstance(metric, str):
        return find_metric(metric)
    if isinstance(metric, Metric):
        return metric
    if not callable(metric):
        raise TypeError(f"metrics must be names, Metric objects or functions; got {type(metric).__name__}.")
    name = getattr(metric, "__name__", type(metric).__name__)
    return Metric(name, metric, (metric.__doc__ or "").strip().split("\n")[0])


def _check_train(samples: Samples, train: Samples) -> None:
    """Refuse train samples whose labels or factors are not those of the scored samples, or whose targets share sources."""
    for name in ("label_names", "factor_names"):
        if getattr(train, name) != getattr(samples, name):
            raise ValueError(
                f"train must have the {name} of the scored samples, {listed(getattr(samples, name), 100) or 'none'}; got "
                f"{listed(getattr(train, name), 100) or 'none'}; take both from one data set."
            )
    if shared := _target_sources(samples) & _target_sources(train):
        raise ValueError(
            f"train must share no source with the scored samples; got {len(shared)} in both, such as {min(shared)!r}; hold "
            "whole sources out."
        )


def _target_sources(samples: Samples) -> set[str]:
    """Return the names or numbers of the sources of target samples."""
    from untwine.metrics.scored_samples import target_mask

    if samples.sources is None:
        return set()
    numbers = np.unique(samples.sources[target_mask(samples.groups, len(samples))])
    return {samples.source_names[i] if samples.source_names else str(i) for i in numbers}
