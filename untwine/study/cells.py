"""One cell of a study: a method on a data set with one seed, fitted in a run folder and scored."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine.data import Splits
from untwine.evaluation.registry import METRICS
from untwine.evaluation.scoring import evaluate
from untwine.method.contract import Method
from untwine.methods import find_method
from untwine.runs import files
from untwine.runs.names import CELL
from untwine.runs.renamed import to_former
from untwine.runs.saving import seal
from untwine.runs.scores import Score, read_scores, write_scores
from untwine.samples import Samples

LABELS = ("study", "size", "data", "row")
EVERY = 15.0  # seconds between checkpoints


@dataclass(frozen=True)
class Cell:
    """What one cell runs; all of it is plain, so that it can be sealed and sent to a worker.

    Parameters
    ----------
    study, size, data, row
        Where it stands: the study's name, its size, and two labels of its file.
    name, options, part
        The data set, all its options, and what is scored: "test", or "validation", a share of the training part.
    method, params
        The method and all its fields.
    shuffle
        "groups" mixes up the groups of the training rows, "labels" the labels and factors of the scored ones; else empty.
    learn
        What classifiers and regressions of the scores learn from: "folds" of the scored rows, the "first half" of the scored
        targets, which are then not scored themselves, or the "training part", as the method did.
    metrics, resamples
        What is scored, where the method and the data have what it needs, and how many resamples an interval takes.
    epochs_scored, epochs_metrics
        After which epochs there are scores on the way, and of which metrics.
    """

    study: str
    size: str
    data: str
    row: str
    name: str
    options: Mapping[str, Any]
    part: str
    method: str
    params: Mapping[str, Any]
    shuffle: str
    learn: str
    metrics: Sequence[str]
    resamples: int
    epochs_scored: Sequence[int]
    epochs_metrics: Sequence[str]

    @property
    def seed(self) -> int:
        """The method's seed."""
        return int(self.params["seed"])

    @property
    def fingerprint(self) -> str:
        """The same for equal configurations, whatever their labels, scored by metrics of the same versions."""
        content = {key: value for key, value in self.to_json().items() if key not in LABELS}
        content["options"] = to_former(content["options"])
        # The first version goes without saying, as in the tables that are older than versions.
        names = [name for name in (*self.metrics, *self.epochs_metrics) if name in METRICS]
        raised = {name: METRICS[name].version for name in names if METRICS[name].version > 1}
        return seal(content | ({"versions": raised} if raised else {}))[:16]

    def folder(self, out: Path) -> Path:
        """Return its run folder: it stays when other scores are asked for, and is another when the training is."""
        trained = replace(self, metrics=(), resamples=0, learn="", shuffle=self.shuffle.replace("labels", ""))
        study, size, data, row = (_slug(getattr(self, label)) for label in LABELS)
        return out / study / size / data / f"{row}-seed{self.seed}-{trained.fingerprint[:8]}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as a worker reads them."""
        return dict(json.loads(json.dumps(asdict(self), default=str)))

    def __str__(self) -> str:
        return f"{self.data}, {self.row}, seed {self.seed}"


def _slug(label: str) -> str:
    return re.sub(r"[^a-z0-9.=]+", "_", label.lower()).strip("_") or "_"


def run_cell(cell: Cell, out: Path, splits: Splits) -> list[dict[str, Any]]:
    """Fit and score a cell, going on from what its run folder holds, and return its rows of the long table."""
    folder = cell.folder(out)
    files.make_folder(folder)
    with locked(folder):
        if (folder / CELL).exists():
            known = files.read_json(folder / CELL)
            if known.get("fingerprint") == cell.fingerprint:
                return list(known["rows"])
        rows = _fit_and_score(cell, folder, *_shuffled(cell, splits))
        files.write_json(folder / CELL, {"fingerprint": cell.fingerprint, "rows": rows})
        return rows


def _fit_and_score(cell: Cell, folder: Path, train: Samples, test: Samples) -> list[dict[str, Any]]:
    method, watching = find_method(cell.method)(**cell.params), 0.0

    def watch(method: Method, epoch: int) -> None:
        nonlocal watching
        if epoch in cell.epochs_scored:
            began = time.monotonic()
            # Checkpointing in a file, for a run that is resumed does not come by here again.
            write_scores(folder, _scored(cell, method, (train, test), cell.epochs_metrics), epoch)
            watching += time.monotonic() - began

    origin = {"name": cell.name, "options": cell.to_json()["options"]}
    method.fit(train, out=folder, resume=True, every=EVERY, origin=origin, watch=watch if cell.epochs_scored else None)
    write_scores(folder, _scored(cell, method, (train, test), cell.metrics))
    last = len({(row.stage, row.epoch) for row in method.history_})
    # All are read back, so that a resumed cell has the rows of one that never stopped.
    read = {epoch: read_scores(folder, epoch) for epoch in cell.epochs_scored if epoch != last} | {last: read_scores(folder)}
    by_epoch = {epoch: {name: one.to_json() for name, one in scores.items()} for epoch, scores in read.items() if scores}
    return _rows(cell, by_epoch, max(method.seconds_ - watching, 0.0))


def _scored(cell: Cell, method: Method, parts: tuple[Samples, Samples], metrics: Sequence[str]) -> dict[str, Score]:
    training, samples = parts
    train = training if cell.learn == "training part" else None
    if cell.learn == "first half":
        targets = np.arange(len(samples)) if samples.groups is None else np.flatnonzero(samples.groups)
        first = targets[: len(targets) // 2]
        train, samples = samples[first], samples[np.delete(np.arange(len(samples)), first)]
    return evaluate(method, samples, metrics, cell.resamples, train=train, skip_inapplicable=True)


def _shuffled(cell: Cell, splits: Splits) -> Splits:
    chance, (train, test) = np.random.default_rng([cell.seed, 1]), splits
    if cell.shuffle == "groups":
        if train.groups is None:
            raise ValueError(f"{cell.data} expected groups to shuffle, but has none; leave the row {cell.row!r} out.")
        train = replace(train, groups=chance.permutation(train.groups))
    if cell.shuffle == "labels":
        targets = np.arange(len(test)) if test.groups is None else np.flatnonzero(test.groups)
        order = np.arange(len(test))
        order[targets] = chance.permutation(targets)  # the background has no labels, and keeps what it has
        labels, factors = (None if column is None else column[order] for column in (test.labels, test.factors))
        test = replace(test, labels=labels, factors=factors)
    return Splits(train, test)


def _rows(cell: Cell, by_epoch: Mapping[int, Mapping[str, Any]], fit_seconds: float) -> list[dict[str, Any]]:
    from untwine import __version__

    columns = ("value", "low", "high", "n", "seconds")
    where = {label: getattr(cell, label) for label in LABELS} | {"seed": cell.seed}
    last = {"fit_seconds": round(fit_seconds, 3), "fingerprint": cell.fingerprint, "untwine": __version__}
    return [
        {**where, "epoch": epoch, "score": name, **{key: one[key] for key in columns}, **last}
        for epoch, scores in by_epoch.items()
        for name, one in scores.items()
    ]


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time write in a folder; the others wait."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
