"""The data of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untwine.cli.flags import ColumnFlags, DataFlags
from untwine.cli.own_data import named_data

if TYPE_CHECKING:
    from untwine.data import Splits
    from untwine.method.contract import Method
    from untwine.samples import Samples


def run_splits(method: Method, data: str | None, columns: ColumnFlags, settings: Sequence[str]) -> Splits:
    """Return the named data or, by default, the data that the run was fitted on."""
    from untwine.evaluation.run import run_data

    return run_data(method, *named_data(data, columns, settings))


def test_samples(method: Method, run: Path, source: DataFlags) -> Samples:
    """Return the test split of the named data or, by default, of the data of the run, which must not have changed since."""
    from untwine.evaluation.run import checked_run_data

    return checked_run_data(method, run, *named_data(source.data, source, source.data_set)).test
