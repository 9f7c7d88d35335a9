"""Encode once, score every block: what should be there and what should not; and the pictures that show it."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from untwine import files
from untwine.latents import Latents
from untwine.metrics import blocks, tsne
from untwine.metrics.blocks import FOLDS, Measured
from untwine.metrics.rows import factor_table, labelled_rows, target_rows, varied_rows
from untwine.progress import bar
from untwine.samples import Samples

Array = NDArray[Any]

DECODED_AT_ONCE = 1_000
PLANE_TARGETS, PLANE_BACKGROUNDS = 1_500, 500
SWAPPED, STEPS = 6, 8


class Fitted(Protocol):
    """What is asked of a method here: that it was fitted, encodes and decodes."""

    def encode(self, x: Array, /) -> Latents:
        """Return the codes of rows."""

    def decode(self, latents: Latents, /) -> Array:
        """Return the rows of codes."""


@dataclass(frozen=True)
class Score:
    """One number with its name, 95 % interval, rows, seconds and direction ("higher", "lower" or "info")."""

    name: str
    value: float
    low: float
    high: float
    n: int
    seconds: float
    direction: str

    def to_json(self) -> dict[str, Any]:
        """Return what `scores.json` keeps under the score's name."""
        return {key: value for key, value in asdict(self).items() if key != "name"}


class Encoded(NamedTuple):
    """Samples with their codes, and how many resamples an interval takes."""

    method: Fitted
    samples: Samples
    latents: Latents
    seeds: int

    def labelled(self) -> tuple[Latents, Array]:
        """Return codes and labels of the targets with a known label, of classes with a row for every fold."""
        labels = self.samples.labels
        rows = labelled_rows(labels, target_rows(self.samples.groups, len(self.samples)), FOLDS)
        return self.latents.take(rows), rows if labels is None else labels[rows]

    def factors(self, salient: bool) -> tuple[Latents, Array]:
        """Return codes and factors of the targets: the factors named "salient ...", or all the others."""
        target = target_rows(self.samples.groups, len(self.samples))
        table = factor_table(self.samples.factors, self.samples.factor_names, target, 2 * FOLDS, salient)
        return self.latents.take(target), table

    def lacks(self, metric: str) -> str:
        """Return what the metric needs and does not find here, and what to do; nothing if all is there."""
        targets = int(target_rows(self.samples.groups, len(self.samples)).sum())
        if metric in ("clustering", "probe") and len(np.unique(self.labelled()[1])) < 2:
            return f"at least 2 classes of {FOLDS} labelled target rows each, but there are none; pass samples with labels"
        if metric == "factors" and not any(self.factors(salient)[1].size for salient in (False, True)):
            return f"a factor that varies over {2 * FOLDS} known target rows, but there is none; pass samples with factors"
        if metric == "w2" and "common" not in self.latents:
            return f"a block 'common', but the method has {', '.join(self.latents)}; evaluate a contrastive method"
        if metric == "w2" and not 2 <= targets <= len(self.samples) - 2:
            return "2 rows of target and of background, but there are fewer; pass Samples.contrast(target=..., background=...)"
        return ""


def _probe(data: Encoded) -> Iterator[Measured]:
    """Accuracy of a linear classifier of the label, held out, for each block."""
    yield from blocks.probed(*data.labelled())


def _clustering(data: Encoded) -> Iterator[Measured]:
    """Accuracy of k-means in the t-SNE plane of each block, that of shuffled labels, and the label's silhouette."""
    yield from blocks.clustered(*data.labelled(), data.seeds)


def _factors(data: Encoded) -> Iterator[Measured]:
    """R2 of a linear map to the factors, held out, for each block; factors named "salient ..." apart."""
    for salient in (False, True):
        codes, truth = data.factors(salient)
        yield from blocks.explained(codes, truth, salient) if truth.size else ()


def _w2(data: Encoded) -> Iterator[Measured]:
    """Squared Wasserstein distance of target and background in the common block, also over the codes' mean squared norm."""
    codes, target = data.latents["common"], target_rows(data.samples.groups, len(data.samples))
    yield from blocks.transported(codes[target], codes[~target], data.seeds)


def _reconstruction(data: Encoded) -> Iterator[Measured]:
    """Mean squared error of decoded rows, per element; pictures on [0, 1]."""
    batches = (slice(i, i + DECODED_AT_ONCE) for i in range(0, len(data.samples), DECODED_AT_ONCE))
    yield from blocks.reconstructed((data.samples.x[b], data.method.decode(data.latents.take(b))) for b in batches)


METRICS: Mapping[str, Callable[[Encoded], Iterator[Measured]]] = {
    "probe": _probe,
    "clustering": _clustering,
    "factors": _factors,
    "w2": _w2,
    "reconstruction": _reconstruction,
}


def evaluate(
    method: Fitted, samples: Samples, metrics: Sequence[str] | None = None, seeds: int = 5, progress: bool = False
) -> dict[str, Score]:
    """Return the scores of every block of a fitted method, by name: "probe.salient", "probe.common", and so on.

    Labels and factors are scored on target rows where they are known (all rows are targets where there are no groups);
    classes of fewer than 5 rows are left out. A factor named "salient ..." is a truth of the salient part, scored as
    "factors_salient.<block>"; every other factor is one of the common part, scored as "factors.<block>".

    Parameters
    ----------
    metrics
        Names from `METRICS`; all that the samples allow where not given.
    seeds
        How many random halves the intervals of clustering and w2 rest on; those of probe and factors rest on folds.
    progress
        Whether to show a bar.
    """
    if isinstance(metrics, str):
        raise TypeError(f"metrics expected a list of names, but got the single string {metrics!r}; wrap it in a list.")
    unknown = [name for name in metrics or () if name not in METRICS]
    if unknown:
        raise ValueError(f"metrics expected names among {', '.join(METRICS)}, but got {unknown[0]!r}; choose from those.")
    if seeds < 2:
        raise ValueError(f"seeds expected at least 2, to make an interval of, but got {seeds}.")
    data = Encoded(method, samples, method.encode(samples.x), seeds)
    for name in metrics or ():
        if lack := data.lacks(name):
            raise ValueError(f"the metric {name!r} expected {lack}, or leave {name!r} out.")
    scores: dict[str, Score] = {}
    names = [name for name in METRICS if (name in metrics if metrics is not None else not data.lacks(name))]
    with bar("scoring", len(names), progress) as advance:
        for done, name in enumerate(names):
            began = time.perf_counter()
            for found in METRICS[name](data):
                seconds, began = time.perf_counter() - began, time.perf_counter()
                scores[found.name] = Score(found.name, found.value, *found.interval, found.n, seconds, found.direction)
            advance(done + 1, partial(str, name))
    return scores


def gallery(method: Fitted, samples: Samples, seed: int = 0, pictures: int = 10) -> dict[str, Array]:
    """Return the arrays that show what came apart, ready to be drawn; pictures as uint8.

    `originals` and `reconstructions` of targets of different classes; for pictures taken apart into common and salient also
    `only_common`, `only_salient`, `background_originals`, `background_reconstructions`, `swap_grid` (row i has the common part
    of `swap_common[i]`, column j the salient part of `swap_salient[j]`) and `interpolation` (bilinear between four salient
    codes, with the common code of the first, at [0, 0]). For every block the t-SNE `plane_<block>` of targets and background
    together, with `plane_labels` (-1 unknown), `plane_groups`, `label_names` and `group_names`.
    """
    rng, target = np.random.default_rng(seed), target_rows(samples.groups, len(samples))
    order, others = varied_rows(samples.labels, np.flatnonzero(target), rng), rng.permutation(np.flatnonzero(~target))
    x = samples.x[order[:pictures] if len(order) else others[:pictures]]
    z = method.encode(x)
    arrays = {"originals": x, "reconstructions": method.decode(z)}
    if samples.is_image and {"common", "salient"} <= set(z) and len(order) and len(others):
        y = samples.x[others[:pictures]]
        arrays |= {"only_common": method.decode(z.remove("salient")), "only_salient": method.decode(z.remove("common"))}
        arrays |= {"background_originals": y, "background_reconstructions": method.decode(method.encode(y))}
        arrays |= _recombined(method, samples.x, order)
    if samples.is_image:
        arrays = {name: _bytes(array) for name, array in arrays.items()}
    return arrays | _planes(method, samples, np.concatenate([order[:PLANE_TARGETS], others[:PLANE_BACKGROUNDS]]), seed)


def _recombined(method: Fitted, x: Array, order: Array) -> dict[str, Array]:
    """Return the grids of swapped and of interpolated codes; few rows are used several times."""
    k = min(SWAPPED, len(order))
    rows, columns = order[:k], order[np.arange(k, 2 * k) % len(order)]
    i, j = np.divmod(np.arange(k * k), k)
    swapped = method.encode(x[rows]).take(i).swap(method.encode(x[columns]).take(j), "salient")
    corners = method.encode(x[order[np.arange(4) % len(order)]])
    down, right = (t.ravel()[:, None] for t in np.meshgrid(*[np.linspace(0, 1, STEPS)] * 2, indexing="ij"))
    weights = np.hstack([(1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right])
    between = Latents({"salient": (weights @ corners.salient).astype(corners.salient.dtype)})
    mixed = corners.take(np.zeros(STEPS**2, dtype=int)).swap(between, "salient")
    return {
        "swap_common": x[rows],
        "swap_salient": x[columns],
        "swap_grid": method.decode(swapped).reshape(k, k, *x.shape[1:]),
        "interpolation": method.decode(mixed).reshape(STEPS, STEPS, *x.shape[1:]),
    }


def _planes(method: Fitted, samples: Samples, rows: Array, seed: int) -> dict[str, Array]:
    planes = {f"plane_{block}": tsne(codes, seed) for block, codes in method.encode(samples.x[rows]).items()}
    return planes | {
        "plane_labels": np.full(len(rows), -1) if samples.labels is None else samples.labels[rows],
        "plane_groups": np.ones(len(rows), dtype=int) if samples.groups is None else samples.groups[rows],
        "label_names": np.array(samples.label_names, dtype=np.str_),
        "group_names": np.array(samples.group_names or ("background", "target"), dtype=np.str_),
    }


def _bytes(x: Array) -> Array:
    return x if x.dtype == np.uint8 else np.rint(np.clip(x, 0, 1) * 255).astype(np.uint8)


def write_scores(path: str | os.PathLike[str], scores: Mapping[str, Score]) -> None:
    """Write `scores.json`, whole or not at all."""
    files.write_json(path, {name: found.to_json() for name, found in scores.items()})


def save_gallery(path: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write the arrays of `gallery` as npz without objects, whole or not at all."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    files.write(path, content.getvalue())
