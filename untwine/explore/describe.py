"""What the page says of runs and samples, as JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from untwine.explore import payload
from untwine.explore.columns import Column, text_of
from untwine.explore.query import Query
from untwine.explore.state import Ready
from untwine.runs.reading import Run

MAX_NEIGHBOURS = 24


def describe_runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return name, method, blocks and data (a file without its folder) of every run; runs on the same data have its number."""
    keys = [_data_key(run) for run in runs]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [
        {
            "number": number,
            "name": run.name,
            "method": run.method,
            "blocks": {block: run.width(block) for block in run.blocks},
            "data": Path(str(run.table("data").get("name") or "data in memory")).name,
            "data_number": numbers[key],
            "params": {name: str(value) for name, value in run.table("params").items()},
        }
        for number, (run, key) in enumerate(zip(runs, keys, strict=True))
    ]


def describe(ready: Ready) -> dict[str, Any]:
    """Return what the page must know of an open run."""
    opened = ready.opened
    return {
        "n": len(opened),
        "step": opened.shown.step,
        "of": opened.shown.of,
        "note": opened.shown.note,
        "shape": list(opened.samples.shape),
        "image": opened.is_image,
        "blocks": {block: codes.shape[1] for block, codes in opened.codes.items()},
        "choices": list(opened.blocks),
        "changed_block": opened.changed_block,
        "starts": opened.starts,
        "columns": [_describe_column(column) for column in ready.columns],
        "features": list(opened.feature_names),
        "feature_std": [] if opened.is_image else [float(std) for std in opened.feature_std],
    }


def facts(ready: Ready, query: Query) -> dict[str, Any]:
    """Return what is known of one sample, and the samples that are nearest to it in each block."""
    opened = ready.opened
    i, k = query.integer("sample", 0, len(opened) - 1), query.integer("neighbours", 1, MAX_NEIGHBOURS, 6)
    near = {block: opened.nearest(i, block, k) for block in opened.codes}
    known = [{"name": column.name, "kind": column.kind, "text": text_of(column, i)} for column in ready.columns]
    return {
        "sample": i,
        "position": i * opened.shown.step,
        "id": "" if opened.samples.ids is None else str(opened.samples.ids[i]),
        "columns": [one for one in known if one["text"]],
        "neighbours": {
            block: [{"sample": int(j), "distance": float(d)} for j, d in zip(*pair, strict=True)]
            for block, pair in near.items()
        },
    }


def selection_table(ready: Ready, samples: Sequence[int]) -> str:
    """Return the selected samples as CSV: position, id, columns, and the codes of all blocks."""
    opened = ready.opened
    ids = opened.samples.ids
    blocks = [(block, codes) for block, codes in opened.codes.items()]
    header = ["position", *([] if ids is None else ["id"]), *(column.name for column in ready.columns)]
    header += [f"{block} {k}" for block, codes in blocks for k in range(codes.shape[1])]
    rows = []
    for i in samples:
        row: list[object] = [i * opened.shown.step, *([] if ids is None else [str(ids[i])])]
        row += [text_of(column, i) if column.levels else _number(column, i) for column in ready.columns]
        rows.append(row + [float(code) for _, codes in blocks for code in codes[i]])
    return payload.table(header, rows)


def _describe_column(column: Column) -> dict[str, Any]:
    known = column.values[~np.isnan(column.values)]
    ends = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    return {"name": column.name, "kind": column.kind, "levels": list(column.levels), "low": ends[0], "high": ends[1]}


def _number(column: Column, position: int) -> float | str:
    value = float(column.values[position])
    return "" if np.isnan(value) else value


def _data_key(run: Run) -> str:
    data = {key: value for key, value in run.table("data").items() if key != "rows"}
    return json.dumps([data, run.card.get("shape"), run.card.get("feature_names")], sort_keys=True, default=str)
