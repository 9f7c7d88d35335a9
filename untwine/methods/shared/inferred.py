"""What methods infer from the training samples before their networks are built."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from untwine.linear.contrast import contrast_test
from untwine.method.automatic import effective_rank
from untwine.method.contract import NotFittedError
from untwine.registry.blocks import salient_blocks
from untwine.samples import BACKGROUND, Samples

Salient = Literal["shared", "per_target"]
# Of images, whose directions are no longer straight, more dimensions are needed than a linear test finds.
LEAST_OF_IMAGES, LEAST_OF_VECTORS, MOST = {"common": 8, "salient": 4}, 2, {"common": 64, "salient": 32}
OF_COUNTS = 10  # the noise of counting has full rank, so theirs says nothing; the usual number for single cells
# The methods with a salient block for each target.
PER_TARGET = ("principled_vae", "recombining_vae", "contrastive_vae", "mm_cvae", "sep_vae")


def common_width(n_common: int | str, samples: Samples, counts: bool = False) -> dict[str, int]:
    """Return the effective rank of the background, within bounds, where `n_common` is "auto"; of counts always the same."""
    return {"n_common": OF_COUNTS if counts else _rank(samples.background)} if n_common == "auto" else {}


def latent_width(n_latent: int | str, samples: Samples, counts: bool = False) -> dict[str, int]:
    """Return the effective rank of the samples, within bounds, where `n_latent` is "auto"; of counts always the same."""
    return {"n_latent": OF_COUNTS if counts else _rank(samples)} if n_latent == "auto" else {}


def _rank(samples: Samples) -> int:
    least = LEAST_OF_IMAGES["common"] if samples.x.ndim > 2 else min(LEAST_OF_VECTORS, samples.x.shape[1])
    return min(max(least, round(effective_rank(samples))), MOST["common"])


def salient_width(n_salient: int | str, samples: Samples, counts: bool = False) -> dict[str, int]:
    """Return the number of salient dimensions by the contrast test, at least 1, where `n_salient` is "auto"."""
    if n_salient != "auto":
        return {}
    return {"n_salient": _width(samples, "the target", counts)}


def infer_targets(n_salient: int | str, samples: Samples, counts: bool = False) -> dict[str, Any]:
    """Return the names of the targets' salient blocks and, where `n_salient` is "auto", their widths.

    Targets are those that have samples; each needs two.
    """
    groups, names = np.asarray(samples.groups), samples.group_names
    targets, sizes = np.unique(groups[groups != BACKGROUND], return_counts=True)
    if sizes.min() < 2:
        few = names[targets[sizes.argmin()]]
        raise ValueError(
            f"salient='per_target' needs at least 2 samples of every target; got 1 of {few!r}; add some, or leave it out."
        )
    blocks = salient_blocks(names)
    inferred: dict[str, Any] = {"targets": [blocks[target - 1] for target in targets]}
    if n_salient == "auto":
        pairs = [(repr(names[target]), samples[np.isin(groups, (BACKGROUND, target))]) for target in targets]
        inferred["widths"] = [_width(both, name, counts) for name, both in pairs]
    return inferred


def target_blocks(n_salient: int | str, inferred: Mapping[str, Any]) -> dict[str, int]:
    """Return the width of each target's salient block, by name, from what `infer_targets` returned."""
    if "targets" not in inferred:
        raise NotFittedError("salient='per_target' names its blocks after the targets of the data; call fit first.")
    names = inferred["targets"]
    return dict(zip(names, inferred["widths"] if n_salient == "auto" else [int(n_salient)] * len(names), strict=True))


def refuse_per_target(title: str, salient: Salient, reason: str) -> None:
    """Refuse a salient block for each target, for methods whose objective does not allow it."""
    if salient == "per_target":
        others = ", ".join(PER_TARGET)
        raise ValueError(f"{title}: salient must be 'shared', as {reason}; got 'per_target'; take one of {others}.")


def _width(samples: Samples, target: str, counts: bool) -> int:
    # What is fitted does not depend on sources, which fingerprints of samples leave out.
    width = contrast_test(replace(samples, sources=None, source_names=())).n_salient
    least = LEAST_OF_IMAGES["salient"] if counts or samples.x.ndim > 2 else 1
    if not width:
        gets = f"{least} dimension{'s' * (least > 1)}"
        message = f"n_salient='auto': no direction of {target} is significant by the contrast test; it gets {gets}."
        warnings.warn(message, UserWarning, stacklevel=6)
    return min(max(least, width), MOST["salient"])


def class_counts(samples: Samples) -> dict[str, int]:
    """Return how many samples and classes there are."""
    return {"rows": len(samples), "classes": len(np.unique(samples.labels)) if samples.labels is not None else 0}
