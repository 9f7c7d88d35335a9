"""What a metric is given: samples with their latents, and which of them, with which labels and factors, a score is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from untwine._typing import Array
from untwine.data.sources import repeated_sources
from untwine.latents import Latents
from untwine.metrics.content_pairs import (
    content_combinations,
    landmark_mask,
    landmark_pairs,
    landmark_points,
    transfer_pairs,
)
from untwine.metrics.directions import WITHOUT_FACTORS, WITHOUT_LABELS, encodes_factors
from untwine.metrics.held_out import FOLDS, Split
from untwine.metrics.scored_samples import labelled_indices, target_mask, varying_factors
from untwine.registry.blocks import salient_blocks
from untwine.samples import Samples

# For SAP, integer-valued factors with at most this many values are classes, and all others are continuous.
MAX_CLASSES = 20
# For the other scores of single latents, a factor is discrete if it has at most this many values, of this many samples each.
MAX_LEVELS, SAMPLES_PER_LEVEL = 100, 10
DECODE_BATCH = 1_000


class Fitted(Protocol):
    """What scoring needs of a fitted method."""

    def encode(self, x: Array, /) -> Latents:
        """Return the latents of samples."""

    def decode(self, latents: Latents, /) -> Array:
        """Return the samples of latents."""


def encode(method: Fitted, samples: Samples) -> Latents:
    """Encode samples, with their covariates where the method was fitted with some."""
    given: Any = samples if getattr(method, "n_covariates", 0) else samples.x
    return method.encode(given)


class Selected(NamedTuple):
    """Codes of each block with the ground truth (n, ...) of the same samples.

    The split into train and test samples is None where there are folds, the sources (n,) are None where samples have none.
    """

    codes: Mapping[str, Array]
    truth: Array
    split: Split | None
    sources: Array | None


class Encoded(NamedTuple):
    """Samples with the latents that a fitted method inferred.

    Attributes
    ----------
    method, samples, latents
        The fitted method, the scored samples and their latents.
    seeds
        How many random halves of the samples an interval takes.
    train
        Other samples to fit classifiers and regressions on; without them these are fitted on folds of the scored samples.
    """

    method: Fitted
    samples: Samples
    latents: Latents
    seeds: int
    train: Encoded | None = None

    @property
    def is_target(self) -> Array:
        """The mask (n,) of target samples: all, where there are no groups."""
        return target_mask(self.samples.groups, len(self.samples))

    def labelled_indices(self) -> Array:
        """Return the indices of target samples with a known label, of classes of at least 5 samples."""
        return labelled_indices(self.samples.labels, self.is_target, FOLDS)

    def folded_labels(self) -> tuple[Array, Array]:
        """Return the target samples with a known label, and their labels; of classes with a sample, or source, for every fold.

        Where there are other samples to train on, there are no folds, and sources do not count.
        """
        indices = self.labelled_indices()
        indices = indices[self.fills_folds(indices, self.labels_of(indices))]
        return indices, self.labels_of(indices)

    def fills_folds(self, indices: Array, classes: Array) -> Array:
        """Return the mask of samples whose class has a source for every fold; of all, where sources do not matter."""
        sources = repeated_sources(self.sources_of(indices), len(indices))
        if sources is None or self.train is not None:
            return np.ones(len(indices), dtype=bool)
        values, counts = np.unique(np.unique(np.column_stack([classes, sources]), axis=0)[:, 0], return_counts=True)
        return np.isin(classes, values[counts >= FOLDS])

    def sources_of(self, indices: Array) -> Array | None:
        """Return the sources of samples; None where samples have none."""
        return None if self.samples.sources is None else self.samples.sources[indices]

    def labels_of(self, indices: Array) -> Array:
        """Return the labels of samples; no sample has one where there are no labels."""
        return indices if self.samples.labels is None else self.samples.labels[indices]

    def factor_columns(self, salient: bool) -> Array:
        """Return the indices of the factors that can be scored: those named "salient ...", or all others."""
        return varying_factors(self.samples.factors, self.samples.factor_names, self.is_target, 2 * FOLDS, salient)

    def own_factors(self, block: str, salient: bool) -> Array:
        """Return the mask of `factor_columns` that a block is scored on: of a target's block, those known for that target.

        All of them where the block is not of one target, or none is known for it: the response to one drug is unknown for
        samples of another.
        """
        samples, columns = self.samples, self.factor_columns(salient)
        every = np.ones(len(columns), dtype=bool)
        if samples.factors is None or samples.groups is None or block not in (own := salient_blocks(samples.group_names)):
            return every
        known = ~np.isnan(samples.factors[np.ix_(samples.groups == own.index(block) + 1, columns)]).all(axis=0)
        return known if known.any() else every

    def with_factors(self, salient: bool, columns: Array | None = None) -> tuple[Array, Array]:
        """Return the target samples and their factors: those named "salient ...", or all others, or `columns`."""
        columns = self.factor_columns(salient) if columns is None else columns
        indices = np.flatnonzero(self.is_target)
        return indices, self.factors_of(indices, columns)

    def factors_of(self, indices: Array, columns: Array) -> Array:
        """Return the factors `columns` of samples; an empty table where there are no factors."""
        if self.samples.factors is None:
            return np.empty((len(indices), 0))
        return np.asarray(self.samples.factors[np.ix_(indices, columns)])

    def with_classes(self, column: int) -> tuple[Array, Array]:
        """Return the target samples where a factor is known, and its values; of values with a sample or source a fold."""
        indices = np.flatnonzero(self.is_target)
        y = self.factors_of(indices, np.array([column]))[:, 0]
        indices, y = indices[~np.isnan(y)], y[~np.isnan(y)]
        if not _is_class(y):
            return indices[:0], y[:0]
        values, counts = np.unique(y, return_counts=True)
        frequent = np.isin(y, values[counts >= FOLDS]) & self.fills_folds(indices, y)
        return indices[frequent], y[frequent].astype(int)

    def with_train(self, select: Callable[[Encoded], tuple[Array, Array]]) -> Selected:
        """Return codes, ground truth and sources, with the split into train and test samples.

        `select` takes samples and their ground truth of encoded samples. Without samples to train on there is no split.
        """
        indices, truth = select(self)
        codes, sources = self.latents.take(indices), self.sources_of(indices)
        if self.train is None:
            return Selected(codes, truth, None, sources)
        # Nothing is held out of the train samples: with others to train on, sources need not fill folds.
        train_indices, train_truth = select(self.train._replace(train=self.train))
        train_codes = self.train.latents.take(train_indices)
        blocks = {block: np.concatenate([train_codes[block], codes[block]]) for block in codes}
        a, b = len(train_truth), len(train_truth) + len(truth)
        train_sources = self.train.sources_of(train_indices)
        if sources is not None:  # the numbers are those of each set by itself: no source of one is looked for in the other
            sources = np.concatenate([np.arange(a) if train_sources is None else train_sources, sources])
        return Selected(blocks, np.concatenate([train_truth, truth]), (np.arange(a), np.arange(a, b)), sources)

    def factors_by_block(
        self, few_values: bool = False, leave_out: Sequence[str] = (), salient: bool | None = None
    ) -> Iterator[tuple[str, Array, Array, list[bool]]]:
        """Yield each block with its codes, the factors that it should encode, and which of them are continuous.

        Of target samples whose factors are all known. With `few_values` only integer-valued factors with at most 20 values
        are discrete; otherwise all factors with at most 100 values, of 10 samples each. Factors named in `leave_out` are not
        counted among them. With `salient` every block has the same factors: those named "salient ...", or all others.
        """
        for block, codes in self.latents.items():
            table, known = self._block_factors(block, leave_out, salient)
            factors = table[known]
            # A factor that hardly varies would be constant in some half of the samples.
            varies = [bool(len(y)) and len(y) - np.unique(y, return_counts=True)[1].max() >= 2 * FOLDS for y in factors.T]
            factors = factors[:, varies]
            if factors.size:
                discrete = _is_class if few_values else _has_levels
                yield block, codes[self.is_target][known], factors, [not discrete(y) for y in factors.T]

    def block_sources(self, block: str, leave_out: Sequence[str] = (), salient: bool | None = None) -> Array | None:
        """Return the sources of the samples that `factors_by_block` gives for a block; None where samples have none."""
        return self.sources_of(np.flatnonzero(self.is_target)[self._block_factors(block, leave_out, salient)[1]])

    def _block_factors(self, block: str, leave_out: Sequence[str] = (), salient: bool | None = None) -> tuple[Array, Array]:
        """Return the factors that a block should encode, of all target samples, and the mask of those where all are known."""
        named = self.samples.factor_names
        kinds = [kind for kind in (False, True) if (encodes_factors(block, kind) if salient is None else kind == salient)]
        columns = [[j for j in self.factor_columns(kind) if named[j] not in leave_out] for kind in kinds]
        table = np.hstack([self.with_factors(False, np.array(some, dtype=int))[1] for some in columns])
        return table, ~np.isnan(table).any(axis=1)

    def content_labels(self) -> tuple[Array, Array]:
        """Return the labelled samples whose factors are known, and for each the number of its combination of content factors.

        Both are empty where no two classes share a combination, as for continuous factors, whose values hardly recur.
        Landmarks are not content factors.
        """
        indices = self.labelled_indices()
        columns = np.flatnonzero(~landmark_mask(self.samples.factor_names))
        known = indices[:0]
        if self.samples.factors is not None:
            known = indices[~np.isnan(self.factors_of(indices, columns)).any(axis=1)]
        contents = content_combinations(self.labels_of(known), self.factors_of(known, columns)) if len(known) else None
        if contents is None or not _is_shared(self.labels_of(known), contents):
            return indices[:0], indices[:0]
        return known, contents

    def landmarks(self) -> tuple[Array, Array]:
        """Return the samples whose landmarks are known, and the landmarks (n, k, 2); empty where there are none."""
        return landmark_points(self.samples.factors, self.samples.factor_names)

    def labelled_landmarks(self) -> tuple[Array, Array]:
        """Return the labelled samples whose landmarks are known, and the landmarks (n, k, 2)."""
        indices, points = self.landmarks()
        labelled = np.isin(indices, self.labelled_indices())
        return indices[labelled], points[labelled]

    def transfers(self, most: int) -> tuple[Array, Array, Array]:
        """Return the samples that give the class, those that give the content, and those that are the ground truth of both.

        By equal content factors where there are some, else by the nearest landmarks.
        """
        indices, contents = self.content_labels()
        if len(indices):
            i, j, truth = transfer_pairs(self.labels_of(indices), contents, most)
        else:
            indices, points = self.labelled_landmarks()
            i, j, truth = landmark_pairs(self.labels_of(indices), points, most)
        return indices[i], indices[j], indices[truth]

    def has_class_codes(self) -> bool:
        """Return whether the method has a code for the class of every labelled sample."""
        method: Any = self.method
        known = method.known_classes() if hasattr(method, "known_classes") else None
        return known is not None and bool((self.labels_of(self.labelled_indices()) < len(known)).all())

    def class_codes(self, labels: Array) -> Latents:
        """Return the method's codes of training classes."""
        method: Any = self.method
        return Latents({"class": method.class_codes(labels)})

    def swapped_block(self) -> str | None:
        """Return the block that a swap exchanges, `salient` or `class`, if there is another one that stays."""
        swapped = [block for block in WITHOUT_FACTORS if block in self.latents]
        return swapped[0] if swapped and any(block in self.latents for block in WITHOUT_LABELS) else None

    def posterior_std(self, n: int) -> Mapping[str, Array]:
        """Return the posterior standard deviations (n, width) of the first n samples; none where no posterior is Gaussian."""
        method: Any = self.method
        some = self.samples[:n] if getattr(method, "n_covariates", 0) else self.samples.x[:n]
        return method.posterior_std(some) if hasattr(method, "posterior_std") else {}

    def decode(self, latents: Latents) -> Array:
        """Return the samples that the method decodes from latents, in batches."""
        batches = range(0, latents.n_samples, DECODE_BATCH)
        return np.concatenate([self.method.decode(latents.take(slice(i, i + DECODE_BATCH))) for i in batches])


def _is_shared(labels: Array, contents: Array) -> bool:
    """Return whether some content occurs in two classes."""
    pairs = np.unique(np.column_stack([contents, labels]), axis=0)
    return len(np.unique(pairs[:, 0])) < len(pairs)


def _is_class(y: Array) -> bool:
    return bool(np.equal(y, np.round(y)).all()) and len(np.unique(y)) <= MAX_CLASSES


def _has_levels(y: Array) -> bool:
    return len(np.unique(y)) <= min(MAX_LEVELS, len(y) // SAMPLES_PER_LEVEL)
