"""Read all that run folders hold but the weights: nothing is trusted, and only JSON, CSV and plain arrays are read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from untwine.registry.blocks import members
from untwine.runs.diagnostics import Codes, Contrast, read_codes, read_contrast
from untwine.runs.features import Feature, features_path, read_features
from untwine.runs.gallery import Gallery, read_gallery
from untwine.runs.history import Row, read_history
from untwine.runs.names import METHOD, is_run
from untwine.runs.saving import read_card
from untwine.runs.scores import Score, read_scores


@dataclass(frozen=True)
class Run:
    """What a run folder holds; a file that is not there is None, and an empty gallery.

    Parameters
    ----------
    name
        The folder, relative to the one that the page is about.
    path
        Where it is.
    card
        The configuration of the run: its method, parameters, data, versions.
    scores, history, gallery, contrast, codes, features
        What was measured.
    baselines
        The runs right inside of this one.
    """

    name: str
    path: Path
    card: Mapping[str, Any]
    scores: Mapping[str, Score] | None = None
    history: tuple[Row, ...] | None = None
    gallery: Gallery = Gallery()  # noqa: RUF009 (frozen)
    contrast: Contrast | None = None
    codes: Mapping[tuple[str, str], Codes] | None = None
    features: tuple[Feature, ...] = ()
    baselines: tuple[Run, ...] = ()

    @property
    def method(self) -> str:
        """The catalogue name of the method."""
        return str(self.card["method"])

    @property
    def blocks(self) -> tuple[str, ...]:
        """The method's latent blocks, by its card or else by its scores."""
        blocks = self.card.get("blocks")
        return (
            tuple(blocks) if isinstance(blocks, Mapping) else tuple(dict.fromkeys(split(name)[1] for name in self.scores or ()))
        )

    @property
    def is_contrastive(self) -> bool:
        """Whether the method has a common and a salient block, or one for each target."""
        return "common" in self.blocks and self.has_salient

    @property
    def has_salient(self) -> bool:
        """Whether the method has a salient block, or one for each target."""
        return bool(members("salient", self.blocks))

    @property
    def has_images(self) -> bool:
        """Whether a sample is drawn as an image: it is one, or a volume, of which the middle slice is shown."""
        shape = self.card.get("shape")
        return isinstance(shape, list) and len(shape) in (3, 4)

    @property
    def draws_images(self) -> bool:
        """Whether samples are drawn as images: because they are, or because they are features of images."""
        return self.has_images or self.gallery.nearest

    def width(self, block: str) -> int | None:
        """Return the number of dimensions of a block, if it is known."""
        table = self.table("blocks")
        widths = [table[name] for name in members(block, table)]
        return sum(widths) if widths and all(isinstance(width, int) for width in widths) else None

    def table(self, key: str) -> Mapping[str, Any]:
        """Return a table of the card, empty where it is missing."""
        value = self.card.get(key)
        return value if isinstance(value, Mapping) else {}


def split(score: str) -> tuple[str, str]:
    """Return the metric and the block of a score's name."""
    metric, _, block = score.rpartition(".")  # the options of a metric, which are in the name, may have dots
    return metric, block


def read_runs(folder: str | os.PathLike[str]) -> list[Run]:
    """Read every run at or below a folder, parents before the baselines inside them."""
    root = Path(folder)
    runs = [_read(path, root) for path in _paths(root)]
    return [replace(run, baselines=tuple(other for other in runs if other.path.parent == run.path)) for run in runs]


def read_cards(folder: str | os.PathLike[str]) -> tuple[list[Run], dict[str, str]]:
    """Read the cards of every run at or below a folder, and nothing else of them; and why by name for those that are damaged.

    It is an error if all are.
    """
    root = Path(folder)
    runs: list[Run] = []
    damaged: dict[str, str] = {}
    for path in _paths(root):
        name = _name(path, root)
        try:
            runs.append(Run(name, path, read_card(path)))
        except (ValueError, OSError) as error:
            damaged[name] = str(error)
    if not runs:
        raise ValueError(next(iter(damaged.values())))
    return runs, damaged


def _paths(root: Path) -> list[Path]:
    if not root.is_dir():
        raise ValueError(f"runs must be a folder of runs; {str(root)!r} is not a folder; make one with untwine fit.")
    paths = []
    for path, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if METHOD in names:
            paths.append(Path(path))
    if not paths:
        raise ValueError(
            f"runs must be a run folder or hold some; there is no {METHOD} in {str(root)!r} or below; make a run with "
            "untwine fit."
        )
    return paths


def _name(path: Path, root: Path) -> str:
    # A run that is the root itself is named by its folder, those inside by their path from there.
    top = root.resolve().name
    name = top if path == root else str(path.relative_to(root))
    return f"{top}/{name}" if path != root and is_run(root) else name


def _read(path: Path, root: Path) -> Run:
    history = read_history(path)
    return Run(
        _name(path, root),
        path,
        read_card(path),
        scores=read_scores(path),
        history=None if history is None else tuple(history),
        gallery=read_gallery(path) or Gallery(),
        contrast=read_contrast(path),
        codes=read_codes(path),
        features=tuple(read_features(features_path(path)) or ()),
    )
