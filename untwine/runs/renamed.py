"""Options of data sets that were renamed: run folders and finished cells of studies written before stay valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# (option of a data set, its value today) -> the value that was written before
FORMER: Mapping[tuple[str, str], str] = {("held_out", "images"): "pictures"}
TODAY = {(option, former): value for (option, value), former in FORMER.items()}


def to_today(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a data set as they are spelled today."""
    return {key: TODAY.get((key, str(value)), value) for key, value in options.items()}


def to_former(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a data set as they were first spelled, which is what fingerprints are of."""
    return {key: FORMER.get((key, str(value)), value) for key, value in options.items()}
