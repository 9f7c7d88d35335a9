"""`untwine report`: one HTML page about runs."""

from __future__ import annotations

from pathlib import Path

ORDER = 140


def command(runs: Path, *, out: Path | None = None) -> None:
    """Write one HTML page about a run folder, or about a folder of them; the page needs no network.

    For example:

    - one run: `untwine report runs/x`
    - all runs of a folder: `untwine report runs --out report.html`

    Parameters
    ----------
    runs
        A run folder, or a folder of run folders.
    out
        The page to write; by default report.html in that folder.
    """
    from untwine.report.page import report
    from untwine.runs.names import report_path

    print(report(runs, out or report_path(runs)))
