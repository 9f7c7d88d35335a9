"""Instructions that a step takes, beside those of another checkout: `python -m benchmarks --against FOLDER --instructions`.

Where a machine is so noisy that one version timed against itself varies by more than the difference that is looked for, times
do not tell. Valgrind counts the instructions that a process executes, the same in every run whatever else the machine does. A
fit of some epochs is counted and a longer one; the difference is that of the steps alone. Kernels are the portable ones, as
Valgrind knows no newer vector instructions, so this compares the work around the kernels: what the loop, the optimizer and the
method's step add. It needs Debian's package valgrind.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.against import ROOT, TASKS, Task
from benchmarks.figures import Figure, figure

COUNTED = ("VAE of vectors, tiny", "VAE of images, fully connected", "principled VAE")
STEPS = 8  # of an epoch
EPOCHS = (1, 11)
PORTABLE = {"ATEN_CPU_CAPABILITY": "default", "DNNL_MAX_CPU_ISA": "SSE41", "OPENBLAS_CORETYPE": "Nehalem"}
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
WORKER = """
import json, sys
import numpy as np, torch
import untwine
shape, n, name, options = json.loads(sys.argv[1])
torch.set_num_threads(1)
x = np.random.default_rng(0).integers(0, 256, (n, *shape)).astype(np.uint8 if len(shape) == 3 else np.float32)
getattr(untwine, name)(**options, device="cpu").fit(x, None if name == "VAE" else np.arange(n) % 2)
"""


def available() -> bool:
    """Whether Valgrind is installed."""
    return shutil.which("valgrind") is not None


def instructions(other: Path) -> Iterator[Figure]:
    """Instructions of a step of another checkout over those of this version, for a few methods."""
    for name in COUNTED:
        counts = {side: _of_step(checkout, TASKS[name]) for side, checkout in (("this", ROOT), ("other", other))}
        detail = {"thousand instructions a step": {side: round(count / 1e3) for side, count in counts.items()}}
        ratio = [counts["other"] / counts["this"]]
        yield figure(f"{name}: instructions, the other over this version", ratio, bound=0.98, detail=detail)


def _of_step(checkout: Path, task: Task) -> float:
    short, long = (_count(checkout, task, epochs) for epochs in EPOCHS)
    return (long - short) / ((EPOCHS[1] - EPOCHS[0]) * STEPS)


def _count(checkout: Path, task: Task, epochs: int) -> int:
    """Return the instructions of a whole process that fits for so many epochs."""
    batch = task.options["batch"]
    samples = STEPS * batch * (1 if task.method == "VAE" else 2)
    worker = json.dumps([task.shape, samples, task.method, {**task.options, "epochs": epochs}])
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, sys.executable, "-c", WORKER, worker],
        cwd=checkout,
        env={**os.environ, **PORTABLE, **ONE_THREAD},
        capture_output=True,
        text=True,
        check=True,
    )
    counted = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if counted is None:
        raise RuntimeError(f"Valgrind must print how many instructions were executed; got {done.stderr[-300:]!r}.")
    return int(counted[1].replace(",", ""))
