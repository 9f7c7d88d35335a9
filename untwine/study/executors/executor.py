"""What an executor is, and the executors by name."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from untwine.registry.checks import check_choice
from untwine.study.cells import Cell

Reply = dict[str, Any]
Replies = Generator[tuple[Cell, Reply] | None]
Name = Literal["here", "local", "ray"]


class Executor(Protocol):
    """A function that runs cells and yields each with its reply as it finishes; None now and then, so that the caller can act.

    A reply is {"rows": [...], "known": bool}, the rows of the long table and whether they were in the run folder already; or
    {"failed": sentence}. What an executor knows may be lost at any time: the finished cells on disk are the truth. Closing the
    generator, as Ctrl-C does, stops the cells that run, each after its checkpoint.

    Parameters
    ----------
    cells, out
        The cells, and the folder of their run folders.
    workers, threads
        How many cells run at a time (None: as many as the executor has room for), and the threads of each.
    log
        The file for what the libraries in the workers print.
    """

    def __call__(self, cells: Sequence[Cell], out: Path, workers: int | None, threads: int, log: Path, /) -> Replies:
        """Run the cells."""
        ...


def find_executor(on: str = "local", *, address: str | None = None, memory: float = 0.0, gpus: float = 0.0) -> Executor:
    """Return an executor by its name.

    Parameters
    ----------
    on
        "here", this process, one cell after the other; "local", processes of this machine; "ray", a Ray cluster, or
        "ray://host:port", that cluster.
    address
        The address of a running Ray cluster; by default one is started on this machine for the time of the call.
    memory, gpus
        Gigabytes and GPUs that Ray reserves for each cell; the others do not look at them.
    """
    if on.startswith("ray://"):
        on, address = "ray", address or on
    check_choice("on", on, get_args(Name))
    if address is not None and on != "ray":
        raise ValueError(f"address must be given with on='ray' alone; got on={on!r}; leave it out.")
    if on == "here":
        from untwine.study.executors.here import run_cells as run_here

        return run_here
    if on == "local":
        from untwine.study.executors.local import run_cells as run_local

        return run_local
    from untwine.study.executors.cluster import run_cells as run_on_ray

    return partial(run_on_ray, address=address, memory=memory, gpus=gpus)
