"""This version beside another checkout of untwine: `python -m benchmarks --against FOLDER`.

Each version has a process that stays for all rounds and fits the same methods to the same samples; one runs at a time. The
methods are named by words that every version knows, so the other checkout may be an old one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from benchmarks.figures import Figure, figure, interleaved, medians

ROOT = Path(__file__).parents[1]


class Task(NamedTuple):
    """A fit: the shape of a sample, how many there are, the method and its options, and the rounds."""

    shape: tuple[int, ...]
    samples: int
    method: str
    options: dict[str, Any]
    rounds: int


# What a version chooses by itself is given by hand, so that both take the same steps.
ONE_BLOCK = {"n_latent": 10, "scale": 0.16, "epochs": 1, "batch": 128}
TWO_BLOCKS = {"n_common": 8, "n_salient": 8, "epochs": 1, "batch": 64}
TASKS = {
    "VAE of vectors, tiny": Task((20,), 12800, "VAE", {**ONE_BLOCK, "networks": "mlp", "width": 8}, 41),
    "VAE of images, fully connected": Task((3, 32, 32), 2048, "VAE", {**ONE_BLOCK, "networks": "mlp"}, 31),
    "VAE of images, convolutions": Task((3, 32, 32), 512, "VAE", {**ONE_BLOCK, "networks": "conv"}, 31),
    "principled VAE": Task((3, 32, 32), 1024, "PrincipledVAE", {**TWO_BLOCKS, "scale": 0.32, "networks": "conv"}, 21),
    "double InfoGAN": Task((3, 32, 32), 512, "DoubleInfoGAN", {**TWO_BLOCKS, "networks": "dcgan", "width": 16}, 21),
    "LORD": Task(
        (1, 32, 32), 64, "LORD", {"networks": "adain", "width": 8, "epochs": 1, "epochs_encoders": 20, "batch": 64}, 11
    ),
}
# The seconds of a fit are those from the first optimizer to the last epoch.
WORKER = """
import json, sys
from time import perf_counter
import numpy as np, torch
import untwine
tasks, threads = json.loads(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(threads)

def fit(shape, n, name, options):
    x = np.random.default_rng(0).integers(0, 256, (n, *shape)).astype(np.uint8 if len(shape) == 3 else np.float32)
    parent, spent = getattr(untwine, name), []
    class Clocked(parent):
        def stages(self):
            start = perf_counter()
            yield from super().stages()
            spent.append(perf_counter() - start)
    y = None if name == "VAE" else np.arange(n) % (2 if name != "LORD" else 8)
    Clocked(**options, device="cpu").fit(x, y)
    return spent[0]

for line in sys.stdin:
    print(fit(*tasks[line.strip()]), flush=True)
"""


def against(other: Path, quick: bool) -> Iterator[Figure]:
    """Speed of this version over that of another checkout, for a few methods."""
    with _running(ROOT) as this, _running(other) as that:
        for name, task in TASKS.items():
            measured = interleaved({"this": partial(this, name), "other": partial(that, name)}, 1 if quick else task.rounds)
            ratios = [one["other"] / one["this"] for one in measured]
            detail = {"samples": task.samples, "rounds": len(measured), "seconds": medians(measured, 4)}
            yield figure(f"{name}: this version over the other", ratios, bound=0.97, detail=detail)


@contextmanager
def _running(checkout: Path) -> Iterator[Callable[[str], float]]:
    """Start a process with the untwine of a checkout, and give a function that fits a task there and returns its seconds."""
    tasks = {name: tuple(task)[:4] for name, task in TASKS.items()}
    command = [sys.executable, "-c", WORKER, json.dumps(tasks), str(torch.get_num_threads())]
    with ExitStack() as stack:
        # The interpreter looks in its working directory first, so it imports the checkout's own package.
        process = stack.enter_context(
            subprocess.Popen(command, cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        )
        sent, received = process.stdin, process.stdout
        assert sent is not None
        assert received is not None

        def seconds(name: str) -> float:
            print(name, file=sent, flush=True)
            return float(received.readline())

        yield seconds
