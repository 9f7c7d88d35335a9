"""Every metric by its name: ours, those that a script registers, and those of installed packages."""

# ruff: noqa: F401 (the line that imports a metric is the line that adds it)
from __future__ import annotations

from collections.abc import Mapping

from untwine.metrics.metric import Metric, ScoreInfo, fits
from untwine.metrics.options import parse, plain_name
from untwine.registry import Catalogue


def _built_in() -> Mapping[str, Metric]:
    """Return our metrics in the order of their scores: those that `evaluate` scores by default, then those on request."""
    # isort: off
    from untwine.metrics import probe
    from untwine.metrics import probe_strong
    from untwine.metrics import clustering
    from untwine.metrics import agreement
    from untwine.metrics import factors
    from untwine.metrics import leakage
    from untwine.metrics import leakage_covariates
    from untwine.metrics import groups
    from untwine.metrics import per_target
    from untwine.metrics import w2
    from untwine.metrics import reading
    from untwine.metrics import transfer
    from untwine.metrics import reconstruction
    from untwine.metrics import explained
    from untwine.metrics import counterfactual
    from untwine.metrics import minimality
    from untwine.metrics import background_quiet
    from untwine.metrics import responses
    from untwine.metrics import regression
    from untwine.metrics import per_class
    from untwine.metrics import per_factor
    from untwine.metrics import swap
    from untwine.metrics import translation
    from untwine.metrics import transfer_lpips
    from untwine.metrics import landmarks
    from untwine.metrics import sap
    from untwine.metrics import mig
    from untwine.metrics import dci
    from untwine.metrics import modularity
    from untwine.metrics import explicitness
    from untwine.metrics import z_diff
    from untwine.metrics import factor_vae
    from untwine.metrics import factor_vae_salient
    from untwine.metrics import attributes
    from untwine.metrics import per_attribute
    from untwine.metrics import unsupervised
    from untwine.metrics import probe_strong_factors
    from untwine.metrics import probe_factors
    from untwine.metrics import realism
    from untwine.metrics import salient_map
    from untwine.metrics import trivial_maps
    from untwine.metrics import changed_features

    # isort: on
    return {module.METRIC.name: module.METRIC for module in locals().values()}


def _check(name: str, thing: object) -> None:
    if not isinstance(thing, Metric):
        raise TypeError(f"a metric must be an untwine.metrics.Metric; got {type(thing).__name__}; wrap its function in one.")
    if thing.name != name:
        raise ValueError(f"a metric must be registered by its own name, {thing.name!r}; got {name!r}.")


METRICS: Catalogue[Metric] = Catalogue("metric", "untwine.metrics", _built_in, _check)


def find_metric(text: str) -> Metric:
    """Return a metric by its name, "z_diff", or by its name and options, "z_diff(pairs=256)"; wrong ones are refused."""
    name, options = parse(text)
    return METRICS.find(name).with_options(**options)


def explain(score: str) -> str:
    """Return what a score means, in a sentence, by its name with or without the block; empty for an unknown score.

    The options in a name, as in "z_diff(pairs=256).z", do not matter.
    """
    info = find_score(score)
    return info.explanation if info else ""


def find_score(score: str) -> ScoreInfo | None:
    """Return what is known of a score by its name, with or without the block and options; None for an unknown score."""
    name = plain_name(score if score.endswith(")") else score.rpartition(".")[0] or score)
    exact = [metric.scores[name] for metric in METRICS.values() if name in metric.scores]
    patterns = [(pattern, info) for metric in METRICS.values() for pattern, info in metric.scores.items() if "*" in pattern]
    return next((info for info in (*exact, *(info for pattern, info in patterns if fits(pattern, name)))), None)
