"""`Stage` and `Player`: what is trained together, by which optimizer, and one step of it.

A step is a generator over a batch. It yields each time a player's parameters are updated:

- `yield player, terms`: the gradient of the sum of the terms for that player's parameters alone, and its update at once;
- `yield (p1, p2), terms`: one loss and one backward pass, each player with its own optimizer;
- `yield [(p1, terms1), (p2, terms2)]`: all gradients at the same parameters, then all updates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor, nn

from untwine.registry.checks import listed
from untwine.training.batches import Batch
from untwine.training.optimizer import PlayerOptimizer, Sparse

Terms = Mapping[str, Tensor]
Update = tuple[str | tuple[str, ...], Terms]
Move = Update | list[Update]


@dataclass(frozen=True)
class Player:
    """The modules (or parameters) that one optimizer updates, with its learning rate and betas."""

    owns: nn.Module | Sequence[nn.Module | nn.Parameter]
    lr: float
    betas: tuple[float, float] = (0.9, 0.999)

    def parameters(self) -> list[nn.Parameter]:
        """Return the trainable parameters that the player owns."""
        owned = [p for one in self._owned() for p in (one.parameters() if isinstance(one, nn.Module) else [one])]
        return [p for p in owned if p.requires_grad]

    def optimizer(self) -> PlayerOptimizer:
        """Return the optimizer of what the player owns: Adam, and for a module with sparse updates the one that it asks for."""
        modules = [module for one in self._owned() if isinstance(one, nn.Module) for module in one.modules()]
        sparse = [module.sparse_optimizer(self.betas) for module in modules if isinstance(module, Sparse)]
        return PlayerOptimizer(self.parameters(), sparse, self.betas)

    def _owned(self) -> Sequence[nn.Module | nn.Parameter]:
        return [self.owns] if isinstance(self.owns, nn.Module) else self.owns


@dataclass(frozen=True)
class Stage:
    """A span of training.

    Parameters
    ----------
    name
        Its name in the history.
    epochs
        Passes over the data; with `groups`, over the larger of target and background, with `targets`, over the largest group.
    players
        The players by name. No parameter may have two owners.
    step
        The step: a generator over (batch, number of the step in this stage).
    batch
        Samples in a step over all processes; with `groups` and `targets`, samples of each group, with `twice`, of each draw.
    batches
        `mixed`: samples in random order. `twice`: a second, independent draw of as many samples follows the first. `groups`:
        target and background in every step, target first. `targets`: as many samples of every target in every step, then of
        the background. `pairs`: targets, then for each of them a sample of the background of its source. `classes`: sets of
        samples of one class, the first sample of every set, then the second of every set, and so on.
    schedule
        From the fraction of the stage that is done, in [0, 1), to the factor of every learning rate.
    together
        How many samples of one class a set has; 2 makes pairs.
    """

    name: str
    epochs: int
    players: Mapping[str, Player]
    step: Callable[[Batch, int], Generator[Move]]
    batch: int
    batches: Literal["mixed", "twice", "groups", "targets", "pairs", "classes"] = "mixed"
    schedule: Callable[[float], float] | None = None
    together: int = 2


def check_moves(moves: object, stage: str) -> None:
    """Refuse a step that is no generator."""
    if not isinstance(moves, Generator):
        raise TypeError(
            f"the step of the stage {stage!r} must be a generator; it returned {type(moves).__name__}; yield the name of a "
            "player with a dictionary of its terms."
        )


def check_update(update: object, players: Collection[str]) -> None:
    """Refuse what is no update: names of players, and by name terms that are numbers."""
    if not (isinstance(update, tuple) and len(update) == 2 and isinstance(update[1], Mapping) and update[1]):
        raise TypeError(
            "a step must yield the name of a player, or a tuple of names, with a dictionary of its terms; got "
            f'{type(update).__name__}; write: yield "{next(iter(players))}", {{"reconstruction": ...}}.'
        )
    names, terms = update
    for name in (names,) if isinstance(names, str) else names:
        if name not in players:
            raise ValueError(f"a step must yield players of its stage, {listed(players)}; got {name!r}; correct the name.")
    for name, term in terms.items():
        if not isinstance(term, Tensor) or term.dim():
            got = f"shape {tuple(term.shape)}" if isinstance(term, Tensor) else type(term).__name__
            raise ValueError(f"the term {name!r} must be a tensor of one number; got {got}; take its mean over the samples.")


def cosine(done: float) -> float:
    """Decay from 1 to 0 along half a cosine: a schedule."""
    return 0.5 * (1 + math.cos(math.pi * done))
