"""Scores of a run: one value with its interval, and the files that hold them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from untwine.runs import files
from untwine.runs.names import scores_name

OPTIONAL = ("options", "samples", "train")


@dataclass(frozen=True)
class Score:
    """One value with its name, 95 % interval, number of samples, seconds and direction ("higher", "lower" or "info").

    `version` is that of its metric: numbers of one version can be compared, for the same codes give the same number. `options`
    are those of the metric that do not have their default value. `samples` is the start of the fingerprint of what was scored,
    and `train` that of the samples that classifiers were fitted on, if they are others; both are empty where not known.
    """

    name: str
    value: float
    low: float
    high: float
    n: int
    seconds: float
    direction: str
    version: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    samples: str = ""
    train: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return what `scores.json` keeps under the score's name; `options`, `samples` and `train` only if they are known."""
        return {key: value for key, value in asdict(self).items() if key != "name" and (key not in OPTIONAL or value)}


def scores_path(folder: str | os.PathLike[str], epoch: int | None = None) -> Path:
    """Return where the scores of a run are, or those taken after an epoch of its training."""
    return Path(folder) / scores_name(epoch)


def write_scores(folder: str | os.PathLike[str], scores: Mapping[str, Score], epoch: int | None = None) -> Path:
    """Write the scores of a run, or those taken after an epoch of its training, whole or not at all; return where."""
    path = scores_path(folder, epoch)
    files.write_json(path, {name: score.to_json() for name, score in scores.items()})
    return path


def merge_scores(
    known: Mapping[str, Score], scores: Mapping[str, Score], samples: str, is_own: Callable[[], bool]
) -> tuple[dict[str, Score], list[str]]:
    """Return new scores beside known ones of the same samples, and the names of known ones that are of other samples.

    Parameters
    ----------
    known, scores
        The scores of before and those measured anew, which replace their former values.
    samples
        The start of the fingerprint of the samples that were scored anew.
    is_own
        Whether these are the run's own test split, which scores from before `samples` was recorded are taken to be of; called
        only if there are such scores.
    """
    own = all(score.samples for score in known.values()) or is_own()
    stay = {name: score for name, score in known.items() if score.samples == samples or (not score.samples and own)}
    return {**stay, **scores}, [name for name in known if name not in stay and name not in scores]


def read_scores(folder: str | os.PathLike[str], epoch: int | None = None) -> dict[str, Score] | None:
    """Read what `write_scores` wrote; None where there is no file, NaN and "info" for what an older file does not have."""
    path = scores_path(folder, epoch)
    if not path.exists():
        return None
    return {name: _score(path, name, entry) for name, entry in files.read_json(path).items()}


def _score(path: Path, name: str, entry: Any) -> Score:
    value = entry.get("value") if isinstance(entry, dict) else "no object"
    if value is not None and not _is_number(value):
        raise ValueError(
            f"{path} must hold an object with a number as value for {name!r}; got {entry!r}; run untwine evaluate again."
        )
    n, direction, version, options = (entry.get(key) for key in ("n", "direction", "version", "options"))
    value, low, high, seconds = (
        number if _is_number(number := entry.get(key)) else math.nan for key in ("value", "low", "high", "seconds")
    )
    return Score(
        name,
        value,
        low,
        high,
        n=n if isinstance(n, int) else 0,
        seconds=seconds,
        direction=direction if isinstance(direction, str) else "info",
        version=version if isinstance(version, int) else 1,
        options=options if isinstance(options, dict) else {},
        samples=str(entry.get("samples", "")),
        train=str(entry.get("train", "")),
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
