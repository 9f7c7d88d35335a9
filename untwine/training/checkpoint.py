"""What a checkpoint holds: the networks, the optimizers' moments, and the position of training with its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from torch import Tensor, nn

from untwine.runs import files
from untwine.runs.history import Row
from untwine.training import distributed
from untwine.training.optimizer import PlayerOptimizer


@dataclass
class Position:
    """Where training is: all that a checkpoint holds beside the tensors."""

    stage: int = 0
    epoch: int = 0
    step: int = 0  # in this epoch
    epochs: int = 0  # done, of all stages
    caution: float = 1.0  # factor of every learning rate, halved by each skipped step
    skipped: int = 0  # in a row
    history: list[Row] = field(default_factory=list)
    sums: dict[str, list[float]] = field(default_factory=dict)  # "player/term" -> [sum, count] of this epoch


class Longer(NamedTuple):
    """The checkpoint that a finished, shorter training has kept, and its identity."""

    path: Path
    identity: str


def write(path: Path, identity: str, nets: nn.Module, optimizers: Mapping[str, PlayerOptimizer], position: Position) -> None:
    """Write one file, whole or not at all; with many processes the first one writes for all."""
    if distributed.rank():
        return
    tensors = {f"nets/{name}": value for name, value in nets.state_dict().items()}
    for player, optimizer in optimizers.items():
        tensors |= {f"adam/{player}/{name}": value for name, value in optimizer.state().items()}
    files.write_tensors(path, tensors, {"identity": identity, "at": vars(position)})


def restore(path: Path, identity: str, nets: nn.Module) -> tuple[Position, dict[str, Tensor]]:
    """Load the networks' weights and return the position and the tensors, for the optimizers of its stage."""
    tensors, notes = files.read_tensors(path)
    if notes.get("identity") != identity:
        raise ValueError(
            f"{path} must come from the same method, options and data; got other ones; repeat them exactly, or start anew "
            "without resume."
        )
    nets.load_state_dict({name.removeprefix("nets/"): value for name, value in tensors.items() if name.startswith("nets/")})
    position = Position(**notes["at"])
    position.history = [Row(*row) for row in position.history]
    return position, tensors


def restore_optimizers(optimizers: Mapping[str, PlayerOptimizer], tensors: Mapping[str, Tensor]) -> None:
    """Load the moments of every player that the checkpoint has."""
    for player, optimizer in optimizers.items():
        start = f"adam/{player}/"
        optimizer.load({name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)})
