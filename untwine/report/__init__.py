"""One self-contained page about run folders; it reads files only, never a live method."""

from __future__ import annotations

import os
from pathlib import Path


def report(runs: str | os.PathLike[str], out: str | os.PathLike[str]) -> Path:
    """Make one self-contained HTML page about a run folder, or about all run folders in a folder.

    The page needs no network and no scripts. What a run lacks (scores, pictures) is named in it with the command that makes it.

    Parameters
    ----------
    runs
        A run folder, or a folder with run folders in it. Runs inside a run folder are its baselines, shown beside it.
    out
        Where to write the page.

    Returns
    -------
    Path
        Where the page is.
    """
    from untwine import files
    from untwine.report.page import page
    from untwine.report.runs import read_runs

    out = Path(out)
    if out.is_dir():
        raise ValueError(f"report expected a file to write, but {str(out)!r} is a folder; use {str(out / 'report.html')!r}.")
    found = read_runs(runs)
    files.write(out, page(found))
    return out
