"""A Ray cluster, or Ray on this machine for the time of a call: a cell is a task, which Ray tries again if its worker died.

The data of a cell are loaded by a task of their own, once, into Ray's object store: each node has one copy, which all its
workers map into their memory. It is dropped after the last cell that needs it. What Ray knows is never the truth: a task leaves
its rows in the run folder, as everywhere, so the folder of the run folders must be shared by all nodes.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from untwine.registry.extras import optional
from untwine.study.cells import Cell, has_rows
from untwine.study.executors.executor import Replies, Reply
from untwine.study.executors.worker import BUSY_SECONDS, data_key, limit_threads, load_data, log_output, work
from untwine.training.threads import wait_policy

if TYPE_CHECKING:
    from untwine.data import Splits

TRIES = 4  # of a cell whose worker died
STOP_SECONDS = 20.0  # that a stopped cell has to write a checkpoint
GIGABYTE = 10**9
# Ray sends statistics of its use to its makers unless it is switched off; a cluster of our own obeys nobody without a token.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token"}
PASSED_ON = ("UNTWINE_DATA",)


def run_cells(
    cells: Sequence[Cell],
    out: Path,
    workers: int | None,
    threads: int,
    log: Path,
    *,
    address: str | None = None,
    memory: float = 0.0,
    gpus: float = 0.0,
) -> Replies:
    """Run cells as tasks and yield each with its reply as it finishes; None every half second, so that the caller can act.

    Parameters
    ----------
    workers, threads, memory, gpus
        The most cells at a time (None: as many as there is room for), and the cores, gigabytes and GPUs that each reserves.
    address
        A running cluster; by default that of the environment variable RAY_ADDRESS, or one that is started on this machine.
    """
    if not cells:
        return
    log.touch()
    with _connection(address, workers, threads) as ray:
        needs = {"num_cpus": threads, "memory": int(memory * GIGABYTE) or None, "num_gpus": gpus or None}
        _warn_where_nothing_fits(ray, threads, memory, gpus)
        yield from _Tasks(ray, cells, out.absolute(), workers, log.absolute(), needs).replies()


class _Tasks:
    """The tasks of a call: the cells that wait, those that were handed to Ray, and the data that they need."""

    def __init__(
        self, ray: Any, cells: Sequence[Cell], out: Path, workers: int | None, log: Path, needs: Mapping[str, Any]
    ) -> None:
        self.ray, self.out, self.log, self.workers, self.threads = ray, out, log, workers, int(needs["num_cpus"])
        self.waiting, self.busy, self.tried = [*reversed(cells)], list[Cell](), time.monotonic()
        self.running: dict[Any, Cell] = {}
        self.left = Counter(data_key(cell) for cell in cells)
        self.data: dict[str, Any] = {}
        environment = wait_policy(os.environ) | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        shared = {"max_retries": TRIES - 1, "runtime_env": {"env_vars": environment}}
        self.run = ray.remote(_run).options(**needs, **shared)
        self.load = ray.remote(_load).options(**{**needs, "num_gpus": None}, **shared)

    def replies(self) -> Replies:
        """Hand cells to Ray, a few more than it has room for, and yield them as they finish."""
        try:
            room, looked = self._room(), time.monotonic()
            while self.running or self.waiting or self.busy:
                if time.monotonic() - looked > 1.0:
                    room, looked = self._room(), time.monotonic()
                while self.waiting and len(self.running) < room:
                    self._submit(self.waiting.pop())
                ready, _ = self.ray.wait(list(self.running), timeout=0.5) if self.running else ([], [])
                for task in ready:
                    cell = self.running.pop(task)
                    reply = self._reply(task)
                    if "busy" in reply:
                        self.busy.append(cell)
                        continue
                    self._drop_data(cell)
                    yield cell, reply
                yield None
                if self.busy and time.monotonic() - self.tried >= BUSY_SECONDS:  # behind all cells that were not tried yet
                    self.waiting, self.busy, self.tried = [*reversed(self.busy), *self.waiting], [], time.monotonic()
                if not self.running:
                    time.sleep(0.1)
        finally:
            self._stop()

    def _room(self) -> int:
        if self.workers is not None:
            return self.workers
        return 2 * max(1, int(self.ray.cluster_resources().get("CPU", 1) / self.threads)) + 2

    def _submit(self, cell: Cell) -> None:
        from untwine import __version__

        data, key = None, data_key(cell)
        if not has_rows(cell, self.out):
            data = self.data[key] = self.data.get(key) or self.load.remote(cell.to_json(), str(self.log), self.threads)
        task = self.run.remote(cell.to_json(), str(self.out), str(self.log), self.threads, __version__, data)
        self.running[task] = cell

    def _drop_data(self, cell: Cell) -> None:
        key = data_key(cell)
        self.left[key] -= 1
        if not self.left[key]:
            self.data.pop(key, None)

    def _reply(self, task: Any) -> Reply:
        try:
            return dict(self.ray.get(task))
        except self.ray.exceptions.RayError as error:
            why = " ".join(str(getattr(error, "cause", None) or error).split())[:200]
            return {
                "failed": f"its worker died {TRIES} times ({type(error).__name__}: {why}); see {self.log}, and run it again."
            }

    def _stop(self) -> None:
        """Interrupt what runs, so that a cell that is being trained writes a checkpoint."""
        if not self.running:
            return
        tasks = list(self.running)
        try:
            for task in tasks:
                self.ray.cancel(task)
            self.ray.wait(tasks, num_returns=len(tasks), timeout=STOP_SECONDS)
        finally:
            for task in tasks:
                self.ray.cancel(task, force=True)


@contextmanager
def _connection(address: str | None, workers: int | None, threads: int) -> Iterator[Any]:
    """Connect to a cluster, or start one for this call; a connection that the caller has is used and left open."""
    for name, value in QUIET.items():
        if name not in os.environ and (address is None or name == "RAY_USAGE_STATS_ENABLED"):
            os.environ[name] = value
    ray = optional("ray", "running cells on a cluster")
    if ray.is_initialized():
        yield ray
        return
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    cores = max(os.cpu_count() or 1, (workers or 1) * threads)
    own = {"include_dashboard": False, "num_cpus": cores} if address == "local" else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of changes in later versions of Ray
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (ConnectionError, RuntimeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise ValueError(f"address must be that of a Ray cluster that answers; got {address!r} ({why}); correct it.") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _warn_where_nothing_fits(ray: Any, threads: int, memory: float, gpus: float) -> None:
    wanted = {"CPU": threads, "memory": memory * GIGABYTE, "GPU": gpus}
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    if not any(all(node.get(name, 0) >= amount for name, amount in wanted.items()) for node in nodes):
        warnings.warn(
            f"no node of the cluster has room for a cell ({threads} cores, {memory:g} GB, {gpus:g} GPUs); waiting for one.",
            stacklevel=2,
        )


def _run(cell: dict[str, Any], out: str, log: str, threads: int, version: str, data: Splits | str | None) -> Reply:
    """Run a cell in a worker of Ray; `data` are the splits, or the sentence with which they could not be loaded."""
    from untwine import __version__

    if __version__ != version:
        return {"failed": f"its node must have untwine {version}; got {__version__}; install the same on all nodes."}
    if not Path(log).exists():
        return {"failed": f"its node must share the folder {Path(log).parent}; it is not there; choose another with --out."}
    if isinstance(data, str):
        return {"failed": data}
    _prepare(log, threads)
    return work(cell, out, data)


def _load(cell: dict[str, Any], log: str, threads: int) -> Splits | str:
    """Load the data of a cell into Ray's object store, or say why they cannot be."""
    _prepare(log, threads)
    try:
        return load_data(Cell(**cell))
    except Exception as error:
        return " ".join(str(error).split()) or type(error).__name__


_prepared: list[tuple[str, int]] = []


def _prepare(log: str, threads: int) -> None:
    if [(log, threads)] != _prepared:
        if Path(log).exists():
            log_output(log)
        limit_threads(threads)
        # The arrays of Ray's object store are read-only, and no method writes into its data.
        warnings.filterwarnings("ignore", "The given NumPy array is not writable")
        _prepared[:] = [(log, threads)]
