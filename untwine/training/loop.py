"""`Stage`, and the only training loop.

A step is a generator over a batch. It yields each time a player moves:

- `yield player, terms`: one gradient, of the sum of the terms, for that player's parameters alone, and its move at once;
- `yield (p1, p2), terms`: one loss and one backward pass, each player with its own optimizer;
- `yield [(p1, terms1), (p2, terms2)]`: all gradients at the same parameters, then all moves.

So no loss can move what it should not. Terms and gradients are checked before anything moves: what is not finite never reaches
the weights. Chance comes from (seed, stage, step) and is drawn for the global batch, so a run that was stopped goes on
where it was, and many processes see what one would.
"""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.runs import files
from untwine.runs.history import Row
from untwine.training import distributed, memory
from untwine.training.batches import Batch, Rows
from untwine.training.embedding_table import EmbeddingTable, PlayerOptimizer
from untwine.training.errors import TrainingError
from untwine.training.interrupts import interrupts
from untwine.training.progress import bar

Terms = Mapping[str, Tensor]
Part = tuple[str | tuple[str, ...], Terms]
Move = Part | list[Part]

JOINED = 4096  # gradients of fewer numbers are joined before their norm is taken
PATIENCE = 10  # steps in a row that may be skipped before training ends


@dataclass(frozen=True)
class Player:
    """Who moves: the modules (or parameters) it owns, and how fast it goes."""

    owns: nn.Module | Sequence[nn.Module | nn.Parameter]
    lr: float
    betas: tuple[float, float] = (0.9, 0.999)

    def parameters(self) -> list[nn.Parameter]:
        """Return what the player owns and may move."""
        found = [p for part in self._parts() for p in (part.parameters() if isinstance(part, nn.Module) else [part])]
        return [p for p in found if p.requires_grad]

    def tables(self) -> list[EmbeddingTable]:
        """Return the tables of codes among it, of which a step moves only the rows that it takes."""
        parts = [part for part in self._parts() if isinstance(part, nn.Module)]
        return [module for part in parts for module in part.modules() if isinstance(module, EmbeddingTable)]

    def _parts(self) -> Sequence[nn.Module | nn.Parameter]:
        return [self.owns] if isinstance(self.owns, nn.Module) else self.owns


@dataclass(frozen=True)
class Stage:
    """A span of training.

    Parameters
    ----------
    name
        Its name in the history.
    epochs
        How often it passes the data; with `groups`, the larger of target and background.
    players
        Who moves, by name. No parameter may have two owners.
    step
        The step: a generator over (batch, number of the step in this stage).
    batch
        Rows in a step over all processes; with `groups`, rows of each group, with `twice`, of each draw.
    batches
        `mixed`: rows as they come. `twice`: as many again, drawn apart, behind them. `groups`: target and background in every
        step, target first. `classes`: sets of rows of one class, the first row of every set, then the second of every set, and
        so on.
    together
        How many rows of one class a set has; 2 makes pairs.
    schedule
        From the part of the stage that is done, in [0, 1), to the factor of every learning rate.
    """

    name: str
    epochs: int
    players: Mapping[str, Player]
    step: Callable[[Batch, int], Generator[Move]]
    batch: int
    batches: Literal["mixed", "twice", "groups", "classes"] = "mixed"
    schedule: Callable[[float], float] | None = None
    together: int = 2


def cosine(done: float) -> float:
    """Fall from 1 to 0 along half a cosine: a schedule."""
    return 0.5 * (1 + math.cos(math.pi * done))


@dataclass
class Position:
    """Where training is, and what it has seen: all that a checkpoint holds beside the tensors."""

    stage: int = 0
    epoch: int = 0
    step: int = 0  # in this epoch
    epochs: int = 0  # done, of all stages
    caution: float = 1.0  # factor of every rate, halved by each skipped step
    skipped: int = 0  # in a row
    history: list[Row] = field(default_factory=list)
    sums: dict[str, list[float]] = field(default_factory=dict)  # "player/term" -> [sum, count] of this epoch


def train(
    stages: Iterable[Stage],
    nets: nn.Module,
    rows: Rows,
    *,
    seed: int,
    clip: float = 0.0,
    autocast: bool = False,
    checkpoint: Path | None = None,
    every: float = 60.0,
    resume: bool = False,
    identity: str = "",
    watch: Callable[[int], None] | None = None,
    show: bool = False,
) -> list[Row]:
    """Run all stages and return the history; `nets` is trained in place.

    Parameters
    ----------
    checkpoint
        The file that is written every `every` seconds (0: after every step), and on an interrupt.
    resume
        Go on from that file if it is there.
    identity
        What must be equal for a checkpoint to fit: configuration and data.
    watch
        Called with the number of epochs done, of all stages, after each; the networks are in evaluation mode meanwhile.
    """
    loop = _Loop(nets, rows, seed, clip, autocast, checkpoint, every, identity, watch)
    stored = loop.restore() if resume and checkpoint is not None and checkpoint.exists() else {}
    nets.train()
    for number, stage in enumerate(stages):
        if number < loop.at.stage:
            continue
        with memory.kept():
            loop.run(number, stage, stored, show and distributed.rank() == 0)
        stored = {}
    nets.eval()
    return loop.at.history


class _Loop:
    """What the loop holds while it runs."""

    def __init__(
        self,
        nets: nn.Module,
        rows: Rows,
        seed: int,
        clip: float,
        autocast: bool,
        checkpoint: Path | None,
        every: float,
        identity: str,
        watch: Callable[[int], None] | None,
    ) -> None:
        self.nets, self.rows, self.seed, self.clip, self.autocast = nets, rows, seed, clip, autocast
        self.checkpoint, self.every, self.identity, self.watch = checkpoint, every, identity, watch
        self.at = Position()
        self.saved = time.monotonic()
        self.names = {id(p): name for name, p in nets.named_parameters()}

    def run(self, number: int, stage: Stage, stored: Mapping[str, Tensor], show: bool) -> None:
        owned = owners(stage, self.names)
        self.movers = {
            name: PlayerOptimizer(owned[name], player.tables(), player.betas) for name, player in stage.players.items()
        }
        for name, mover in self.movers.items():
            start = f"adam/{name}/"
            mover.load({key.removeprefix(start): value for key, value in stored.items() if key.startswith(start)})
        at, (_, steps) = self.at, self.rows.sizes(stage)
        total = stage.epochs * steps
        with bar(stage.name, total, show) as advance, interrupts(held=self.checkpoint is not None) as interrupted:
            for epoch in range(at.epoch, stage.epochs):
                order = self.rows.order(stage, self.seed, epoch)
                for step in range(at.step, steps):
                    self.step(number, stage, order[step], epoch * steps + step, total)
                    at.step = step + 1
                    advance(epoch * steps + step + 1, self.note)
                    self.save_when_due(interrupted)
                self.close_epoch(stage)
        self.movers = {}
        at.stage, at.epoch, at.step = number + 1, 0, 0
        self.save_when_due()

    def step(self, number: int, stage: Stage, rows: Array, t: int, total: int) -> None:
        batch = self.rows.batch(rows, (self.seed, number, t))
        batch.done = t / total
        factor = self.at.caution * (stage.schedule(batch.done) if stage.schedule else 1.0)
        self.rates = {name: player.lr * factor for name, player in stage.players.items()}
        for mover in self.movers.values():
            mover.forget()
        moves = stage.step(batch, t)
        while True:
            with self.precision():
                move = next(moves, None)
            if move is None:
                self.at.skipped = 0
                return
            if trouble := self.move(move):
                moves.close()
                self.skip(trouble, stage, t)
                return

    def precision(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.rows.device.type, torch.bfloat16) if self.autocast else nullcontext()

    def move(self, move: Move) -> str:
        """Take all gradients, check them, and only then let the players step; return what was not finite."""
        parts = move if isinstance(move, list) else [move]
        ready = []
        for number, (names, terms) in enumerate(parts):
            players = (names,) if isinstance(names, str) else names
            movers = [self.movers[name] for name in players]
            losses = [term.to(self.rows.dtype) for term in terms.values()]
            loss = functools.reduce(torch.add, losses)
            found, values = self.gradients(players, movers, loss, losses, keep=number + 1 < len(parts))
            flat = [grad for grads in found for grad in grads]
            numbers = torch.stack([*values, norm(flat)]).tolist()
            for name, value in zip((*terms, "gradient"), numbers, strict=True):
                if not math.isfinite(value):
                    return f"{name!r} of the player {'/'.join(players)!r}"
            if self.clip and numbers[-1] > self.clip:
                torch._foreach_mul_(flat, self.clip / numbers[-1])
            ready.append((players, dict(zip(terms, numbers, strict=False)), found))
        for players, values_by_term, found in ready:
            for name, grads in zip(players, found, strict=True):
                self.movers[name].step(grads, self.rates[name])
            self.count("/".join(players), values_by_term)
        return ""

    def gradients(
        self, players: tuple[str, ...], movers: Sequence[PlayerOptimizer], loss: Tensor, losses: Sequence[Tensor], keep: bool
    ) -> tuple[list[list[Tensor]], Sequence[Tensor]]:
        """Return each player's gradients and the terms' values, over all processes."""
        inputs = [mover.inputs() for mover in movers]
        every = iter(torch.autograd.grad(loss, list(chain(*inputs)), allow_unused=True, retain_graph=keep))
        found = [[next(every) for _ in some] for some in inputs]
        dense = [self.used(players, m.parameters, grads[: len(m.parameters)]) for m, grads in zip(movers, found, strict=True)]
        averages = iter(distributed.average([*chain(*dense), *(loss.detach() for loss in losses)]))
        means = [[next(averages) for _ in some] for some in dense]
        for mover, mean, grads in zip(movers, means, found, strict=True):
            weights = [one.table.weight for one in mover.tables]
            mean.extend(self.used(players, weights, mover.merged(grads[len(mover.parameters) :])))
        return means, list(averages)

    def used(
        self, players: tuple[str, ...], parameters: Sequence[nn.Parameter], grads: Sequence[Tensor | None]
    ) -> list[Tensor]:
        found = []
        for parameter, grad in zip(parameters, grads, strict=True):
            if grad is None:
                raise ValueError(
                    f"the terms of the player {'/'.join(players)!r} expected to reach all that it owns, but "
                    f"{self.names.get(id(parameter), 'a parameter')} has no gradient; use it in a term or give it no owner."
                )
            found.append(grad)
        return found

    def skip(self, trouble: str, stage: Stage, t: int) -> None:
        self.at.skipped += 1
        self.at.caution /= 2
        if self.at.skipped >= PATIENCE:
            self.save()
            raise TrainingError(
                f"training stopped in stage {stage.name!r} at step {t}: {trouble} was not finite {PATIENCE} times in a row; "
                "the last good weights are kept; lower lr, set clip, or look for extreme values in the data.",
                self.at.history,
            )
        if not distributed.rank():
            sentence = f"a step of stage {stage.name!r} was skipped and every rate halved, for {trouble} was not finite."
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)

    def count(self, player: str, values: Mapping[str, float]) -> None:
        for term, value in values.items():
            pair = self.at.sums.setdefault(f"{player}/{term}", [0.0, 0])
            pair[0] += value
            pair[1] += 1

    def note(self) -> str:
        """Return the epoch's terms so far; those of several players, which may share names, begin with the player's."""
        of_player: dict[str, list[str]] = {}
        for key, (total, count) in self.at.sums.items():
            player, term = key.rsplit("/", 1)
            of_player.setdefault(player, []).append(f"{term} {total / count:.4g}")
        several = len(of_player) > 1
        return "  ".join(f"{player}: " * several + "  ".join(words) for player, words in of_player.items())

    def close_epoch(self, stage: Stage) -> None:
        for key, (total, count) in self.at.sums.items():
            player, term = key.rsplit("/", 1)
            self.at.history.append(Row(stage.name, self.at.epoch, player, term, total / count))
        self.at.sums, self.at.step = {}, 0
        self.at.epoch += 1
        self.at.epochs += 1
        if self.watch:
            self.nets.eval()
            self.watch(self.at.epochs)
            self.nets.train()

    def save_when_due(self, interrupted: Sequence[int] = ()) -> None:
        if self.checkpoint is not None and (interrupted or time.monotonic() - self.saved >= self.every):
            self.save()
        if interrupted:
            raise KeyboardInterrupt

    def save(self) -> None:
        """Write weights, optimizers and position as one file; the first process speaks for all."""
        self.saved = time.monotonic()
        if self.checkpoint is None or distributed.rank():
            return
        tensors = {f"nets/{name}": value for name, value in self.nets.state_dict().items()}
        for name, mover in self.movers.items():
            tensors |= {f"adam/{name}/{key}": value for key, value in mover.state().items()}
        files.write_tensors(self.checkpoint, tensors, {"identity": self.identity, "at": vars(self.at)})

    def restore(self) -> dict[str, Tensor]:
        """Take weights and position from the checkpoint; return its tensors, for the optimizers."""
        assert self.checkpoint is not None  # the only caller has just looked
        tensors, notes = files.read_tensors(self.checkpoint)
        if notes.get("identity") != self.identity:
            raise ValueError(
                f"{self.checkpoint} must be the same method, options and data as the run that wrote it, but they differ; "
                "repeat them exactly, or start anew without resume."
            )
        self.nets.load_state_dict({name[5:]: value for name, value in tensors.items() if name.startswith("nets/")})
        self.at = Position(**notes["at"])
        self.at.history = [Row(*row) for row in self.at.history]
        return tensors


def owners(stage: Stage, names: Mapping[int, str]) -> dict[str, list[nn.Parameter]]:
    """Return each player's parameters; one with two owners, or a player with none, is refused."""
    owned = {name: player.parameters() for name, player in stage.players.items()}
    seen: dict[int, str] = {}
    for player, parameters in owned.items():
        if not parameters:
            raise ValueError(f"the player {player!r} of stage {stage.name!r} expected parameters to move, but owns none.")
        for parameter in parameters:
            if id(parameter) in seen:
                raise ValueError(
                    f"every parameter must be one owner, but {names.get(id(parameter), 'one')} belongs to "
                    f"{seen[id(parameter)]!r} and {player!r} in stage {stage.name!r}; give it to one of them."
                )
            seen[id(parameter)] = player
    return owned


def norm(grads: Sequence[Tensor]) -> Tensor:
    """Return the norm of all gradients together; it is not finite if one of their numbers is not, or its square."""
    # Many small tensors are quicker joined, large ones quicker by themselves: twice as fast as a norm of norms.
    flat = [grad.reshape(-1) for grad in grads]
    small = [grad for grad in flat if len(grad) < JOINED]
    squares = [torch.dot(grad, grad) for grad in flat if len(grad) >= JOINED]
    if small:
        joined = torch.cat(small)
        squares.append(torch.dot(joined, joined))
    return torch.stack(squares).sum().sqrt()
