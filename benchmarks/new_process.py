"""What is measured in a new process: peak memory, and the time of an import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORT = """
import json
from time import perf_counter
start = perf_counter()
import torch
middle = perf_counter()
import untwine
untwine.VAE  # names are imported when first used, and all of them with the first
end = perf_counter()
print(json.dumps({"torch": middle - start, "untwine": end - middle}))
"""


def importing() -> dict[str, float]:
    """Return the seconds that a new process takes to import torch, and then untwine."""
    return run("-c", IMPORT)


def peak(side: str, samples: int, threads: int) -> float:
    """Return the megabytes that a process reached while one side trained, or while it only imported what it needs."""
    return run("-m", "benchmarks.new_process", side, str(samples), str(threads))["megabytes"]


def run(*arguments: str) -> dict[str, float]:
    """Run Python with arguments and return the JSON of its last line."""
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def megabytes() -> float:
    """Return this process's peak; on Linux from its own memory, since `ru_maxrss` begins with the peak of its parent."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        if "VmHWM" in lines:
            return int(lines["VmHWM"].split()[0]) / 1024
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 2**20 if sys.platform == "darwin" else most / 1024


def _train(side: str, samples: int, threads: int) -> None:
    import torch

    from benchmarks import game, peer, sides
    from benchmarks.work import Work, conv, images

    torch.set_num_threads(threads)
    if side.startswith("game"):
        {"game ours": game.ours, "game straight": game.straight}[side](game.Game(images(samples, (3, 32, 32)), 128))
    elif side != "imports":
        work = Work(images(samples, (3, 32, 32)), conv, 1, scale=1.0)
        {"ours": sides.ours, "bare": sides.bare, "pythae": peer.pythae}[side](work)
    print(json.dumps({"megabytes": megabytes()}))


if __name__ == "__main__":
    _train(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
