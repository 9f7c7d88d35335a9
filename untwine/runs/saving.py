"""A fitted method on disk: its card, weights and history, each written whole, sealed, and checked when read back."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from untwine.runs import files
from untwine.runs.compatibility import to_today
from untwine.runs.history import Row, write_history
from untwine.runs.model_card import write_model_card
from untwine.runs.names import DERIVED, FORMAT_VERSION, METHOD, WEIGHTS

NEEDED = {"method", "params", "shape", "own_networks", "data", "seconds", "weights_sha256"}  # to build the method again


def seal(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of plain content, so that a changed file is noticed."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def write(
    folder: Path, card: Mapping[str, Any], tensors: Mapping[str, Tensor], history: Sequence[Row], citation: str = ""
) -> None:
    """Write a run; the card comes last, so that a folder that has one is complete."""
    for name in (METHOD, *DERIVED):
        (folder / name).unlink(missing_ok=True)
    weights = files.write_tensors(folder / WEIGHTS, tensors)
    write_history(folder, history)
    whole = {"format_version": FORMAT_VERSION, **card, "versions": _versions(), "weights_sha256": weights}
    write_model_card(folder, whole, citation)
    files.write_json(folder / METHOD, {**whole, "sha256": seal(whole)})


def read_card(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the card of a run to show it: a format version that is not too new, a method's name and whatever else is there."""
    return _as_today(_read_card(Path(folder)))


def read_sealed_card(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the card of a run to build its method again: it must be complete, and as it was saved."""
    card = _read_card(Path(folder))
    if card.pop("sha256", None) != seal(card):
        raise ValueError(f"{Path(folder) / METHOD} must be as it was saved; it was changed; restore it or fit the run again.")
    if lacking := NEEDED - set(card):
        raise unknown_method(folder, f"it has no {' and no '.join(sorted(lacking))}.")
    return _as_today(card)


def unknown_method(folder: str | os.PathLike[str], reason: object) -> ValueError:
    """Return the error of a card whose method or options this version cannot build."""
    return ValueError(f"{Path(folder) / METHOD} must name a method and options that this version knows: {reason}")


def read_weights(folder: Path, card: Mapping[str, Any]) -> dict[str, Tensor]:
    """Read the weights that belong to the card."""
    weights = folder / WEIGHTS
    if not weights.exists():
        raise ValueError(f"{folder} must have {WEIGHTS} beside {METHOD}; it is missing; restore it.")
    if files.sha256(weights) != card["weights_sha256"]:
        raise ValueError(f"{weights} must be the weights that were saved; they were changed or cut short; restore the file.")
    return files.read_tensors(weights)[0]


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / METHOD
    if not path.is_file():
        reason = f"there is no {METHOD} in it" if folder.is_dir() else "there is no such folder"
        raise ValueError(
            f"{folder} must be a run folder of untwine; {reason}; make one with method.save or `untwine fit --out`."
        )
    card = files.read_json(path)
    version = card.get("format_version")
    if isinstance(version, bool) or not isinstance(version, int) or not isinstance(card.get("method"), str):
        raise ValueError(
            f"{path} must have an integer format_version and the name of a method; got {version!r} and {card.get('method')!r}; "
            "it was not written by untwine."
        )
    if version > FORMAT_VERSION:
        raise ValueError(f"{path} must have format {FORMAT_VERSION} or older; got {version}; upgrade untwine to read it.")
    return card


def _as_today(card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card with the options of its data spelled as they are today."""
    data = card.get("data")
    if isinstance(data, Mapping) and isinstance(data.get("options"), Mapping):
        return {**card, "data": {**data, "options": to_today(data["options"])}}
    return dict(card)


def _versions() -> dict[str, str]:
    from untwine import __version__

    return {"untwine": __version__, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__}
