"""A comparison: several methods on one data set, the plan of their runs and their ranking; and the file that holds it.

The file stands in the folder that holds the runs. Nothing in it is trusted when it is read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from untwine.runs import files
from untwine.runs.names import COMPARISON

State = Literal["planned", "finished", "stopped", "failed"]
PLANNED, FINISHED, STOPPED, FAILED = get_args(State)


@dataclass(frozen=True)
class Candidate:
    """One run of a comparison.

    Parameters
    ----------
    method, seed
        Catalogue name and seed.
    params
        All fields of the method; the length of training is what the budget allowed.
    folder
        Its run folder, relative to that of the comparison.
    state
        "planned", "finished", "stopped" by the budget or Ctrl-C and to be resumed, or "failed".
    reason
        Why it failed, in a sentence.
    epochs, wanted
        The epochs that it has and those that its method would have had, summed over stages; 0 of a closed form.
    seconds
        How long the fit took.
    value, terms
        The ranking without labels, and what it is made of.
    """

    method: str
    seed: int
    params: Mapping[str, Any]
    folder: str = ""
    state: State = PLANNED
    reason: str = ""
    epochs: int = 0
    wanted: int = 0
    seconds: float = 0.0
    value: float | None = None
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Several methods on one data set.

    Parameters
    ----------
    data, fingerprint
        The data's name in words, and the fingerprint of its training split.
    supervision
        "groups", "labels" or "nothing": which methods were compared.
    minutes
        The budget of the last call.
    candidates
        The runs, in the order in which they are done.
    stability
        By method, how well the codes of its seeds agree; only of methods with two or more finished seeds.
    baselines
        The methods that count as trivial.
    """

    data: str
    fingerprint: str
    supervision: str
    minutes: float
    candidates: tuple[Candidate, ...] = ()
    stability: Mapping[str, float] = field(default_factory=dict)
    baselines: tuple[str, ...] = ()

    def having(self, done: Candidate) -> Comparison:
        """Return the comparison with one candidate in place of that of the same method and seed."""
        same = [done if (one.method, one.seed) == (done.method, done.seed) else one for one in self.candidates]
        return replace(self, candidates=tuple(same))

    def finished(self) -> list[Candidate]:
        """Return the candidates that are finished."""
        return [one for one in self.candidates if one.state == FINISHED]

    def ranking(self) -> list[Place]:
        """Return the methods with a value, the best first; then those without one."""
        places = []
        for method in dict.fromkeys(one.method for one in self.finished()):
            runs = [one for one in self.finished() if one.method == method]
            valued = [one for one in runs if one.value is not None]
            values = [float(one.value) for one in valued if one.value is not None]
            best = max(valued, key=lambda one: one.value or 0.0) if valued else runs[0]
            names = valued[0].terms if valued else {}
            terms = {name: sum(one.terms.get(name, 0.0) for one in valued) / len(valued) for name in names}
            mean = sum(values) / len(values) if values else None
            places.append(Place(method, mean, tuple(values), terms, best, method in self.baselines))
        return sorted(places, key=lambda place: -math.inf if place.value is None else place.value, reverse=True)


@dataclass(frozen=True)
class Place:
    """A method's place in the ranking: mean value and terms over its seeds, the value of each, and its best run."""

    method: str
    value: float | None
    values: tuple[float, ...]
    terms: Mapping[str, float]
    best: Candidate
    is_baseline: bool


def write_comparison(folder: str | os.PathLike[str], comparison: Comparison) -> None:
    """Write a comparison into its folder, whole or not at all."""
    files.write_json(Path(folder) / COMPARISON, asdict(comparison))


def read_comparison(folder: str | os.PathLike[str]) -> Comparison | None:
    """Read what `write_comparison` wrote; None where there is no file."""
    path = Path(folder) / COMPARISON
    if not path.exists():
        return None
    content = files.read_json(path)
    candidates, stability = content.get("candidates"), content.get("stability", {})
    if not isinstance(candidates, list) or not _are_numbers(stability):
        raise _refuse(path)
    texts = [content.get(key) for key in ("data", "fingerprint", "supervision")]
    baselines, minutes = content.get("baselines", []), content.get("minutes", "none")
    if not all(isinstance(text, str) for text in (*texts, *baselines)) or not _is_number(minutes):
        raise _refuse(path)
    data, fingerprint, supervision = map(str, texts)
    read = tuple(_candidate(path, one) for one in candidates)
    return Comparison(data, fingerprint, supervision, float(minutes), read, stability, tuple(baselines))


def _candidate(path: Path, content: Any) -> Candidate:
    kinds: Mapping[str, Any] = {
        **dict.fromkeys(("method", "folder", "state", "reason"), lambda value: isinstance(value, str)),
        **dict.fromkeys(("seed", "epochs", "wanted"), lambda value: isinstance(value, int) and not isinstance(value, bool)),
        "seconds": _is_number,
        "value": lambda value: value is None or _is_number(value),
        "params": lambda value: isinstance(value, Mapping),
        "terms": _are_numbers,
    }
    known = isinstance(content, Mapping) and set(content) == set(kinds)
    if not known or not all(fits(content[key]) for key, fits in kinds.items()) or content["state"] not in get_args(State):
        raise _refuse(path)
    inside = PurePosixPath(content["folder"])
    if inside.is_absolute() or ".." in inside.parts:  # only run folders of this folder are read
        raise _refuse(path)
    return Candidate(**content)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _are_numbers(content: Any) -> bool:
    return isinstance(content, Mapping) and all(_is_number(value) for value in content.values())


def _refuse(path: Path) -> ValueError:
    return ValueError(
        f"{path} must be as untwine compare wrote it; it holds something else; restore it, or compare into another folder."
    )
