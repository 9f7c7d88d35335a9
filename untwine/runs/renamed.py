"""Option values that have been renamed, so that run folders and finished cells of a study written before still count."""

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
    """Return options of a data set as they were spelled at first, which fingerprints are taken of."""
    return {key: FORMER.get((key, str(value)), value) for key, value in options.items()}
