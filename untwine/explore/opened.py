"""A run that is explored: its fitted method, its samples and their codes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from untwine._typing import Array
from untwine.evaluation.run import DIGITS, checked_run_data
from untwine.latents import Latents
from untwine.method.blocks import block_or_default
from untwine.method.contract import Method
from untwine.methods import load_method
from untwine.metrics.scored_samples import class_balanced_order, target_mask
from untwine.registry.blocks import names_of, width
from untwine.runs.gallery import read_gallery
from untwine.samples import Samples

MAX_SAMPLES = 20_000
MAX_CODES = 2**27  # numbers in all blocks of all samples: half a gigabyte
BATCH = 256  # samples that are encoded before other requests get their turn
MAX_DONORS = 500  # samples that new codes are drawn near to
STARTS = 4  # samples that the page begins with
SPAN = (0.01, 0.99)  # the quantiles between which a slider moves


class Shown(NamedTuple):
    """The samples that are explored.

    Attributes
    ----------
    samples
        Every `step`-th sample of the split.
    step
        1 where all are explored.
    of
        "test", the test split of the run's data, or "gallery", the originals of the run's gallery.
    fingerprint
        The start of the fingerprint of the whole split.
    note
        A sentence about what is missing; empty where nothing is.
    """

    samples: Samples
    step: int
    of: str
    fingerprint: str
    note: str


@dataclass(eq=False)
class SharedData:
    """The test splits that are in memory: runs on the same data share one, as long as one of them is explored."""

    known: WeakValueDictionary[str, Samples] = field(default_factory=WeakValueDictionary)
    fingerprints: dict[str, str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def test_split(self, method: Method, folder: Path) -> tuple[Samples, str]:
        """Return the test split of the data that a run was fitted on, and the start of its fingerprint."""
        key = json.dumps([method.data_, list(method.feature_names)], sort_keys=True, default=str)
        with self.lock:
            samples = self.known.get(key)
            if samples is None:
                samples = checked_run_data(method, folder).test
                self.known[key], self.fingerprints[key] = samples, samples.fingerprint()[:DIGITS]
            return samples, self.fingerprints[key]


class Opened:
    """A fitted method with the samples that are explored and their codes; encoding and decoding take turns.

    Parameters
    ----------
    folder
        The run folder.
    method
        The fitted method.
    shown
        The samples.
    progress
        Called with the number of samples that are encoded so far.
    """

    def __init__(self, folder: Path, method: Method, shown: Shown, progress: Callable[[int], None] = lambda n: None) -> None:
        self.folder, self.method, self.shown, self.samples = folder, method, shown, shown.samples
        self._lock = Lock()
        self.codes = self._encode_all(progress)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def is_image(self) -> bool:
        """Whether a sample is shown as an image: images, and volumes by their middle slices."""
        return self.samples.is_image or self.samples.is_volume

    @cached_property
    def changed_block(self) -> str | None:
        """The block that is removed and swapped unless another is named: salient or class; None where there is a single one."""
        return block_or_default(self.method, None) if len(self.codes) > 1 else None

    @cached_property
    def blocks(self) -> dict[str, int]:
        """The width of each block by its name, with `salient` where it stands for those of several targets."""
        return {block: width(block, self.method.blocks) for block in names_of(self.codes)}

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features of vectors, numbered where they have none."""
        if self.is_image:
            return ()
        return self.samples.feature_names or tuple(f"feature {i}" for i in range(self.samples.shape[0]))

    @cached_property
    def feature_std(self) -> Array:
        """The standard deviation (d,) of each feature over the samples; 1 where it is constant."""
        x, total, squares = self.samples.x, np.zeros(self.samples.shape), np.zeros(self.samples.shape)
        centre = self.x([0])[0].astype(np.float64)
        for start in range(0, len(self), BATCH):
            some = self.x(slice(start, start + BATCH)) - centre
            total, squares = total + some.sum(axis=0), squares + np.square(some).sum(axis=0)
        std = np.sqrt(np.maximum(squares / x.shape[0] - np.square(total / x.shape[0]), 0.0))
        return np.where(std > 0, std, 1.0)

    @cached_property
    def donors(self) -> Array:
        """The positions of the samples that new codes are drawn near to: the first targets, or the first samples."""
        return np.flatnonzero(target_mask(self.samples.groups, len(self)))[:MAX_DONORS]

    @cached_property
    def starts(self) -> list[int]:
        """The positions of a few samples to begin with: targets of different classes, at random but always the same."""
        targets = np.flatnonzero(target_mask(self.samples.groups, len(self)))
        order = class_balanced_order(self.samples.labels, targets, np.random.default_rng(0))
        return [int(i) for i in order[:STARTS]] or [0]

    @cached_property
    def ranges(self) -> Mapping[str, tuple[Array, Array, Array]]:
        """By block the lowest and the highest usual code (w,) of each latent, and its standard deviation."""
        blocks = {block: self.codes[block] for block in self.blocks}
        return {
            block: (*np.quantile(codes, SPAN, axis=0), codes.std(axis=0, dtype=np.float64)) for block, codes in blocks.items()
        }

    def x(self, positions: Any) -> Array:
        """Return some of the samples as an array, also where they are kept sparse."""
        return self.samples.dense(positions)

    def encode(self, samples: Samples) -> Latents:
        """Infer codes, while no other request does."""
        with self._lock:
            return self.method.encode(samples)

    def decode(self, latents: Latents) -> Array:
        """Decode codes, while no other request does."""
        with self._lock:
            return self.method.decode(latents)

    def take(self, positions: Sequence[int] | Array) -> Latents:
        """Return the codes of some of the samples."""
        return self.codes.take(np.asarray(positions))

    def nearest(self, position: int, block: str, k: int) -> tuple[Array, Array]:
        """Return the positions of the samples whose codes of a block are nearest, the nearest first, and their distances."""
        codes = self.codes[block]
        distances = np.sqrt(np.square(codes - codes[position]).sum(axis=1, dtype=np.float64))
        distances[position] = np.inf
        k = min(k, len(codes) - 1)
        near = np.argpartition(distances, k)[:k] if k < len(codes) - 1 else np.flatnonzero(np.isfinite(distances))
        near = near[np.argsort(distances[near], kind="stable")]
        return near, distances[near]

    def _encode_all(self, progress: Callable[[int], None]) -> Latents:
        batches = []
        for start in range(0, len(self.samples), BATCH):
            batches.append(self.encode(self.samples[start : start + BATCH]))
            progress(min(start + BATCH, len(self.samples)))
        return joined(batches)


def joined(latents: Sequence[Latents]) -> Latents:
    """Return the codes of several, one after the other, with what is known of their samples."""
    first = latents[0]
    return Latents(
        {block: np.concatenate([z[block] for z in latents]) for block in first},
        first.neutral,
        {name: np.concatenate([z.conditions[name] for z in latents]) for name in first.conditions},
    )


def open_run(folder: Path, shared: SharedData, progress: Callable[[int, int], None]) -> Opened:
    """Load a run folder with the test split of its data or, where that is not there, with the samples of its gallery.

    `progress` is called with how many samples are encoded, and of how many.
    """
    method = load_method(folder)
    try:
        samples, fingerprint = shared.test_split(method, folder)
        shown = thin(samples, "test", fingerprint, sum(method.blocks.values()))
    except (ValueError, TypeError, OSError, ImportError) as error:
        shown = gallery_samples(folder, method, str(error))
    return Opened(folder, method, shown, lambda n: progress(n, len(shown.samples)))


def thin(samples: Samples, of: str, fingerprint: str, n_latents: int) -> Shown:
    """Return every k-th sample, so that there are not more than can be explored, with a sentence if some are left out."""
    step = max(-(-len(samples) // MAX_SAMPLES), -(-len(samples) * n_latents // MAX_CODES))
    volumes = "Volumes are shown by their middle slices. " if samples.is_volume else ""
    if step == 1:
        return Shown(samples, 1, of, fingerprint, volumes.strip())
    shown = samples[::step]
    note = f"{volumes}The test split has {len(samples):,} samples; these are {len(shown):,} of them, one in {step}."
    return Shown(shown, step, of, fingerprint, note)


def gallery_samples(folder: Path, method: Method, reason: str) -> Shown:
    """Return the samples in the gallery of a run, whose data is not there for that reason; refuse a run without a gallery."""
    gallery = read_gallery(folder)
    if gallery is None or gallery.targets is None:
        raise ValueError(
            f"The data of this run cannot be read ({reason.rstrip('.')}), and it has no gallery; run untwine evaluate where "
            "the data is."
        )
    sets = [gallery.targets.originals] + ([] if gallery.background is None else [gallery.background.originals])
    groups = np.repeat([1, 0], [len(sets[0]), sum(map(len, sets[1:]))])
    samples = Samples(np.concatenate(sets), groups=None if len(sets) == 1 else groups)
    if samples.shape != method.shape_:
        raise ValueError(
            f"The data of this run cannot be read ({reason.rstrip('.')}), and its gallery has slices of its volumes "
            "alone, which cannot be encoded; put the data back."
        )
    note = (
        f"The data of this run cannot be read ({reason.rstrip('.')}); these are the {len(samples)} samples that "
        "its gallery holds."
    )
    return Shown(samples, 1, "gallery", samples.fingerprint()[:DIGITS], note)
