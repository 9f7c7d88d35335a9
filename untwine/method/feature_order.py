"""Samples with their features in the order of a method's fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from untwine._typing import Array
from untwine.method.features import OnFeatures
from untwine.registry.features import in_order
from untwine.samples import Samples


def arrange_samples(samples: Samples, method: object) -> Samples:
    """Return samples with the features of the method's fit, in its order; as they are where one of both has no names.

    Images become features where the method was fitted on features of images. Missing features are refused, and those that the
    fit did not have are left out with a warning.
    """
    if isinstance(method, OnFeatures):
        samples = method.with_features(samples)
    wanted = tuple(getattr(method, "feature_names_in_", ()))
    if not wanted or not samples.feature_names or wanted == samples.feature_names:
        return samples
    x = in_order(samples.x, samples.feature_names, wanted)
    masks = None if samples.masks is None else _columns(samples.masks, samples.feature_names, wanted)
    return replace(samples, x=x, feature_names=wanted, masks=masks)


def _columns(masks: Array, names: Sequence[str], wanted: Sequence[str]) -> Array:
    """Return the masks (n, d) of vectors for the wanted features, in their order."""
    places = {name: i for i, name in enumerate(names)}
    chosen: Array = masks[:, [places[name] for name in wanted]]
    return chosen
