"""The data of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untwine.cli.settings import parse_settings

if TYPE_CHECKING:
    from untwine.data import Splits
    from untwine.method.contract import Method
    from untwine.samples import Samples


def run_splits(method: Method, data: str | None, settings: Sequence[str]) -> Splits:
    """Return the named data or, by default, the data that the run was fitted on."""
    from untwine.data import load

    if data is not None:
        return load(data, **parse_settings(settings, "--data-set"))
    name = method.data_.get("name")
    if name is None:
        raise ValueError("the run must name the data that it was fitted on; it was fitted from Python on arrays; pass --data.")
    return load(name, **{**method.data_.get("options", {}), **parse_settings(settings, "--data-set")})


def checked_splits(method: Method, run: Path, data: str | None, settings: Sequence[str]) -> Splits:
    """Return the named data or, by default, the data of the run, which must not have changed since the fit."""
    splits = run_splits(method, data, settings)
    if data is None and not settings and splits.train.fingerprint() != method.data_["fingerprint"]:
        raise ValueError(
            f"{run} must be used with the data that it was fitted on; {method.data_['name']!r} has changed since; "
            "restore it, or name other data with --data."
        )
    return splits


def test_samples(method: Method, run: Path, data: str | None, settings: Sequence[str]) -> Samples:
    """Return the test split."""
    return checked_splits(method, run, data, settings).test
