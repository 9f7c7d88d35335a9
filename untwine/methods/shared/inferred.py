"""What methods infer from the training samples before their networks are built."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from untwine.linear.contrast import contrast_test
from untwine.samples import Samples


def salient_width(n_salient: int | str, samples: Samples) -> dict[str, int]:
    """Return the number of salient dimensions by the contrast test, at least 1, where `n_salient` is "auto"."""
    if n_salient != "auto":
        return {}
    # What is fitted does not depend on sources, which fingerprints of samples leave out.
    width = contrast_test(replace(samples, sources=None, source_names=())).n_salient
    if not width:
        message = "n_salient='auto': no direction of the target is significant by the contrast test; it gets 1 dimension."
        warnings.warn(message, UserWarning, stacklevel=5)
    return {"n_salient": max(1, width)}


def class_counts(samples: Samples) -> dict[str, int]:
    """Return how many samples and classes there are."""
    return {"rows": len(samples), "classes": len(np.unique(samples.labels)) if samples.labels is not None else 0}
