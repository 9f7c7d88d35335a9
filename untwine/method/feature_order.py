"""Samples with their features in the order of a method's fit."""

from __future__ import annotations

from dataclasses import replace

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
    return replace(samples, x=in_order(samples.x, samples.feature_names, wanted), feature_names=wanted)
