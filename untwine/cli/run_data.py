"""The data of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untwine.cli.flags import DataFlags
from untwine.cli.settings import parse_settings

if TYPE_CHECKING:
    from untwine.data import Splits
    from untwine.method.contract import Method
    from untwine.samples import Samples


def run_splits(method: Method, data: str | None, settings: Sequence[str]) -> Splits:
    """Return the named data or, by default, the data that the run was fitted on."""
    from untwine.evaluation.run import run_data

    return run_data(method, data, parse_settings(settings, "--data-set"))


def checked_splits(method: Method, run: Path, data: str | None, settings: Sequence[str]) -> Splits:
    """Return the named data or, by default, the data of the run, which must not have changed since the fit."""
    from untwine.evaluation.run import checked_run_data

    return checked_run_data(method, run, data, parse_settings(settings, "--data-set"))


def test_samples(method: Method, run: Path, source: DataFlags) -> Samples:
    """Return the test split."""
    return checked_splits(method, run, source.data, source.data_set).test
