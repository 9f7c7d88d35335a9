"""What the words of a command line mean: settings, run folders and the data of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def pairs(settings: Sequence[str], flag: str) -> dict[str, Any]:
    """Read name=value pairs: values are JSON (numbers, true, null), and else text."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"{flag} expected name=value; got {setting!r}.")
        if name in found:
            raise ValueError(f"{flag} expected each name once; got {name!r} twice.")
        try:
            found[name] = json.loads({"True": "true", "False": "false", "None": "null"}.get(value, value))
        except json.JSONDecodeError:
            found[name] = value
    return found


def check_known(options: Mapping[str, Any], fields: Mapping[str, Any], owner: str) -> None:
    """Refuse an option that is none, naming the closest."""
    from difflib import get_close_matches

    for name in options:
        if name not in fields:
            near = get_close_matches(name, fields, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(fields)}."
            raise ValueError(f"{owner} has no option {name!r}; {hint}")


def check_out(out: Path, resume: bool, overwrite: bool) -> None:
    """Refuse to write over what is there, unless that was asked for; only run folders are ever removed."""
    from untwine.runs.names import has_checkpoint, is_run

    if resume and overwrite:
        raise ValueError("--resume goes on with a run and --overwrite replaces it, but both were given; choose one.")
    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, but {out} is a file; choose another name.")
    if not out.is_dir() or not any(out.iterdir()) or resume:
        return
    ours = is_run(out) or has_checkpoint(out)
    if not overwrite:
        hint = "pass --resume to go on, --overwrite to replace it, or choose another" if ours else "choose another"
        raise ValueError(f"--out must be a new folder, but {out} is not empty; {hint}.")
    if not ours:
        raise ValueError(f"--overwrite only replaces run folders, but {out} is none; choose another folder.")


@contextmanager
def set_aside(out: Path | None) -> Iterator[None]:
    """Keep a run that is to be replaced until the new one has been fitted or begun; if that is refused, put it back."""
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
        if out.is_dir() and any(out.iterdir()):
            shutil.rmtree(aside)
        else:
            shutil.rmtree(out, ignore_errors=True)
            aside.rename(out)


def run_splits(method: Any, data: str | None, settings: Sequence[str]) -> Any:
    """Return the data that is named, or else that of the run."""
    from untwine.evaluation.run import run_data

    return run_data(method, data, pairs(settings, "--data-set"))


def checked_splits(method: Any, run: Path, data: str | None, settings: Sequence[str]) -> Any:
    """Return the data that is named, or that of the run if it has not changed since the fit."""
    from untwine.evaluation.run import checked_run_data

    return checked_run_data(method, run, data, pairs(settings, "--data-set"))


def test_samples(method: Any, run: Path, data: str | None, settings: Sequence[str]) -> Any:
    """Return the samples to score on: the test split."""
    return checked_splits(method, run, data, settings).test
