"""What runs in the workers of executors in tests: cells that cost their worker its life."""

import os
import signal
from pathlib import Path

from untwine.study.executors.worker import work_until_interrupted


def die(cell, out):
    """Die for a cell of seed 1, each time."""
    if cell["params"]["seed"] == 1:
        os._exit(7)
    return {"rows": [], "known": False}


def die_once(cell, out):
    """Die by a signal at the first attempt at a cell of seed 1."""
    mark = Path(out, "died")
    if cell["params"]["seed"] == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return work_until_interrupted(cell, out)


def who_and_print(cell, out):
    """Print as libraries do, in Python and in C, and reply with the process."""
    print("from Python")
    os.write(1, b"from C\n")
    return {"rows": [], "known": False, "pid": os.getpid(), "threads": os.environ["OMP_NUM_THREADS"]}
