"""Read run folders: nothing is trusted, and nothing but JSON, CSV and plain arrays is read."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine._typing import Array
from untwine.runs.files import read_json
from untwine.runs.history import terms
from untwine.runs.measured import Codes, Contrast, read_codes, read_contrast

Score = Mapping[str, Any]

FORMAT = 1
COLUMNS = {"stage", "epoch", "player", "term", "value"}


@dataclass(frozen=True)
class Run:
    """What a run folder holds; a file that is not there is None.

    Parameters
    ----------
    name
        The folder, as seen from the folder that the page is about.
    path
        Where it is.
    about
        The content of method.json.
    scores, history, gallery
        The content of scores.json, history.csv and gallery.npz.
    contrast, codes
        The content of contrast.json and codes.json.
    baselines
        The runs right inside of this one.
    """

    name: str
    path: Path
    about: Mapping[str, Any]
    scores: Mapping[str, Score] | None = None
    history: tuple[Mapping[str, str], ...] | None = None
    gallery: Mapping[str, Array] | None = None
    contrast: Contrast | None = None
    codes: Mapping[tuple[str, str], Codes] | None = None
    baselines: tuple[Run, ...] = ()

    @property
    def method(self) -> str:
        """The catalogue name of the method."""
        return str(self.about["method"])

    @property
    def blocks(self) -> tuple[str, ...]:
        """The method's parts as far as the files tell, those of method.json first."""
        known = self.about.get("blocks")
        return (
            tuple(known) if isinstance(known, Mapping) else tuple(dict.fromkeys(split(name)[1] for name in self.scores or ()))
        )

    @property
    def is_contrastive(self) -> bool:
        """Whether the method takes a common and a salient part apart."""
        return {"common", "salient"} <= set(self.blocks)

    @property
    def has_images(self) -> bool:
        """Whether a sample is an image."""
        shape = self.about.get("shape")
        return isinstance(shape, list) and len(shape) == 3

    def width(self, block: str) -> int | None:
        """Return the number of dimensions of a block, if it is known."""
        width = self.part("blocks").get(block)
        return width if isinstance(width, int) else None

    def part(self, key: str) -> Mapping[str, Any]:
        """Return a table of method.json, empty where it is missing."""
        value = self.about.get(key)
        return value if isinstance(value, Mapping) else {}


def split(score: str) -> tuple[str, str]:
    """Return the metric and the block of a score's name."""
    metric, _, block = score.partition(".")
    return metric, block


def read_runs(folder: str | os.PathLike[str]) -> list[Run]:
    """Read every run at or below a folder, parents before the baselines inside them."""
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"report must be a folder of runs, but {str(folder)!r} is not a folder; make one with untwine fit.")
    found = []
    for path, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "method.json" in files:
            found.append(Path(path))
    if not found:
        raise ValueError(
            f"report expected run folders, but found no method.json in {str(folder)!r} or below; make a run with untwine fit."
        )
    runs = [_read(path, root) for path in found]
    return [replace(run, baselines=tuple(other for other in runs if other.path.parent == run.path)) for run in runs]


def _read(path: Path, root: Path) -> Run:
    about = read_json(path / "method.json")
    version = about.get("format_version")
    if not isinstance(version, int) or not isinstance(about.get("method"), str):
        raise ValueError(
            f"{path / 'method.json'} must be a format_version and a method, but one is missing; fit the run again."
        )
    if version > FORMAT:
        raise ValueError(
            f"{path / 'method.json'} has format {version}, but this untwine reads up to {FORMAT}; upgrade untwine."
        )
    # A run that is the root itself is called by its folder, what lies inside by the way from there.
    top = root.resolve().name
    name = top if path == root else str(path.relative_to(root))
    if path != root and (root / "method.json").exists():
        name = f"{top}/{name}"
    return Run(
        name,
        path,
        about,
        scores=_scores(path / "scores.json"),
        history=_history(path / "history.csv"),
        gallery=_gallery(path / "gallery.npz"),
        contrast=read_contrast(path / "contrast.json"),
        codes=read_codes(path / "codes.json"),
    )


def _scores(path: Path) -> dict[str, Score] | None:
    if not path.exists():
        return None
    scores = read_json(path)
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else "nothing"
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise ValueError(f"{path} must be a number as value of {name!r}; got something else; run untwine evaluate again.")
    return scores


def _history(path: Path) -> tuple[Mapping[str, str], ...] | None:
    if not path.exists():
        return None
    try:
        reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
        rows = tuple(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} must be a table of text, but it cannot be read ({error}); fit the run again.") from None
    if missing := COLUMNS - set(reader.fieldnames or ()):
        raise ValueError(f"{path} expected the columns {sorted(COLUMNS)}, but lacks {sorted(missing)}; fit the run again.")
    try:
        terms(rows)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return rows


def _gallery(path: Path) -> dict[str, Array] | None:
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} expected plain arrays, but it is damaged or holds something else ({error}); run untwine evaluate again."
        ) from None
