"""Run folders on disk: `method.json`, `weights.safetensors`, `history.csv`, each whole, sealed and read back with suspicion."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from untwine.runs import files
from untwine.runs.history import Row
from untwine.runs.renamed import to_today

FORMAT_VERSION = 1
CHECKPOINT = "checkpoint.safetensors"
SCORED = (
    "scores.json",
    "gallery.npz",
    "contrast.json",
    "codes.json",
    "report.html",
)  # what was made of other weights does not stay beside new ones
NEEDED = {"method", "params", "shape", "own_networks", "data", "seconds", "weights_sha256"}


def seal(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain content, so that a changed file is noticed."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def is_finished(folder: Path) -> bool:
    """Whether a run was saved there and none is under way."""
    return (folder / "method.json").exists() and not (folder / CHECKPOINT).exists()


def write(folder: Path, card: Mapping[str, Any], tensors: Mapping[str, Tensor], history: Sequence[Row]) -> None:
    """Write a run; `method.json` comes last, so that a folder that has one is complete."""
    (folder / "method.json").unlink(missing_ok=True)
    for name in SCORED:
        (folder / name).unlink(missing_ok=True)
    weights = files.write_tensors(folder / "weights.safetensors", tensors)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(Row._fields)
    writer.writerows((*row[:4], repr(row.value)) for row in history)
    files.write(folder / "history.csv", table.getvalue())
    whole = {"format_version": FORMAT_VERSION, **card, "versions": _versions(), "weights_sha256": weights}
    files.write_json(folder / "method.json", {**whole, "sha256": seal(whole)})


def read_card(folder: Path) -> dict[str, Any]:
    """Read `method.json`; what is not ours, too new, cut short or changed is refused in one sentence."""
    if not (folder / "method.json").is_file():
        reason = "there is no method.json in it" if folder.is_dir() else "there is no such folder"
        raise ValueError(
            f"{folder} must be a run folder of untwine, but {reason}; make one with method.save or `untwine fit --out`."
        )
    card = files.read_json(folder / "method.json")
    version = card.get("format_version")
    if not isinstance(version, int):
        raise ValueError(
            f"{folder} must be a run folder of untwine, but its method.json has no format_version; it is not ours."
        )
    if version > FORMAT_VERSION:
        raise ValueError(f"{folder} expected format {FORMAT_VERSION} or older, but has {version}; update untwine to read it.")
    if card.pop("sha256", None) != seal(card):
        raise ValueError(f"{folder}/method.json expected to be as it was saved, but it was changed; restore it or fit again.")
    if lacking := NEEDED - set(card):
        raise ValueError(
            f"{folder}/method.json must be a method and options that this version knows, but: "
            f"it does not say its {' and '.join(sorted(lacking))}."
        )
    if isinstance(data := card["data"], dict) and isinstance(data.get("options"), dict):
        card["data"] = {**data, "options": to_today(data["options"])}
    return card


def read_weights(folder: Path, card: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read the weights that belong to the card."""
    weights = folder / "weights.safetensors"
    if not weights.exists():
        raise ValueError(f"{folder} expected weights.safetensors beside method.json, but it is missing; restore it.")
    if files.sha256(weights) != card["weights_sha256"]:
        raise ValueError(
            f"{weights} expected the weights that were saved, but they were changed or cut short; restore the file."
        )
    return files.read_tensors(weights)[0]


def read_history(folder: Path) -> list[Row]:
    """Read the history back; none is an empty one."""
    path = folder / "history.csv"
    if not path.exists():
        return []
    try:
        with path.open(newline="") as file:
            return [Row(r["stage"], int(r["epoch"]), r["player"], r["term"], float(r["value"])) for r in csv.DictReader(file)]
    except (ValueError, KeyError, TypeError, csv.Error):
        columns = ", ".join(Row._fields)
        raise ValueError(f"{path} expected the columns {columns} as they were saved, but it was changed; restore it.") from None


def _versions() -> dict[str, str]:
    from untwine import __version__

    return {"untwine": __version__, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
