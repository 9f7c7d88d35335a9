"""Which methods are compared on data: by the supervision that the data have, with trivial baselines beside."""

from __future__ import annotations

from collections.abc import Sequence

from untwine.evaluation.ranking import CLASS_METRICS, METRICS
from untwine.method.contract import Method
from untwine.methods import find_method
from untwine.registry.checks import listed
from untwine.samples import Samples

CONTRASTIVE = ("principled_vae", "mm_cvae", "sep_vae", "contrastive_vae")
CLASS_SUPERVISED = ("lord", "mlvae", "mixing_ae")
UNSUPERVISED = ("beta_vae", "dip_vae", "beta_tcvae")
BASELINES = {"groups": ("contrastive_pca", "pca"), "labels": ("pca",), "nothing": ("pca",)}
DEFAULTS = {"groups": CONTRASTIVE, "labels": CLASS_SUPERVISED, "nothing": UNSUPERVISED}
# What is scored besides, where the data have it: labels and factors have no say in the ranking.
LABELLED = ("probe", "factors", "reconstruction")
SCORED = {"groups": METRICS, "labels": CLASS_METRICS, "nothing": ("explained",)}


def supervision(samples: Samples) -> str:
    """Return what the data have: "groups", "labels" or "nothing"; groups come first, as their labels are for evaluation."""
    if samples.groups is not None and len(set((samples.groups != 0).tolist())) == 2:
        return "groups"
    return "nothing" if samples.labels is None or len(set(samples.labels[samples.labels >= 0].tolist())) < 2 else "labels"


def metrics_of(known: str) -> tuple[str, ...]:
    """Return the metrics that are scored for a kind of supervision."""
    return (*SCORED[known], *LABELLED)


def choose(samples: Samples, methods: Sequence[str | Method] | None) -> tuple[list[Method], tuple[str, ...]]:
    """Return the methods to compare, trivial baselines first, and the names of these.

    Parameters
    ----------
    samples
        The training split.
    methods
        Names of the catalogue, or methods with their fields; by default those that suit the data.
    """
    known = supervision(samples)
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of names; got the single string {methods!r}; wrap it in a list.")
    chosen = [one if isinstance(one, Method) else find_method(one)() for one in methods or DEFAULTS[known]]
    if not chosen:
        raise ValueError("methods must name at least one; got none; leave it out for those that suit the data.")
    names = [method.name for method in chosen]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"methods must be different; got {repeated[0]!r} twice; compare settings of one by untwine tune.")
    unsuited = [one.name for one in chosen if one.needs not in ("nothing", known)]
    if unsuited:
        raise ValueError(
            f"methods must suit data with {known}; {listed(unsuited)} need others; choose from {listed(DEFAULTS[known])}."
        )
    covered = samples.covariates is not None
    trivial = tuple(name for name in BASELINES[known] if not covered or find_method(name).takes_covariates)
    beside: list[Method] = [find_method(name)() for name in trivial if name not in names]
    for method in chosen:
        method.check()
        if covered and not method.takes_covariates:
            raise ValueError(f"methods must take covariates, as the data have some; {method.name} takes none; leave it out.")
    return [*beside, *chosen], trivial
