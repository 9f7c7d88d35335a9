"""`python -m benchmarks.waiting`: two threads that sleep while they wait beside two that spin, on a machine that is busy.

As many other processes as there are cores keep the machine busy. The command line and the workers of studies make waiting
threads sleep (`untwine.training.threads`); by default OpenMP lets them spin.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from statistics import median

from untwine.training.threads import WAIT_POLICY, WAIT_VARIABLES

BUSY = "while True: pass"
FIT = """
import time
import untwine as un
import torch
torch.set_num_threads(2)
data = un.load("toy_contrast", n_target=1000, n_background=1000)
un.PrincipledVAE(epochs=1, width=256).fit(data.train)
began = time.perf_counter()
un.PrincipledVAE(epochs=3, width=256).fit(data.train)
print(time.perf_counter() - began)
"""
ROUNDS = 3


def main() -> int:
    """Print the seconds of both in each round, and the median of their ratios."""
    usual = {name: value for name, value in os.environ.items() if name not in WAIT_VARIABLES} | {"OMP_NUM_THREADS": "2"}
    ratios = []
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(busy.kill)
        for _ in range(ROUNDS):
            spinning, sleeping = seconds(usual), seconds(usual | dict(WAIT_POLICY))
            ratios.append(spinning / sleeping)
            print(f"spinning {spinning:.1f} s, sleeping {sleeping:.1f} s", flush=True)
    print(f"Threads that spin take {median(ratios):.1f} times as long ({min(ratios):.1f} to {max(ratios):.1f}).")
    return 0


def seconds(environment: dict[str, str]) -> float:
    """Return the seconds of a short fit with two threads in a new process."""
    done = subprocess.run([sys.executable, "-c", FIT], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
