"""`python -m benchmarks.waiting`: two threads that sleep while they wait beside two that spin, on a machine that is busy.

As many other processes as there are cores keep the machine busy. The command line and the workers of studies make waiting
threads sleep (`untwine.training.threads`); by default OpenMP lets them spin. The two take turns, and each trains for a fixed
time and counts its epochs, so that the end does not depend on how much slower one of them is. `--quick` takes one short turn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
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
    if now[-1] - now[0] > seconds:  # from the end of the first epoch, which is not counted
        raise Over

torch.set_num_threads(2)
now, data = [], un.load("toy_contrast", n_target=128, n_background=128).train
method = un.PrincipledVAE(networks="standard", width=256, batch=128, epochs=10**6)
for line in ["0\\n", *[None] * 100]:
    seconds = float(line or sys.stdin.readline() or sys.exit())
    now.clear()
    try:
        method.fit(data, watch=watch)
    except Over:
        print((len(now) - 1) / (now[-1] - now[0]), flush=True)
"""
ROUNDS, SECONDS = 3, 3.0


def main(argv: Sequence[str] | None = None) -> int:
    """Print the epochs a second of both in each round, and the median of their ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waiting", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short turn of each, to see that it runs")
    quick = parser.parse_args(argv).quick
    rounds, seconds, cores = 1 if quick else ROUNDS, 0.1 if quick else SECONDS, os.cpu_count() or 1
    usual = {name: value for name, value in os.environ.items() if name not in WAIT_VARIABLES} | {"OMP_NUM_THREADS": "2"}
    ratios = []
    with ExitStack() as stack:
        sides = [_start(stack, FIT, environment) for environment in (usual, usual | dict(WAIT_POLICY))]
        for side in sides:
            _speed(side)  # of nothing: it is ready
        for _ in range(cores):
            _start(stack, BUSY, usual)
        for _ in range(rounds):
            spinning, sleeping = (_speed(side, seconds) for side in sides)
            ratios.append(sleeping / spinning)
            print(f"spinning {spinning:.1f} epochs/s, sleeping {sleeping:.1f} epochs/s", flush=True)
    print(
        f"Beside {cores} busy processes, two threads that spin take {median(ratios):.1f} times as long as two that sleep "
        f"({min(ratios):.1f} to {max(ratios):.1f} in {rounds} rounds)."
    )
    return 0


def _start(stack: ExitStack, code: str, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def _speed(side: subprocess.Popen[str], seconds: float | None = None) -> float:
    """Return the epochs a second in the next turn of a side; without seconds, of the one that it begins with."""
    assert side.stdin is not None
    assert side.stdout is not None
    if seconds is not None:
        print(seconds, file=side.stdin, flush=True)
    return float(side.stdout.readline())


if __name__ == "__main__":
    sys.exit(main())
