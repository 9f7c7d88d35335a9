"""A run folder that holds a finished run: whether a method is that run, or the same one trained for more epochs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untwine.runs.compatibility import settle, to_former
from untwine.runs.names import final_checkpoint_path


def shorter_epochs(folder: Path, card: Mapping[str, Any], name: str, params: Mapping[str, Any], data: str) -> int | None:
    """Return the epochs of the finished run if the method has more and all else is equal, None if the method is that run.

    Another method, other options or other data (by their fingerprint) are refused; so is training longer without the checkpoint
    that `keep_checkpoint` leaves.
    """
    chosen = card.get("found", {})
    settled = settle(card["params"], chosen)  # what was chosen from the data may be given by hand
    same_words = "networks" in chosen or card["params"].get("networks") != "auto"
    theirs = to_former(name, card["params"] if same_words else settled)
    mine, settled = to_former(name, params), to_former(name, settled)
    same = (card["method"], card["data"].get("fingerprint")) == (name, data)
    if same and mine in (theirs, settled):
        return None
    epochs, before = mine.get("epochs"), settled.get("epochs")
    longer = isinstance(epochs, int) and isinstance(before, int) and epochs >= before
    if not same or not longer or mine not in ({**theirs, "epochs": epochs}, {**settled, "epochs": epochs}):
        raise ValueError(
            f"{folder} holds a finished run of another method, options or data; repeat them exactly, with more epochs to train "
            "it longer, or choose another folder."
        )
    if not final_checkpoint_path(folder).exists():
        raise ValueError(
            f"{folder} must have kept its last checkpoint to be trained longer; it is a finished run of {before} epochs "
            "without one; fit it anew with more epochs, and with keep_checkpoint (--keep-checkpoint) to go on from there later."
        )
    return int(settled["epochs"])
