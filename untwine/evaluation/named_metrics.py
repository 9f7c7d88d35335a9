"""Every metric by its name: which rows, codes and truths it is given, and the scores that come of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from untwine._typing import Array
from untwine.evaluation import class_metrics
from untwine.latents import Latents
from untwine.metrics import blocks, contrast_blocks, latent_blocks
from untwine.metrics.blocks import Measurement
from untwine.metrics.dci import dci
from untwine.metrics.encoded import Encoded
from untwine.metrics.explicitness import explicitness
from untwine.metrics.held_out import Split
from untwine.metrics.intervals import halves
from untwine.metrics.mig import mig
from untwine.metrics.modularity import modularity
from untwine.metrics.sap import sap
from untwine.metrics.swap import other_class, swap_accuracy, swap_preservation

DECODED_AT_ONCE = 1_000
MOST_SWAPPED = 2_000


def _probe(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of a linear classifier of the label, held out, for each block."""
    yield from blocks.probed(*data.joined(Encoded.labelled))


def _per_class(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of a linear classifier for every class by itself, and their mean (on request)."""
    codes, labels, split = data.joined(Encoded.labelled)
    yield from blocks.classified(codes, labels, data.samples.label_names, split)


def _probe_factors(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of a linear classifier of every factor that has classes, held out, for each block (on request)."""
    names = data.samples.factor_names
    for column, word in zip(columns := data.class_factors(), blocks.score_names([names[j] for j in columns]), strict=True):
        codes, labels, split = data.joined(partial(Encoded.classes, column=column))
        salient = names[column].startswith("salient")
        without = blocks.WITHOUT_CLASS if salient else blocks.WITHOUT_FACTORS
        yield from blocks.probed(codes, labels, split, f"probe_{word}", without)


def _realism(data: Encoded) -> Iterator[Measurement]:
    """Frechet distance and class score of made images, by a network whose name they bear (on request)."""
    from untwine.evaluation.seeing import feature_extractor, generated_images, measured

    yield from measured(feature_extractor(), generated_images(data), data.seeds)


def _clustering(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of k-means in the t-SNE plane of each block, that of shuffled labels, and the label's silhouette."""
    yield from blocks.clustered(*data.labelled(), data.seeds)


def _agreement(data: Encoded) -> Iterator[Measurement]:
    """Agreement of k-means on the codes of each block with the label: adjusted Rand index and mutual information."""
    yield from contrast_blocks.agreed(*data.labelled(), data.seeds)


def _factors(data: Encoded) -> Iterator[Measurement]:
    """R2 of a linear map to the factors, held out, for each block; factors named "salient ..." apart."""
    for salient in (False, True):
        codes, truth = data.factors(salient)
        yield from blocks.explained(codes, truth, salient) if truth.size else ()


def _regression(data: Encoded, each: bool = False) -> Iterator[Measurement]:
    """Mean absolute error of a linear regression of the factors, held out, and that of a constant (on request)."""
    for salient in (False, True):
        columns = data.columns(salient)
        if len(columns):
            names = [data.samples.factor_names[j] for j in columns] if each else ()
            codes, truth, split = data.joined(partial(Encoded.factors, salient=salient, columns=columns))
            yield from blocks.regressed(codes, truth, salient, names, split)


def _per_factor(data: Encoded) -> Iterator[Measurement]:
    """Mean absolute error of the regression for every factor by itself (on request)."""
    yield from _regression(data, each=True)


def _groups(data: Encoded) -> Iterator[Measurement]:
    """Silhouette of target against background in each block: the common part should not tell them apart."""
    yield from contrast_blocks.grouped(data.latents, data.target, data.seeds)


def _leakage(data: Encoded) -> Iterator[Measurement]:
    """How much of what one part should hold the other part tells, from 0 to 1, in both directions."""
    yield from contrast_blocks.leaked(data.leaks())


def _w2(data: Encoded) -> Iterator[Measurement]:
    """Squared Wasserstein distance of target and background in the common block, also over the codes' mean squared norm."""
    codes = data.latents["common"]
    yield from blocks.transported(codes[data.target], codes[~data.target], data.seeds)


def _reconstruction(data: Encoded) -> Iterator[Measurement]:
    """Mean squared error of decoded rows, per element; images on [0, 1]."""
    batches = (slice(i, i + DECODED_AT_ONCE) for i in range(0, len(data.samples), DECODED_AT_ONCE))
    yield from blocks.reconstructed((data.samples.x[b], data.method.decode(data.latents.take(b))) for b in batches)


def _swap(data: Encoded) -> Iterator[Measurement]:
    """Whether a swapped part arrives and the rest stays, told by a network that learnt from real rows (on request)."""
    part = data.swapped_part() or ""
    yield from _judged(data, "swap", lambda own, donors, _: own.swap(own.take(donors), part))


def _translation(data: Encoded) -> Iterator[Measurement]:
    """Whether rows translated to another class of training show it, told by a network as in `swap` (on request)."""
    yield from _judged(data, "translation", lambda own, _, wanted: own.swap(data.of_classes(wanted), "class"))


def _judged(data: Encoded, name: str, changed: Callable[[Latents, Array, Array], Latents]) -> Iterator[Measurement]:
    """Have a network tell the classes, and the factors, of rows with changed codes, given donors of another class and it."""
    rows = data.labelled_rows()
    labels = data.labels_of(rows)
    if data.train is not None:
        learnt, real = data.train, data.train.labelled_rows()
    else:  # the judge learns from one half of the scored rows, and sees the other half
        half = next(halves(labels, 1))
        learnt, real = data, rows[half]
        rows, labels = np.delete(rows, half), np.delete(labels, half)
    some = np.random.default_rng(0).permutation(len(rows))[:MOST_SWAPPED]
    rows, labels = rows[some], labels[some]
    donors = other_class(labels)
    codes = changed(data.latents.take(rows), donors, labels[donors])
    images = np.concatenate(
        [data.method.decode(codes.take(slice(i, i + DECODED_AT_ONCE))) for i in range(0, len(rows), DECODED_AT_ONCE)]
    )
    x, held = learnt.samples.x[real], data.samples.x[rows]
    found = swap_accuracy(x, learnt.labels_of(real), images, labels[donors], held, labels)
    yield from contrast_blocks.swapped(f"{name}_accuracy", found)
    columns = data.columns(salient=False)
    if len(columns):
        truth, known = learnt.factors_of(real, columns), data.factors_of(rows, columns)
        kept = swap_preservation(x, truth, images, known, held, known)
        yield from contrast_blocks.swapped(f"{name}_preservation", kept)


def _sap(data: Encoded) -> Iterator[Measurement]:
    """SAP score: the gap between the two latents that predict a factor best (on request)."""
    yield from latent_blocks.resampled(data.truths(lines=True), sap, {"sap": "sap"}, data.seeds)


def _mig(data: Encoded) -> Iterator[Measurement]:
    """Mutual information gap: between the two latents that tell most of a factor (on request)."""
    yield from latent_blocks.resampled(data.truths(), mig, {"mig": "mig"}, data.seeds)


def _dci(data: Encoded) -> Iterator[Measurement]:
    """Disentanglement, completeness and informativeness, from the importances of boosted trees (on request)."""
    fields = {f"dci_{field}": field for field in ("disentanglement", "completeness", "informativeness")}
    yield from latent_blocks.resampled(data.truths(), dci, fields, data.seeds, least=2)


def _modularity(data: Encoded) -> Iterator[Measurement]:
    """Modularity: whether each latent tells of one factor only (on request)."""
    yield from latent_blocks.resampled(data.truths(), modularity, {"modularity": "modularity"}, data.seeds, least=2)


def _explicitness(data: Encoded) -> Iterator[Measurement]:
    """Explicitness: whether every value of a factor can be read by a linear classifier (on request)."""
    yield from latent_blocks.resampled(data.truths(), explicitness, {"explicitness": "explicitness"}, data.seeds)


def _z_diff(data: Encoded) -> Iterator[Measurement]:
    """Z-diff score: whether differences of codes tell which factor two rows share (on request)."""
    yield from latent_blocks.differences(data.truths())


def _factor_vae_score(data: Encoded) -> Iterator[Measurement]:
    """FactorVAE score: whether the latent that varies least tells which factor was fixed (on request)."""
    yield from latent_blocks.votes(data.truths())


def _attributes(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of binary factors along the difference of their means, and that of guessing (on request)."""
    codes, truth, names, split = _binary_factors(data)
    salient = np.array([name.startswith("salient") for name in names])
    held = {
        block: ~salient & (block not in blocks.WITHOUT_FACTORS) | salient & (block not in blocks.WITHOUT_CLASS)
        for block in codes
    }
    yield from latent_blocks.attributed(codes, truth, held, split)


def _per_attribute(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of every binary factor by itself, along the difference of its means, and that of guessing (on request)."""
    yield from latent_blocks.attributed_each(*_binary_factors(data))


def _binary_factors(data: Encoded) -> tuple[Mapping[str, Array], Array, list[str], Split | None]:
    """Return codes, the factors of 0 and 1, their names, and which rows to learn from, if others than the scored ones."""
    columns = data.attribute_columns()
    codes, truth, split = data.joined(partial(Encoded.factors, salient=False, columns=columns))
    return codes, truth, blocks.score_names([data.samples.factor_names[j] for j in columns]), split


def _unsupervised(data: Encoded) -> Iterator[Measurement]:
    """How much the latents of each block repeat each other, told without labels (on request)."""
    yield from latent_blocks.repeated(data.latents, data.seeds)


# What `evaluate` does by itself comes first, in the order of its scores; what it does on request follows.
BY_DEFAULT: Mapping[str, Callable[[Encoded], Iterator[Measurement]]] = {
    "probe": _probe,
    "clustering": _clustering,
    "agreement": _agreement,
    "factors": _factors,
    "leakage": _leakage,
    "groups": _groups,
    "w2": _w2,
    "reading": class_metrics.read,
    "transfer": class_metrics.moved,
    "reconstruction": _reconstruction,
}
METRICS: Mapping[str, Callable[[Encoded], Iterator[Measurement]]] = {
    **BY_DEFAULT,
    "regression": _regression,
    "per_class": _per_class,
    "per_factor": _per_factor,
    "swap": _swap,
    "translation": _translation,
    "transfer_lpips": class_metrics.moved_by_lpips,
    "landmarks": class_metrics.placed,
    "sap": _sap,
    "mig": _mig,
    "dci": _dci,
    "modularity": _modularity,
    "explicitness": _explicitness,
    "z_diff": _z_diff,
    "factor_vae_score": _factor_vae_score,
    "attributes": _attributes,
    "per_attribute": _per_attribute,
    "unsupervised": _unsupervised,
    "probe_factors": _probe_factors,
    "realism": _realism,
}
# Raised by one whenever the same codes would get another number, with a word in the metric's docstring and in the changelog.
VERSIONS: Mapping[str, int] = {**dict.fromkeys(METRICS, 1), "reading": 2, "swap": 2}
