"""One cell of a study: a method on a data set with one seed, fitted in a run folder and scored."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data import Splits, data_sets, origin
from untwine.data.sources import repeated_sources
from untwine.evaluation.registry import METRICS
from untwine.evaluation.run import evaluate_run
from untwine.method.contract import Method
from untwine.methods import find_method
from untwine.metrics.options import parse
from untwine.runs import files
from untwine.runs.compatibility import to_former
from untwine.runs.locking import lock
from untwine.runs.names import CELL, FAILED
from untwine.runs.saving import seal
from untwine.runs.scores import read_scores
from untwine.samples import Samples

LABELS = ("study", "size", "data", "row")
EVERY = 15.0  # seconds between checkpoints


@dataclass(frozen=True)
class Cell:
    """The whole configuration of one cell, in plain values, so that it can be hashed and sent to a worker.

    Parameters
    ----------
    study, size, data, row
        Labels: the study's name, its size, and the labels of data set and row in its file.
    name, options, part
        The data set, all its options, and the split that is scored: "test", or "validation", held out of the training split.
        Your own data by their path, or by the options `target` and `background`; of data in memory there is no name.
    method, params
        The method and all its fields.
    shuffle
        "groups" permutes the groups of the training samples, "labels" the labels and factors of the scored ones; else empty.
    learn
        What the metrics' classifiers and regressions are trained on: cross-validation "folds" of the scored samples, the
        "first half" of the scored targets (of whole sources), which are then not scored, or the method's training split,
        "training part".
    metrics, resamples
        The metrics, as far as they apply to the method and the data, with the options that do not have their default value, as
        "z_diff(pairs=256)"; and the number of bootstrap resamples of an interval.
    epochs_scored, epochs_metrics
        The epochs after which scores are computed during training, and their metrics.
    """

    study: str
    size: str
    data: str
    row: str
    name: str | None
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
        """A hash of the configuration, labels left out, and of the versions of its metrics."""
        content = {key: value for key, value in self.to_json().items() if key not in LABELS}
        content["options"] = to_former(str(self.name), content["options"])
        content["params"] = to_former(self.method, content["params"])
        # Version 1 is left out, as in long tables that were written before metrics had versions.
        names = [name for name in map(_plain, (*self.metrics, *self.epochs_metrics)) if name in METRICS]
        raised = {name: METRICS[name].version for name in names if METRICS[name].version > 1}
        return seal(content | ({"versions": raised} if raised else {}))[:16]

    def folder(self, out: Path) -> Path:
        """Return its run folder: the same for other metrics, another for another training configuration."""
        trained = replace(self, metrics=(), resamples=0, learn="", shuffle=self.shuffle.replace("labels", ""))
        study, size, data, row = (_slug(getattr(self, label)) for label in LABELS)
        return out / study / size / data / f"{row}-seed{self.seed}-{trained.fingerprint[:8]}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON, for a worker."""
        return dict(json.loads(json.dumps(asdict(self), default=str)))

    def __str__(self) -> str:
        return f"{self.data}, {self.row}, seed {self.seed}"


def _plain(metric: str) -> str:
    return parse(metric)[0]


def _slug(label: str) -> str:
    return re.sub(r"[^a-z0-9.=]+", "_", label.lower()).strip("_") or "_"


class Finished(NamedTuple):
    """The rows of a cell in the long table, and whether they were in its run folder already."""

    rows: list[dict[str, Any]]
    known: bool


def run_cell(cell: Cell, out: Path, splits: Splits) -> list[dict[str, Any]]:
    """Fit and score a cell, resuming from its run folder, and return its rows of the long table."""
    folder = cell.folder(out)
    files.make_folder(folder)
    with lock(folder):
        return _run(cell, folder, lambda: splits).rows


def try_cell(cell: Cell, out: Path, load: Callable[[], Splits]) -> Finished | None:
    """Do the same unless another process is running the cell, then return None; data are loaded only if they are needed."""
    folder = cell.folder(out)
    files.make_folder(folder)
    with lock(folder, wait=False) as mine:
        return _run(cell, folder, load) if mine else None


def has_rows(cell: Cell, out: Path) -> bool:
    """Whether the run folder of a cell has its rows of the long table."""
    path = cell.folder(out) / CELL
    return path.exists() and files.read_json(path).get("fingerprint") == cell.fingerprint


def note_failure(cell: Cell, out: Path, sentence: str) -> None:
    """Keep the sentence with which a cell failed in its run folder, until it is run again."""
    files.write_json(cell.folder(out) / FAILED, {"sentence": sentence, "time": time.time()})


def failure(cell: Cell, out: Path) -> str:
    """Return the sentence with which a cell failed; empty if it did not, or has been run since."""
    path = cell.folder(out) / FAILED
    return str(files.read_json(path).get("sentence", "")) if path.exists() else ""


def _run(cell: Cell, folder: Path, load: Callable[[], Splits]) -> Finished:
    if (folder / CELL).exists():
        known = files.read_json(folder / CELL)
        if known.get("fingerprint") == cell.fingerprint:
            return Finished(list(known["rows"]), known=True)
    (folder / FAILED).unlink(missing_ok=True)
    rows = _fit_and_score(cell, folder, *_shuffle(cell, load()))
    files.write_json(folder / CELL, {"fingerprint": cell.fingerprint, "rows": rows})
    return Finished(rows, known=False)


def _fit_and_score(cell: Cell, folder: Path, train: Samples, test: Samples) -> list[dict[str, Any]]:
    method, watching = find_method(cell.method)(**cell.params), 0.0

    def watch(method: Method, epoch: int) -> None:
        nonlocal watching
        if epoch in cell.epochs_scored:
            began = time.monotonic()
            # Written to a file: a resumed run does not pass this epoch again.
            _score(cell, folder, method, Splits(train, test), cell.epochs_metrics, epoch)
            watching += time.monotonic() - began

    method.fit(train, out=folder, resume=True, every=EVERY, origin=_origin(cell), watch=watch if cell.epochs_scored else None)
    _score(cell, folder, method, Splits(train, test), cell.metrics)
    last = len({(row.stage, row.epoch) for row in method.history_})
    # All are read back, so that a resumed cell has the rows of one that never stopped.
    read = {epoch: read_scores(folder, epoch) for epoch in cell.epochs_scored if epoch != last} | {last: read_scores(folder)}
    scores = {epoch: {name: one.to_json() for name, one in known.items()} for epoch, known in read.items() if known}
    return _rows(cell, scores, max(method.seconds_ - watching, 0.0))


def _origin(cell: Cell) -> dict[str, Any] | None:
    """Return the name and the options of the data that the run folder stores; None for data in memory, which have neither."""
    options = cell.to_json()["options"]
    if cell.name in data_sets():
        return {"name": cell.name, "options": options}
    return origin(cell.name, options) if cell.name is not None or "target" in options else None


def _score(cell: Cell, folder: Path, method: Method, splits: Splits, metrics: Sequence[str], epoch: int | None = None) -> None:
    training, samples = splits
    train = training if cell.learn == "training part" else None
    if cell.learn == "first half":
        first = _first_half(samples)
        train, samples = samples[first], samples[np.delete(np.arange(len(samples)), first)]
    evaluate_run(
        folder,
        data=Splits(training, samples),
        method=method,
        metrics=metrics,
        seeds=cell.resamples,
        train=train,
        skip_inapplicable=True,
        gallery=False,
        keep=False,
        epoch=epoch,
    )


def _first_half(samples: Samples) -> Array:
    """Return the first half of the target samples; with sources, those of the first sources, as many as come nearest to it."""
    targets = np.arange(len(samples)) if samples.groups is None else np.flatnonzero(samples.groups)
    sources = None if samples.sources is None else repeated_sources(samples.sources[targets], len(targets))
    if sources is None:
        return targets[: len(targets) // 2]
    _, first, counts = np.unique(sources, return_index=True, return_counts=True)
    order = np.argsort(first)
    many = np.abs(np.cumsum(counts[order]) - len(targets) / 2).argmin() + 1
    return targets[np.isin(sources, order[:many])]


def _shuffle(cell: Cell, splits: Splits) -> Splits:
    rng, (train, test) = np.random.default_rng([cell.seed, 1]), splits
    if cell.shuffle == "groups":
        if train.groups is None:
            raise ValueError(
                f"{cell.data} must have groups to shuffle; got samples without groups; remove the row {cell.row!r}."
            )
        train = replace(train, groups=rng.permutation(train.groups))
    if cell.shuffle == "labels":
        targets = np.arange(len(test)) if test.groups is None else np.flatnonzero(test.groups)
        order = np.arange(len(test))
        order[targets] = rng.permutation(targets)  # the background has no labels and is left as it is
        truth = {name: getattr(test, name) for name in ("labels", "factors", "masks")}
        test = replace(test, **{name: column[order] for name, column in truth.items() if column is not None})
    return Splits(train, test)


def _rows(cell: Cell, by_epoch: Mapping[int, Mapping[str, Any]], fit_seconds: float) -> list[dict[str, Any]]:
    from untwine import __version__

    where = {label: getattr(cell, label) for label in LABELS} | {"seed": cell.seed}
    last = {"fit_seconds": round(fit_seconds, 3), "fingerprint": cell.fingerprint, "untwine": __version__}
    return [
        {**where, "epoch": epoch, "score": name, **{key: one[key] for key in ("value", "low", "high", "n", "seconds")}, **last}
        for epoch, scores in by_epoch.items()
        for name, one in scores.items()
    ]
