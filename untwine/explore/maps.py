"""The blocks of a run in two dimensions: PCA at once, t-SNE when it is ready; kept in memory."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Literal, NamedTuple, get_args

import numpy as np

from untwine._typing import Array
from untwine.explore import tsne_process
from untwine.explore.workers import Worker

Plane = Literal["pca", "tsne"]
PLANES: tuple[str, ...] = get_args(Plane)
MAX_DIMENSIONS = 50  # of a block whose t-SNE is taken; wider ones are projected on so many principal components
SAMPLES_FOR_COMPONENTS = 5_000  # samples that the principal components of a very wide block are taken of
WIDE = 1_000


class Map(NamedTuple):
    """A plane of a block: its points (n, 2) once they are there; or a sentence, if they cannot be computed."""

    points: Array | None = None
    error: str = ""


class Maps:
    """The planes of all blocks of one run.

    Parameters
    ----------
    codes
        The codes of each block.
    worker
        Computes the t-SNE planes, one after the other, as they are asked for.
    """

    def __init__(self, codes: Mapping[str, Array], worker: Worker) -> None:
        self._codes, self._worker = codes, worker
        self._maps: dict[tuple[str, str], Map] = {}
        self._lock = Lock()

    def get(self, block: str, plane: str) -> Map:
        """Return a plane; that of t-SNE is empty until it is computed, which the first call asks for."""
        with self._lock:
            known = self._maps.get((block, plane))
            if known is None and plane == "tsne":
                known = self._maps[block, plane] = Map()
                self._worker.submit(lambda: self._compute(block))
        if known is None:
            known = Map(principal_components(self._codes[block], 2))
            with self._lock:
                self._maps[block, plane] = known
        return known

    def _compute(self, block: str) -> None:
        codes = self._codes[block]
        try:
            narrow = codes if codes.shape[1] <= MAX_DIMENSIONS else principal_components(codes, MAX_DIMENSIONS)
            done = Map(tsne_process.plane(narrow).astype(np.float32))
        except Exception as error:  # there is nobody to raise it to: the page shows it
            done = Map(error=f"t-SNE of the {block} block failed: {error}")
        with self._lock:
            self._maps[block, "tsne"] = done


def principal_components(codes: Array, k: int) -> Array:
    """Return the first k principal components (n, k) of codes (n, d), with zeros where there are fewer; signs are fixed.

    Of blocks of more than 1,000 dimensions the components are those of 5,000 samples.
    """
    centred = codes - codes.mean(axis=0, dtype=np.float64).astype(codes.dtype)
    some = centred
    if codes.shape[1] > WIDE and len(codes) > SAMPLES_FOR_COMPONENTS:
        some = centred[np.linspace(0, len(codes) - 1, SAMPLES_FOR_COMPONENTS).astype(int)]
    if some.shape[0] < some.shape[1]:
        axes = np.linalg.svd(some, full_matrices=False)[2][:k]
    else:
        axes = np.linalg.eigh(some.T @ some)[1][:, ::-1].T[:k]
    # The sign of an axis is free: the largest entry is positive, so that the same codes give the same plane.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    points = np.zeros((len(codes), k), dtype=np.float32)
    points[:, : len(axes)] = centred @ axes.T
    return points
