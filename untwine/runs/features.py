"""The features that a block of a run is about, most changed first, and the file that holds them."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from untwine.runs import files
from untwine.runs.names import FEATURES


class Feature(NamedTuple):
    """What removing a block changes of one feature, in the samples of one level; see `untwine.salient_features`.

    `change` and `effect` with its interval from `low` to `high` are in standard deviations of the feature, `effect_units` in
    the units of the data. `p` and `q` are NaN where there was nothing to compare with.
    """

    name: str
    by: str
    change: float
    effect: float
    low: float
    high: float
    effect_units: float
    p: float
    q: float


def write_features(path: str | os.PathLike[str], features: Sequence[Feature]) -> None:
    """Write features as CSV, every number with all its digits; an empty cell is NaN."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(Feature._fields)
    for one in features:
        writer.writerow([cell if isinstance(cell, str) else "" if math.isnan(cell) else repr(cell) for cell in one])
    files.write(path, table.getvalue())


def features_path(folder: str | os.PathLike[str]) -> Path:
    """Return where the features of a run are."""
    return Path(folder) / FEATURES


def read_features(path: str | os.PathLike[str]) -> list[Feature] | None:
    """Read what `write_features` wrote; None where there is no file."""
    path = Path(path)
    if not path.exists():
        return None
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if lacking := set(Feature._fields) - set(reader.fieldnames or ()):
                raise ValueError(f"it lacks {', '.join(sorted(lacking))}")
            numbers = Feature._fields[2:]
            return [
                Feature(row["name"], row["by"], *(float(row[name]) if row[name] else math.nan for name in numbers))
                for row in reader
            ]
    except (ValueError, TypeError, csv.Error) as error:
        raise ValueError(
            f"{path} must have the columns {', '.join(Feature._fields)} as they were saved; it cannot be read ({error}); run "
            "untwine evaluate again."
        ) from None
