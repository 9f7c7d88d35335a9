"""The run folder that a command writes: never over something else, and an earlier run is replaced only by a good one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from untwine.runs import names


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run, finished or interrupted."""
    return names.is_run(folder) or names.has_checkpoint(folder)


def check_out(out: Path, resume: bool, overwrite: bool) -> None:
    """Refuse to write over what exists, unless asked to; only run folders are ever removed."""
    if resume and overwrite:
        raise ValueError("--resume continues a run and --overwrite replaces it; got both; choose one.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder; {out} is a file; choose another name.")
    above = next((parent for parent in out.absolute().parents if parent.exists()), None)
    if above is not None and not above.is_dir():
        raise ValueError(f"--out must be a folder that can be made; {above} above it is a file; choose another.")
    nearest = out if out.exists() else above
    if nearest is not None and not os.access(nearest, os.W_OK):
        raise ValueError(f"--out must be a folder that can be written; {nearest} cannot (permission denied); choose another.")
    if not out.is_dir() or not any(out.iterdir()) or resume:
        return
    if not overwrite:
        hint = "pass --resume to continue it, --overwrite to replace it, or choose another" if is_run(out) else "choose another"
        raise ValueError(f"--out must be a new folder; {out} is not empty; {hint}.")
    if not is_run(out):
        raise ValueError(f"--overwrite only replaces run folders; {out} is not one; choose another folder.")


@contextmanager
def replace_on_success(out: Path | None) -> Iterator[None]:
    """Set an earlier run aside while a new one is written in its place; restore it if nothing was written."""
    from untwine.training import distributed

    aside = out.with_name(f".{out.name}.replaced") if out is not None and out.exists() else None
    distributed.barrier()
    if aside is None or out is None or distributed.rank():
        yield
        return
    shutil.rmtree(aside, ignore_errors=True)
    out.rename(aside)
    try:
        yield
    finally:
        if is_run(out):
            shutil.rmtree(aside)
        else:
            shutil.rmtree(out, ignore_errors=True)
            aside.rename(out)
