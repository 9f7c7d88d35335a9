"""Every metric by its name: ours, those that a script registers, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping

from untwine.metrics.metric import Metric, fits
from untwine.registry import Catalogue


def _built_in() -> Mapping[str, Metric]:
    """Return our metrics in the order of their scores: those that `evaluate` scores by default, then those on request."""
    from untwine.metrics import (
        agreement,
        attributes,
        clustering,
        dci,
        explicitness,
        factor_vae,
        factors,
        groups,
        landmarks,
        leakage,
        mig,
        modularity,
        per_attribute,
        per_class,
        per_factor,
        probe,
        probe_factors,
        reading,
        realism,
        reconstruction,
        regression,
        sap,
        swap,
        transfer,
        transfer_lpips,
        translation,
        unsupervised,
        w2,
        z_diff,
    )

    metrics = (
        probe.METRIC,
        clustering.METRIC,
        agreement.METRIC,
        factors.METRIC,
        leakage.METRIC,
        groups.METRIC,
        w2.METRIC,
        reading.METRIC,
        transfer.METRIC,
        reconstruction.METRIC,
        regression.METRIC,
        per_class.METRIC,
        per_factor.METRIC,
        swap.METRIC,
        translation.METRIC,
        transfer_lpips.METRIC,
        landmarks.METRIC,
        sap.METRIC,
        mig.METRIC,
        dci.METRIC,
        modularity.METRIC,
        explicitness.METRIC,
        z_diff.METRIC,
        factor_vae.METRIC,
        attributes.METRIC,
        per_attribute.METRIC,
        unsupervised.METRIC,
        probe_factors.METRIC,
        realism.METRIC,
    )
    return {metric.name: metric for metric in metrics}


def _check(name: str, thing: object) -> None:
    if not isinstance(thing, Metric):
        raise TypeError(f"a metric must be an untwine.metrics.Metric; got {type(thing).__name__}; wrap its function in one.")
    if thing.name != name:
        raise ValueError(f"a metric must be registered by its own name, {thing.name!r}; got {name!r}.")


METRICS: Catalogue[Metric] = Catalogue("metric", "untwine.metrics", _built_in, _check)


def explain(score: str) -> str:
    """Return what a score means, in a sentence, by its name with or without the block; empty for an unknown score."""
    name = score.partition(".")[0]
    exact = [metric.scores[name] for metric in METRICS.values() if name in metric.scores]
    patterns = [(pattern, info) for metric in METRICS.values() for pattern, info in metric.scores.items() if "*" in pattern]
    return next((info.explanation for info in (*exact, *(info for pattern, info in patterns if fits(pattern, name)))), "")
