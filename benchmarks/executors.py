"""`python -m benchmarks.executors`: what executors cost, and that nothing is lost when workers and nodes are.

    overhead   the time of a cell that has nothing to do, on Ray, after start
    ideal      cells that fit a VAE, one after the other in this process, and by two workers of each executor
    kills      small cells on two simulated nodes, whose workers are killed at random, and of which one is removed

Ray is needed: pip install 'untwine[cluster]'. Times mean something only where nothing else runs.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import untwine as un
from untwine.study.executors.executor import find_executor

STUDY = """
title = "Cells"
seeds = {seeds}
metrics = ["factors", "w2"]

[[data]]
name = "toy_contrast"
label = "toy"
options = {{ n_common = 2, n_salient = 1, n_features = 6, n_target = {samples}, n_background = {samples} }}

[[row]]
label = "one"
method = "{method}"
fields = {{ {fields} }}

[[column]]
scores = ["w2.common", "factors.z"]
"""
SMALL = {"method": "pca", "fields": "n_latent = 2", "samples": 60}
REAL = {
    "method": "principled_vae",
    "fields": "epochs = 30, width = 32, n_common = 3, n_salient = 2, batch = 64",
    "samples": 1000,
}
TWICE, DIFFER = "values in the table more than once", "values that differ from the serial run's"
Row = tuple[str, str, int, float]


def study(folder: Path, cells: int, kind: dict[str, Any]) -> un.Study:
    """Write a study of one row with a cell for each seed."""
    path = folder / f"{kind['method']}_{cells}.toml"
    path.write_text(STUDY.format(seeds=list(range(cells)), **kind))
    return un.Study.read(path)


def values(one: un.Study, results: Path) -> list[Row]:
    """Return every value of the long table."""
    return sorted((row["fingerprint"], row["score"], row["epoch"], row["value"]) for row in one.results(results=results))


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Start a Ray cluster of two simulated nodes with a core each, and stop it."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0"}
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        yield cluster
    finally:
        cluster.shutdown()  # type: ignore[no-untyped-call]


class Killer:
    """Kills a worker of the cluster's nodes, drawn at random, after every so many finished cells."""

    def __init__(self, cluster: Any, every: int, seed: int = 0) -> None:
        self.cluster, self.every, self.rng, self.finished, self.killed = cluster, every, random.Random(seed), 0, 0

    def count(self) -> None:
        """Count a finished cell and, when it is time, kill a worker, in the middle of a cell if one is met there soon."""
        self.finished += 1
        if self.finished % self.every or not (workers := self._workers()):
            return
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline:
            if busy := [worker for worker in workers if self._title(worker).startswith(b"ray::_run")]:
                workers = busy
                break
        with suppress(ProcessLookupError):
            os.kill(self.rng.choice(workers), signal.SIGKILL)
            self.killed += 1

    def _workers(self) -> list[int]:
        """Return the workers of the nodes: children of their raylets that are named after a task, or after none."""
        raylets = {process.process.pid for node in self.cluster.list_all_nodes() for process in node.all_processes["raylet"]}
        workers = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError):
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                if parent in raylets and self._title(int(folder.name)).startswith((b"ray::_run", b"ray::IDLE")):
                    workers.append(int(folder.name))
        return workers

    def _title(self, process: int) -> bytes:
        with suppress(OSError):
            return Path("/proc", str(process), "cmdline").read_bytes()
        return b""


def kills(folder: Path, cells: int, every: int = 20) -> dict[str, float]:
    """Run small cells on two nodes whose workers die and of which one is removed, and compare the table with the serial one."""
    one = study(folder, cells, SMALL)
    start = time.monotonic()
    one.run(folder / "serial", on="here", results=folder / "serial")
    serial, start = time.monotonic() - start, time.monotonic()
    with two_nodes() as cluster:
        killer, execute = Killer(cluster, every), find_executor("ray", address=cluster.address)
        removed = False

        def on_two_nodes(*arguments: Any) -> Any:
            nonlocal removed
            finished = 0
            for reply in execute(*arguments):
                if reply is not None:
                    finished += 1
                    killer.count()
                if finished >= cells // 2 and not removed:
                    removed = True
                    cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
                yield reply

        ran = one.run(folder / "ray", on=on_two_nodes, workers=None, results=folder / "ray")
        spent, killed = time.monotonic() - start, killer.killed
    rows = values(one, folder / "ray")
    return {
        "cells": cells,
        "finished": len({row[0] for row in rows}),
        "failed": len(ran.failed),
        "workers killed": killed,
        "nodes removed": int(removed),
        TWICE: len(rows) - len(set(rows)),
        DIFFER: len(set(rows) ^ set(values(one, folder / "serial"))),
        "seconds in this process": serial,
        "seconds on the nodes": spent,
    }


def overhead(folder: Path, cells: int) -> dict[str, float]:
    """Return the milliseconds of a cell whose rows are in its run folder already, on Ray, after the first ones."""
    one = study(folder, cells, SMALL)
    one.run(folder / "runs", on="here", results=folder / "first")
    first = 20
    times = []
    for reply in find_executor("ray")(one.cells(), folder / "runs", 2, 1, folder / "log"):
        if reply is not None:
            times.append(time.perf_counter())
    return {"cells": len(times) - first, "milliseconds of a cell": 1000 * (times[-1] - times[first - 1]) / (len(times) - first)}


def ideal(folder: Path, cells: int) -> dict[str, float]:
    """Return the time of cells by two workers over half the time that this process takes for them."""
    one = study(folder, cells, REAL)
    study(folder, 2, REAL).run(folder / "first", on="here", results=folder / "first")  # what is loaded once
    spent = {}
    for on, workers in (("here", 1), ("local", 2), ("ray", 2)):
        start = time.perf_counter()
        one.run(folder / on, on=on, workers=workers, results=folder / on)
        spent[on] = time.perf_counter() - start
    same = [values(one, folder / on) == values(one, folder / "here") for on in ("local", "ray")]
    return {
        "cells": cells,
        "seconds in this process": spent["here"],
        "two local workers over the ideal": spent["local"] / (spent["here"] / 2),
        "two workers on Ray over the ideal": spent["ray"] / (spent["here"] / 2),
        "tables equal to the serial run's": sum(same),
    }


def main() -> int:
    """Print the figures; return 1 if a cell is missing, twice in the table, or another than that of the serial run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.executors", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="*", choices=("overhead", "ideal", "kills"), default=("overhead", "ideal", "kills"))
    parser.add_argument("--cells", type=int, help="of each; by default 500, 200 and 1000")
    parser.add_argument("--every", type=int, default=20, help="finished cells between two kills")
    options = parser.parse_args()
    measures: dict[str, tuple[Callable[[Path, int], dict[str, float]], int]] = {
        "overhead": (overhead, 500),
        "ideal": (ideal, 200),
        "kills": (partial(kills, every=options.every), 1000),
    }
    wrong = False
    for name in options.only:
        measure, usual = measures[name]
        with tempfile.TemporaryDirectory() as folder:
            figures = measure(Path(folder), options.cells or usual)
        print(name, *(f"  {what}: {value:g}" for what, value in figures.items()), sep="\n", flush=True)
        if name == "kills":
            twice, differ = (figures[what] for what in (TWICE, DIFFER))
            wrong = figures["finished"] != figures["cells"] or twice > 0 or differ > 0
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
