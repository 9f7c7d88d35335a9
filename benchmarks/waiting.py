"""`python -m benchmarks.waiting`: two threads that sleep while they wait beside two that spin, on a machine that is busy.

As many other processes as there are cores keep the machine busy. The command line and the workers of studies make waiting
threads sleep (`untwine.training.threads`); by default OpenMP lets them spin. Each side trains for a fixed time and counts its
epochs, so that the end does not depend on how much slower one of them is; `--quick` shortens the time and takes one round.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

from untwine.training.threads import WAIT_POLICY, WAIT_VARIABLES

BUSY = "while True: pass"
FIT = """
import sys, time
import untwine as un
import torch

class Over(Exception):
    pass

def watch(method, epoch):
    now.append(time.perf_counter())
    if now[-1] - now[0] > float(sys.argv[1]):  # from the end of the first epoch, which is not counted
        raise Over

torch.set_num_threads(2)
now, data = [], un.load("toy_contrast", n_target=200, n_background=200).train
try:
    un.PrincipledVAE(networks="standard", width=256, batch=128, epochs=10**6).fit(data, watch=watch)
except Over:
    print((len(now) - 1) / (now[-1] - now[0]))
"""
ROUNDS, SECONDS = 3, 2.0


def main(argv: Sequence[str] | None = None) -> int:
    """Print the epochs a second of both in each round, and the median of their ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waiting", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round of a moment each, to see that it runs")
    quick = parser.parse_args(argv).quick
    rounds, duration = (1, 0.2) if quick else (ROUNDS, SECONDS)
    usual = {name: value for name, value in os.environ.items() if name not in WAIT_VARIABLES} | {"OMP_NUM_THREADS": "2"}
    ratios = []
    with ExitStack() as stack:
        for _ in range(os.cpu_count() or 1):
            busy = stack.enter_context(subprocess.Popen([sys.executable, "-c", BUSY]))
            stack.callback(busy.kill)
        for _ in range(rounds):
            spinning, sleeping = epochs_per_second(usual, duration), epochs_per_second(usual | dict(WAIT_POLICY), duration)
            ratios.append(sleeping / spinning)
            print(f"spinning {spinning:.1f} epochs/s, sleeping {sleeping:.1f} epochs/s", flush=True)
    print(f"Beside {os.cpu_count()} busy processes, two threads that spin take {median(ratios):.1f} times as long as two that")
    print(f"sleep ({min(ratios):.1f} to {max(ratios):.1f} in {rounds} rounds).")
    return 0


def epochs_per_second(environment: dict[str, str], duration: float) -> float:
    """Return the speed of a short fit with two threads in a new process."""
    command = [sys.executable, "-c", FIT, str(duration)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
