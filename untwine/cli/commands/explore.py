"""`untwine explore`: a local web app on runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from untwine.cli.flags import Threads

ORDER = 145


def command(
    runs: Path,
    *,
    port: int = 0,
    no_browser: Annotated[bool, Parameter(help="Only print the address, and open no browser.")] = False,
    threads: Threads = None,
) -> None:
    """Explore a run folder, or a folder of them, in the browser: maps of the blocks, single samples, recombined ones, scores.

    Nothing leaves this machine, and nothing is written but selections that you save under a name. Ctrl-C ends it.

    For example:

    - one run: `untwine explore runs/x`
    - all runs of a folder side by side: `untwine explore runs`
    - on a machine without a screen, with `ssh -L 8123:127.0.0.1:8123 machine`: `untwine explore runs --no-browser --port 8123`

    Parameters
    ----------
    runs
        A run folder, or a folder of run folders.
    port
        The port to listen on, on the loopback interface; 0 takes a free one.
    """
    from untwine.training.threads import set_threads

    set_threads(threads)  # before the numerical libraries are imported
    from untwine.explore.server import explore

    explore(runs, port=port, browser=not no_browser)
