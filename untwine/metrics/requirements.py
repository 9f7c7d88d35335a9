"""What several metrics require of the method and the samples; what only one metric requires is in its file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from untwine.data.sources import repeated_sources
from untwine.metrics.encoded import Encoded
from untwine.metrics.held_out import FOLDS
from untwine.metrics.metric import Requirement
from untwine.registry.checks import suggestion


def _has_transfers(data: Encoded) -> bool:
    return len(data.content_labels()[0]) > 0 or len(np.unique(data.labels_of(data.labelled_landmarks()[0]))) > 1


def two_block_factors(leave_out: Sequence[str] = ()) -> Requirement:
    """Require two factors that one block should encode, besides those that are left out."""
    return Requirement(
        "two factors of a block",
        lambda data: any(factors.shape[1] > 1 for _, _, factors, _ in data.factors_by_block(leave_out=leave_out)),
        "two factors that vary over the target samples and that one block should encode",
        "fewer",
        "leave out fewer factors" if leave_out else "pass samples with factors",
    )


def named_factors(names: Sequence[str]) -> Requirement:
    """Require that the samples have factors of these names."""

    def got(data: Encoded) -> str:
        unknown = next(name for name in names if name not in data.samples.factor_names)
        known = data.samples.factor_names
        return f"no {unknown!r}; {suggestion(unknown, known).rstrip('.?')}" if known else "samples without factors"

    return Requirement(
        "factors by name",
        lambda data: set(names) <= set(data.samples.factor_names),
        f"samples with the factors {', '.join(map(repr, names))}",
        got,
        "correct the names",
    )


def _fills_folds(data: Encoded) -> bool:
    indices = np.flatnonzero(data.is_target)
    sources = repeated_sources(data.sources_of(indices), len(indices))
    return sources is None or data.train is not None or len(np.unique(sources)) >= FOLDS


LABELS = Requirement(
    "labels",
    lambda data: len(np.unique(data.labels_of(data.labelled_indices()))) > 1,
    f"at least 2 classes of {FOLDS} labelled target samples each",
    "fewer",
    "pass samples with labels",
)
FOLDED_LABELS = Requirement(
    "labels for folds",
    lambda data: len(np.unique(data.folded_labels()[1])) > 1,
    f"at least 2 classes of {FOLDS} labelled target samples each, of {FOLDS} sources where samples have sources",
    "fewer",
    "pass samples with labels",
)
SOURCES = Requirement(
    "sources for folds",
    _fills_folds,
    f"target samples of at least {FOLDS} sources, one for every fold, where samples have sources",
    "fewer",
    "pass samples of more sources",
)
FACTORS = Requirement(
    "factors",
    lambda data: any(len(data.factor_columns(salient)) for salient in (False, True)),
    f"a factor that varies and is known for {2 * FOLDS} target samples",
    "none",
    "pass samples with factors",
)
BLOCK_FACTOR = Requirement(
    "a factor of a block",
    lambda data: any(True for _ in data.factors_by_block()),
    "a factor that varies over the target samples and that a block should encode",
    "none",
    "pass samples with factors",
)
TWO_BLOCK_FACTORS = two_block_factors()
GROUPS = Requirement(
    "groups",
    lambda data: 2 <= int(data.is_target.sum()) <= len(data.samples) - 2,
    "at least 2 samples each of target and background",
    "fewer",
    "pass Samples.contrast(target=..., background=...)",
)
IMAGES = Requirement(
    "images",
    lambda data: data.samples.is_image and data.samples.shape[0] in (1, 3),
    "grey or RGB images",
    "other samples",
    "pass images",
)
TWO_BLOCKS = Requirement(
    "two blocks",
    lambda data: data.swapped_block() is not None,
    "a method with two blocks, such as common and salient",
    "the blocks {blocks}",
    "evaluate another method",
)
SALIENT_BLOCK = Requirement(
    "a salient block",
    lambda data: "salient" in data.latents and len(data.latents) > 1,
    "a method with the block 'salient' and another one",
    "the blocks {blocks}",
    "evaluate a contrastive method",
)
CLASS_AND_CONTENT = Requirement(
    "class and content",
    lambda data: {"class", "content"} <= set(data.latents),
    "a method with the blocks 'class' and 'content'",
    "the blocks {blocks}",
    "evaluate another method",
)
TRANSFERS = Requirement(
    "transfers",
    _has_transfers,
    "labels, and factors that vary within a class and recur in another one (or landmarks)",
    "none",
    "pass such samples",
)
