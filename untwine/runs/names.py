"""The files of a run folder by name, and what a folder is by the files that it has."""

from __future__ import annotations

import os
from pathlib import Path

FORMAT_VERSION = 1

METHOD = "method.json"
WEIGHTS = "weights.safetensors"
HISTORY = "history.csv"
CHECKPOINT = "checkpoint.safetensors"
FINAL_CHECKPOINT = "final_checkpoint.safetensors"
SCORES = "scores.json"
GALLERY = "gallery.npz"
CONTRAST = "contrast.json"
CODES = "codes.json"
REPORT = "report.html"
SELECTIONS = "selections.json"
CELL = "cell.json"
FAILED = "failed.json"
LOCK = ".locked_by"
FEATURES = "features.csv"
MODEL_CARD = "README.md"
COMPARISON = "comparison.json"

# Computed from the weights, so that new weights make them stale.
DERIVED = (SCORES, GALLERY, CONTRAST, CODES, FEATURES, REPORT)
# What a run is shared with.
SHARED = (METHOD, WEIGHTS, HISTORY, SCORES, GALLERY, CONTRAST, CODES, FEATURES, MODEL_CARD)


def scores_name(epoch: int | None = None) -> str:
    """Return the name of the file of scores: of the finished run, or of the method as it was after an epoch."""
    return SCORES if epoch is None else f"scores_{epoch}.json"


def is_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a finished run was saved in the folder."""
    return (Path(folder) / METHOD).exists()


def checkpoint_path(folder: str | os.PathLike[str]) -> Path:
    """Return the path of the checkpoint that a fit keeps in the folder while it is under way."""
    return Path(folder) / CHECKPOINT


def final_checkpoint_path(folder: str | os.PathLike[str]) -> Path:
    """Return the path of the checkpoint that a finished run has if it was asked to keep one, to be trained longer."""
    return Path(folder) / FINAL_CHECKPOINT


def finish_checkpoint(folder: str | os.PathLike[str], keep: bool) -> None:
    """Remove the checkpoint of a fit that is finished and saved, or keep it as the final one."""
    final = final_checkpoint_path(folder)
    if keep and has_checkpoint(folder):
        checkpoint_path(folder).replace(final)
        return
    checkpoint_path(folder).unlink(missing_ok=True)
    final.unlink(missing_ok=True)


def has_checkpoint(folder: str | os.PathLike[str]) -> bool:
    """Whether a fit that has not finished left a checkpoint in the folder."""
    return checkpoint_path(folder).exists()


def is_finished(folder: str | os.PathLike[str]) -> bool:
    """Whether a run was saved in the folder and none is under way."""
    return is_run(folder) and not has_checkpoint(folder)


def report_path(folder: str | os.PathLike[str]) -> Path:
    """Return where the page about a folder of runs is written unless another place is named."""
    return Path(folder) / REPORT
