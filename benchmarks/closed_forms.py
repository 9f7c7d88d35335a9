"""Contrastive PCA, each time in a new process: a first call on small data, images of 64 x 64, and many samples.

`python -m benchmarks.closed_forms images 4282` fits the images once, and prints seconds, seconds of CPU and megabytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from time import perf_counter, process_time

import numpy as np

from benchmarks import new_process
from benchmarks.figures import Figure, Round, figure, medians

# The name of the figure, what is fitted, samples, samples of a quick run, rounds, and the seconds that it may take.
SIZES = (
    ("a first fit of 405 x 77 in a new process, with its imports", "small", 405, 40, 7, 2.0),
    ("contrastive PCA of {n:,} images of 3 x 64 x 64", "images", 4282, 60, 3, 8.0),
    ("contrastive PCA of {n:,} x 2,000", "vectors", 100_000, 60, 3, 60.0),
)


def contrastive_pca(quick: bool) -> Iterator[Figure]:
    """The seconds of contrastive PCA with an alpha from its sweep, and the memory that it takes beside the samples."""
    for name, kind, samples, few, times, bound in SIZES:
        n, rounds = (few, 1) if quick else (samples, times)
        measured: list[Round] = [_measure(kind, n) for _ in range(rounds)]
        detail = {"samples": n, "rounds": rounds, "medians": medians(measured)}
        seconds = [one["seconds"] for one in measured]
        yield figure(name.format(n=n), seconds, unit="s", bound=bound, direction="below", detail=detail)
        if kind == "vectors":
            ratio = [one["megabytes"] / one["samples"] for one in measured]
            yield figure(
                f"peak memory of {n:,} x 2,000 over the samples'", ratio, bound=None if quick else 2.0, direction="below"
            )


def _measure(kind: str, n: int) -> Round:
    start = perf_counter()
    measured = new_process.run("-m", "benchmarks.closed_forms", kind, str(n))
    return {**measured, "seconds": perf_counter() - start} if kind == "small" else measured


def draw(kind: str, n: int) -> np.ndarray:
    """Return samples, half of them targets, whose variances decay as those of images do."""
    rng = np.random.default_rng(0)
    features = {"small": 77, "images": 3 * 64 * 64, "vectors": 2000}[kind]
    axes = rng.standard_normal((min(256, features), features), dtype=np.float32)
    axes *= np.arange(1, len(axes) + 1, dtype=np.float32)[:, None] ** -0.8
    x = np.empty((n, features), dtype=np.uint8 if kind == "images" else np.float32)
    for start in range(0, n, 1000):
        z = rng.standard_normal((min(1000, n - start), len(axes)), dtype=np.float32)
        z[: max(0, min(len(z), n // 2 - start)), 3:5] *= 3
        one = z @ axes + 0.1 * rng.standard_normal((len(z), features), dtype=np.float32)
        x[start : start + 1000] = np.clip(128 + 16 * one, 0, 255) if kind == "images" else one
    return x.reshape(n, 3, 64, 64) if kind == "images" else x


def main(kind: str, n: int) -> None:
    """Fit once, and print what it took as JSON."""
    x = draw(kind, n)
    groups = (np.arange(n) < n // 2).astype(np.int64)
    from untwine import ContrastivePCA, Samples  # what they take, the first size measures from outside

    start, cpu = perf_counter(), process_time()
    ContrastivePCA().fit(Samples(x, groups=groups))
    seconds = {"seconds": perf_counter() - start, "cpu": process_time() - cpu}
    print(json.dumps({**seconds, "megabytes": new_process.megabytes(), "samples": x.nbytes / 2**20}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
