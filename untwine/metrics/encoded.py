"""Samples with their codes: which rows, labels and factors a score is about, and what is missing for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from untwine._typing import Array
from untwine.latents import Latents
from untwine.metrics.blocks import FOLDS, WITHOUT_CLASS, WITHOUT_FACTORS
from untwine.metrics.class_content import content_combinations, landmark_pairs, transfer_pairs
from untwine.metrics.held_out import Split
from untwine.metrics.landmarks import landmark_names, named_points
from untwine.metrics.rows import factor_mask, labelled_rows, target_rows
from untwine.samples import Samples

# To SAP, whole numbers of at most so many values are classes, and all other factors lie on a scale.
CLASSES = 20
# To the other scores of single latents, a factor has classes where it has at most so many values, with so many rows each.
LEVELS, ROWS_EACH = 100, 10

NEEDS = {
    **dict.fromkeys(("probe", "per_class", "clustering", "agreement"), ("labels",)),
    **dict.fromkeys(("factors", "regression", "per_factor"), ("factors",)),
    **dict.fromkeys(("sap", "mig", "explicitness"), ("a factor",)),
    **dict.fromkeys(("dci", "modularity", "z_diff", "factor_vae_score"), ("two factors",)),
    **dict.fromkeys(("attributes", "per_attribute"), ("attributes",)),
    "probe_factors": ("class factors",),
    "realism": ("images", "prior"),
    "swap": ("two parts", "labels"),
    "translation": ("class", "labels", "class codes"),
    "reading": ("class", "labels"),
    "transfer": ("class", "moves"),
    "landmarks": ("landmarks",),
    "transfer_lpips": ("class", "moves", "images"),
    "leakage": ("two parts", "leaks"),
    "groups": ("groups",),
    "w2": ("common", "groups"),
}


class Fitted(Protocol):
    """What is asked of a method here: that it was fitted, encodes and decodes."""

    def encode(self, x: Array, /) -> Latents:
        """Return the codes of rows."""

    def decode(self, latents: Latents, /) -> Array:
        """Return the rows of codes."""


class Encoded(NamedTuple):
    """Samples with their codes, how many resamples an interval takes, and other samples to fit classifiers on, if any."""

    method: Fitted
    samples: Samples
    latents: Latents
    seeds: int
    train: Encoded | None = None

    @property
    def target(self) -> Array:
        """The mask of target rows: all, where there are no groups."""
        return target_rows(self.samples.groups, len(self.samples))

    def labelled_rows(self) -> Array:
        """Return the indices of targets with a known label, of classes with a row for every fold."""
        return labelled_rows(self.samples.labels, self.target, FOLDS)

    def labelled(self) -> tuple[Latents, Array]:
        """Return codes and labels of the targets with a known label, of classes with a row for every fold."""
        rows = self.labelled_rows()
        return self.latents.take(rows), self.labels_of(rows)

    def labels_of(self, rows: Array) -> Array:
        """Return the labels of rows; no row has one where the samples have none."""
        return rows if self.samples.labels is None else self.samples.labels[rows]

    def columns(self, salient: bool) -> Array:
        """Return the indices of the factors that can be scored: those named "salient ...", or all the others."""
        return factor_mask(self.samples.factors, self.samples.factor_names, self.target, 2 * FOLDS, salient)

    def factors(self, salient: bool, columns: Array | None = None) -> tuple[Latents, Array]:
        """Return codes and factors of the targets: the factors named "salient ...", or all the others, or given columns."""
        columns = self.columns(salient) if columns is None else columns
        return self.latents.take(self.target), self.factors_of(np.flatnonzero(self.target), columns)

    def factors_of(self, rows: Array, columns: Array) -> Array:
        """Return the given factors of rows; there are none where the samples have none."""
        return np.empty((len(rows), 0)) if self.samples.factors is None else self.samples.factors[np.ix_(rows, columns)]

    def attribute_columns(self) -> Array:
        """Return the indices of the factors that are 0 or 1 in every target, each in at least two rows a fold."""
        columns = np.concatenate([self.columns(salient) for salient in (False, True)])
        table = self.factors_of(np.flatnonzero(self.target), columns)
        often = np.minimum((table == 0).sum(axis=0), (table == 1).sum(axis=0)) >= 2 * FOLDS
        return columns[_binary(table) & often] if table.size else columns[:0]

    def class_factors(self) -> list[int]:
        """Return the indices of the factors that are classes: few whole numbers, two of which have a row for every fold."""
        columns = np.concatenate([self.columns(salient) for salient in (False, True)]).astype(int)
        return [j for j in sorted(columns.tolist()) if len(np.unique(self.classes(j)[1])) > 1]

    def classes(self, column: int) -> tuple[Latents, Array]:
        """Return codes and values of the targets whose value of a factor is known, of values with a row for every fold."""
        rows = np.flatnonzero(self.target)
        y = self.factors_of(rows, np.array([column]))[:, 0]
        rows, y = rows[~np.isnan(y)], y[~np.isnan(y)]
        if not _is_class(y):
            return self.latents.take(rows[:0]), y[:0]
        values, counts = np.unique(y, return_counts=True)
        often = np.isin(y, values[counts >= FOLDS])
        return self.latents.take(rows[often]), y[often].astype(int)

    def joined(self, part: Callable[[Encoded], tuple[Latents, Array]]) -> tuple[Mapping[str, Array], Array, Split | None]:
        """Return codes and truths of the rows to fit on, if there are any, and of the scored ones; and which is which."""
        codes, truth = part(self)
        if self.train is None:
            return codes, truth, None
        others, known = part(self.train)
        blocks = {block: np.concatenate([others[block], codes[block]]) for block in codes}
        a, b = len(known), len(known) + len(truth)
        return blocks, np.concatenate([known, truth]), (np.arange(a), np.arange(a, b))

    def truths(self, lines: bool = False) -> Iterator[tuple[str, Array, Array, list[bool]]]:
        """Yield each block with its codes, the factors that it should hold, and which lie on a scale; of rows known whole.

        With `lines` only whole numbers of few values are classes; otherwise all factors whose values come many times.
        """
        for block, codes in self.latents.items():
            kinds = [salient for salient in (False, True) if block not in (WITHOUT_CLASS if salient else WITHOUT_FACTORS)]
            table = np.hstack([self.factors(salient)[1] for salient in kinds])
            known = ~np.isnan(table).any(axis=1)
            columns = table[known]
            # A factor that hardly varies would not vary at all in some half of the rows.
            often = [bool(len(y)) and len(y) - np.unique(y, return_counts=True)[1].max() >= 2 * FOLDS for y in columns.T]
            columns = columns[:, often]
            if columns.size:
                yield (
                    block,
                    codes[self.target][known],
                    columns,
                    [not (_is_class(y) if lines else _has_levels(y)) for y in columns.T],
                )

    def contents(self) -> tuple[Array, Array]:
        """Return the labelled rows whose factors are known, and the number of each one's combination of content factors.

        None where no two classes share a combination: numbers that hardly come twice, as places, name no content. Landmarks
        are none of these factors.
        """
        rows = self.labelled_rows()
        columns = np.flatnonzero(~landmark_names(self.samples.factor_names))
        known = rows[~np.isnan(self.factors_of(rows, columns)).any(axis=1)] if self.samples.factors is not None else rows[:0]
        found = content_combinations(self.labels_of(known), self.factors_of(known, columns)) if len(known) else None
        if found is None or not _shared(self.labels_of(known), found):
            return rows[:0], rows[:0]
        return known, found

    def landmarks(self) -> tuple[Array, Array]:
        """Return the rows whose landmarks are known, and these (n, k, 2); none where the samples have none."""
        return named_points(self.samples.factors, self.samples.factor_names)

    def marked(self) -> tuple[Array, Array]:
        """Return the labelled rows whose landmarks are known, and these (n, k, 2)."""
        rows, points = self.landmarks()
        inside = np.isin(rows, self.labelled_rows())
        return rows[inside], points[inside]

    def moves(self, most: int) -> tuple[Array, Array, Array]:
        """Return rows that give a class, rows that give a content, and their truths: by contents, else by nearest landmarks."""
        rows, contents = self.contents()
        if len(rows):
            i, j, truth = transfer_pairs(self.labels_of(rows), contents, most)
        else:
            rows, points = self.marked()
            i, j, truth = landmark_pairs(self.labels_of(rows), points, most)
        return rows[i], rows[j], rows[truth]

    def knows_classes(self) -> bool:
        """Say whether the method has a code for the class of every labelled row."""
        method: Any = self.method
        known = method.known_classes() if hasattr(method, "known_classes") else None
        return known is not None and bool((self.labels_of(self.labelled_rows()) < len(known)).all())

    def of_classes(self, labels: Array) -> Latents:
        """Return the codes that stand for classes of training."""
        method: Any = self.method
        return Latents({"class": method.class_codes(labels)})

    def swapped_part(self) -> str | None:
        """Return the block that a swap exchanges, if there is another that stays."""
        there = [block for block in WITHOUT_FACTORS if block in self.latents]
        return there[0] if there and any(block in self.latents for block in WITHOUT_CLASS) else None

    def lacks(self, metric: str) -> str:
        """Return what the metric needs and does not find here, and what to do; nothing if all is there."""
        return next((sentence for need in NEEDS.get(metric, ()) if (sentence := self._missing(need))), "")

    def _missing(self, need: str) -> str:
        checks: dict[str, tuple[Callable[[], bool], str]] = {
            "labels": (
                lambda: len(np.unique(self.labels_of(self.labelled_rows()))) > 1,
                f"at least 2 classes of {FOLDS} labelled target rows each, but there are none; pass samples with labels",
            ),
            "factors": (
                lambda: any(len(self.columns(salient)) for salient in (False, True)),
                f"a factor that varies over {2 * FOLDS} known target rows and there is none; pass samples with factors",
            ),
            "a factor": (
                lambda: any(True for _ in self.truths()),
                "a factor that a part should hold, varying over target rows and there is none; pass samples with factors",
            ),
            "two factors": (
                lambda: any(y.shape[1] > 1 for _, _, y, _ in self.truths()),
                "two factors that a part should hold, varying over target rows, but there are fewer; pass samples with factors",
            ),
            "attributes": (
                lambda: len(self.attribute_columns()) > 0,
                "a factor of 0 and 1, known for all targets and there is none; pass samples with such factors",
            ),
            "class factors": (
                lambda: bool(self.class_factors()),
                f"a factor with at least 2 classes of {FOLDS} known target rows each and there is none; pass such samples",
            ),
            "images": (
                lambda: self.samples.is_image and self.samples.shape[0] in (1, 3),
                "images, grey or RGB, but the rows are others; pass images",
            ),
            "prior": (
                lambda: hasattr(self.method, "prior"),
                "a method that draws codes, but this one does not; evaluate one of the catalogue",
            ),
            "two parts": (
                lambda: self.swapped_part() is not None,
                f"two parts, as common and salient, but the method has {', '.join(self.latents)}; evaluate another method",
            ),
            "class": (
                lambda: {"class", "content"} <= set(self.latents),
                f"the blocks 'class' and 'content', but the method has {', '.join(self.latents)}; evaluate another method",
            ),
            "class codes": (
                self.knows_classes,
                "a method with a code for every class of these rows and there is none; take the metric 'swap'",
            ),
            "moves": (
                lambda: len(self.contents()[0]) > 0 or len(np.unique(self.labels_of(self.marked()[0]))) > 1,
                "labels, and factors that vary within a class and recur in another (or landmarks); got none; pass some",
            ),
            "landmarks": (
                lambda: len(self.landmarks()[0]) >= 2 * FOLDS,
                f"factors named 'landmark ...', x and y in turn, in {2 * FOLDS} rows, but there are none; pass such samples",
            ),
            "leaks": (
                lambda: any(True for _ in self.leaks()),
                "labels, factors or groups that could leak, but there are none; pass samples with some",
            ),
            "common": (
                lambda: "common" in self.latents,
                f"a block 'common', but the method has {', '.join(self.latents)}; evaluate a contrastive method",
            ),
            "groups": (
                lambda: 2 <= int(self.target.sum()) <= len(self.samples) - 2,
                "2 rows of target and of background, but there are fewer; pass Samples.contrast(target=..., background=...)",
            ),
        }
        there, sentence = checks[need]
        return "" if there() else sentence

    def leaks(self) -> Iterator[tuple[str, Array, Array, Array]]:
        """Yield what may leak: a score's name, codes of the part that should not know it and of its own, and the truth."""
        own, other = self.swapped_part(), next((block for block in WITHOUT_CLASS if block in self.latents), None)
        if own is None or other is None:
            return
        codes, labels = self.labelled()
        if len(np.unique(labels)) > 1:
            yield f"leakage.{other}", codes[other], codes[own], labels
        elif len(self.columns(salient=True)):
            codes, truth = self.factors(salient=True)
            yield f"leakage.{other}", codes[other], codes[own], truth
        if len(self.columns(salient=False)):
            codes, truth = self.factors(salient=False)
            yield f"leakage.{own}", codes[own], codes[other], truth
        sides = [np.flatnonzero(self.target == side) for side in (False, True)]
        if (fewest := min(map(len, sides))) >= 2 * FOLDS:
            # As many of each, so that guessing is right half the time.
            rng = np.random.default_rng(0)
            rows = np.sort(np.concatenate([rng.permutation(side)[:fewest] for side in sides]))
            codes = self.latents.take(rows)
            yield f"leakage_group.{other}", codes[other], codes[own], self.target[rows].astype(int)


def _binary(columns: Array) -> Array:
    """Return which columns hold both 0 and 1 and nothing else."""
    return np.asarray(np.isin(columns, (0, 1)).all(axis=0) & (np.ptp(columns, axis=0) > 0))


def _shared(labels: Array, contents: Array) -> bool:
    """Say whether some content comes in two classes."""
    pairs = np.unique(np.column_stack([contents, labels]), axis=0)
    return len(np.unique(pairs[:, 0])) < len(pairs)


def _is_class(y: Array) -> bool:
    return bool(np.equal(y, np.round(y)).all()) and len(np.unique(y)) <= CLASSES


def _has_levels(y: Array) -> bool:
    return len(np.unique(y)) <= min(LEVELS, len(y) // ROWS_EACH)
