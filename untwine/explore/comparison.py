"""Runs side by side: their scores with what each means, and the curves of their training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from untwine.evaluation.registry import explain
from untwine.runs.history import read_history, terms
from untwine.runs.names import is_run
from untwine.runs.reading import Run, split
from untwine.runs.scores import Score, read_scores

MAX_POINTS = 400  # of a curve


def all_scores(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the scores of all runs that are there, and what each score means; a run without scores has none."""
    scores: dict[int, Mapping[str, Score]] = {}
    problems: dict[int, str] = {}
    for number, run in enumerate(runs):
        if not is_run(run.path):
            problems[number] = "its folder was deleted or moved"
            continue
        try:
            scores[number] = read_scores(run.path) or {}
        except (ValueError, OSError) as error:
            problems[number] = str(error)
    return {
        "scores": {number: {name: _plain(score) for name, score in own.items()} for number, own in scores.items()},
        "problems": problems,
        "meanings": {name: _meaning(name) for name in dict.fromkeys(name for own in scores.values() for name in own)},
    }


def curves(run: Run) -> list[dict[str, Any]]:
    """Return every term of a run's training history: its stage, player and name, and its values by epoch."""
    history = read_history(run.path) or []
    return [
        {"stage": stage, "player": player, "term": term, **_thinned(epochs, values)}
        for (stage, player, term), (epochs, values) in terms(history).items()
    ]


def _plain(score: Score) -> dict[str, Any]:
    numbers = {"value": score.value, "low": score.low, "high": score.high}
    finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
    return {**finite, "n": score.n, "direction": score.direction, "version": score.version, "samples": score.samples}


def _meaning(name: str) -> dict[str, str]:
    metric, block = split(name)
    return {"metric": metric, "block": block, "words": explain(name) or "A score of a metric that is not installed here."}


def _thinned(epochs: Iterable[float], values: Iterable[float]) -> dict[str, list[float | None]]:
    """Return at most `MAX_POINTS` points of a curve, its ends included."""
    x, y = np.asarray(epochs, dtype=float), np.asarray(values, dtype=float)
    kept = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).round().astype(int))
    return {
        "epochs": [float(one) for one in x[kept]],
        "values": [float(one) if math.isfinite(one) else None for one in y[kept]],
    }
