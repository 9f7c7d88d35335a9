"""The only training loop: it runs the steps of `untwine.training.stage`.

A loss updates only the parameters of the player that it is yielded to. Terms and gradients are checked before an optimizer
steps: nothing that is not finite reaches the weights. Random numbers are seeded by (seed, stage, step) and drawn for the global
batch, so resuming is bit-exact, and many processes take the step that one would.
"""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.runs.history import Row
from untwine.training import checkpoint as checkpoints
from untwine.training import distributed, memory
from untwine.training.batches import TrainingData
from untwine.training.checkpoint import Longer, Position
from untwine.training.errors import TrainingError
from untwine.training.interrupts import interrupts
from untwine.training.optimizer import PlayerOptimizer
from untwine.training.progress import bar
from untwine.training.stage import Move, Stage, check_moves, check_update

PATIENCE = 10  # steps in a row that may be skipped before training ends


def train(
    stages: Iterable[Stage],
    nets: nn.Module,
    data: TrainingData,
    *,
    seed: int,
    clip: float = 0.0,
    autocast: bool = False,
    checkpoint: Path | None = None,
    every: float = 60.0,
    resume: bool = False,
    identity: str = "",
    keep: bool = False,
    longer: Longer | None = None,
    watch: Callable[[int, Sequence[Row]], None] | None = None,
    show: bool = False,
) -> list[Row]:
    """Run all stages and return the history; `nets` is trained in place.

    Parameters
    ----------
    checkpoint
        The file that is written every `every` seconds (0: after every step), and on an interrupt.
    resume
        Continue from that file if it is there.
    identity
        What must be equal for a checkpoint to fit: configuration and data.
    keep
        Leave a checkpoint at the end, from which training can go on for more epochs; refused where the number of epochs changes
        the steps.
    longer
        Such a checkpoint of a shorter training, from which to resume where `checkpoint` is not there.
    watch
        Called with the number of epochs done, of all stages, and the history so far, after each; the networks are in
        evaluation mode meanwhile.
    """
    loop = _Loop(nets, data, seed, clip, autocast, checkpoint, every, identity, keep, longer, watch)
    tensors = loop.restore() if resume else {}
    nets.train()
    for number, stage in enumerate(stages):
        if number < loop.at.stage:
            continue
        with memory.keep_freed():
            loop.run(number, stage, tensors, show and distributed.rank() == 0)
        tensors = {}
    nets.eval()
    return loop.at.history


class _Loop:
    """The state of a training while it runs."""

    def __init__(
        self,
        nets: nn.Module,
        data: TrainingData,
        seed: int,
        clip: float,
        autocast: bool,
        checkpoint: Path | None,
        every: float,
        identity: str,
        keep: bool,
        longer: Longer | None,
        watch: Callable[[int, Sequence[Row]], None] | None,
    ) -> None:
        self.nets, self.data, self.seed, self.clip, self.autocast = nets, data, seed, clip, autocast
        self.checkpoint, self.every, self.identity, self.watch = checkpoint, every, identity, watch
        self.keep, self.longer = keep, longer
        self.at = Position()
        self.saved = time.monotonic()
        self.names = {id(p): name for name, p in nets.named_parameters()}
        self.optimizers: dict[str, PlayerOptimizer] = {}

    def run(self, number: int, stage: Stage, tensors: Mapping[str, Tensor], show: bool) -> None:
        check_owners(stage, self.names)
        if self.keep and stage.schedule is not None:
            raise cannot_be_longer(stage.name)
        self.optimizers = {name: player.optimizer() for name, player in stage.players.items()}
        checkpoints.restore_optimizers(self.optimizers, tensors)
        at, (_, steps) = self.at, self.data.sizes(stage)
        total = stage.epochs * steps
        with bar(stage.name, total, show) as advance, interrupts(held=self.checkpoint is not None) as interrupted:
            for epoch in range(at.epoch, stage.epochs):
                order = self.data.order(stage, self.seed, epoch)
                for step in range(at.step, steps):
                    self.step(number, stage, order[step], epoch * steps + step, total)
                    at.step = step + 1
                    advance(epoch * steps + step + 1, self.note)
                    self.save_when_due(interrupted)
                self.close_epoch(stage)
        if self.keep:
            self.save()  # with the optimizers, at the end of the stage
        self.optimizers = {}
        at.stage, at.epoch, at.step = number + 1, 0, 0
        if not self.keep:
            self.save_when_due()

    def step(self, number: int, stage: Stage, index: Array, t: int, total: int) -> None:
        batch = self.data.batch(index, (self.seed, number, t), stage.batches)
        batch.done = t / total
        factor = self.at.caution * (stage.schedule(t / total) if stage.schedule else 1.0)
        self.rates = {name: player.lr * factor for name, player in stage.players.items()}
        for optimizer in self.optimizers.values():
            optimizer.reset()
        moves = stage.step(batch, t)
        check_moves(moves, stage.name)
        while True:
            with self.precision():
                move = next(moves, None)
            if self.keep and batch.uses_length:
                raise cannot_be_longer(stage.name)
            if move is None:
                self.at.skipped = 0
                return
            if trouble := self.update(move):
                moves.close()
                self.skip(trouble, stage, t)
                return

    def precision(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.data.device.type, torch.bfloat16) if self.autocast else nullcontext()

    def update(self, move: Move) -> str:
        """Take all gradients, check them, and only then let the players step; return what was not finite."""
        updates = move if isinstance(move, list) else [move]
        ready = []
        for number, update in enumerate(updates):
            check_update(update, self.rates)
            names, terms = update
            players = (names,) if isinstance(names, str) else names
            losses = [term.to(self.data.dtype) for term in terms.values()]
            separate, values = self.gradients(players, losses, keep=number + 1 < len(updates))
            grads = [self.optimizers[name].join(of_player) for name, of_player in zip(players, separate, strict=True)]
            flat = [grad for of_player in grads for grad in of_player]
            numbers = torch.stack([*values, norm(flat)]).tolist()
            for name, value in zip((*terms, "gradient"), numbers, strict=True):
                if not math.isfinite(value):
                    return f"{name!r} of the player {'/'.join(players)!r}"
            if self.clip and numbers[-1] > self.clip:
                for grad in flat:
                    grad.mul_(self.clip / numbers[-1])
            ready.append((players, dict(zip(terms, numbers, strict=False)), grads))
        for players, values_by_term, grads in ready:
            for name, of_player in zip(players, grads, strict=True):
                self.optimizers[name].step(of_player, self.rates[name])
            self.count("/".join(players), values_by_term)
        return ""

    def gradients(
        self, players: tuple[str, ...], losses: Sequence[Tensor], keep: bool
    ) -> tuple[list[list[Tensor]], Sequence[Tensor]]:
        """Return each player's gradients and the terms' values, over all processes."""
        optimizers = [self.optimizers[name] for name in players]
        inputs = [optimizer.inputs() for optimizer in optimizers]
        loss = functools.reduce(torch.add, losses)
        every = iter(torch.autograd.grad(loss, list(chain(*inputs)), allow_unused=True, retain_graph=keep))
        grads = [[next(every) for _ in some] for some in inputs]
        dense = [self.require_gradients(players, o.dense, some) for o, some in zip(optimizers, grads, strict=True)]
        averages = iter(distributed.average([*chain(*dense), *(loss.detach() for loss in losses)]))
        means = [[next(averages) for _ in some] for some in dense]
        for optimizer, mean, some in zip(optimizers, means, grads, strict=True):
            weights = [one.weight for one in optimizer.sparse]
            mean.extend(self.require_gradients(players, weights, optimizer.merge(some[len(optimizer.dense) :])))
        return means, list(averages)

    def require_gradients(
        self, players: tuple[str, ...], parameters: Sequence[nn.Parameter], grads: Sequence[Tensor | None]
    ) -> list[Tensor]:
        """Return the gradients of the parameters, which come first; one without a gradient is refused."""
        required = []
        for parameter, grad in zip(parameters, grads, strict=False):
            if grad is None:
                raise ValueError(
                    f"the terms of the player {'/'.join(players)!r} must reach all parameters that it owns; "
                    f"{self.names.get(id(parameter), 'a parameter')} has no gradient; use it in a term, or give it no owner."
                )
            required.append(grad)
        return required

    def skip(self, trouble: str, stage: Stage, t: int) -> None:
        self.at.skipped += 1
        self.at.caution /= 2
        if self.at.skipped >= PATIENCE:
            self.save()
            raise TrainingError(
                f"training stopped in stage {stage.name!r} at step {t}: {trouble} was not finite {PATIENCE} times in a row; "
                "the last finite weights are kept; lower lr, set clip, or look for extreme values in the data.",
                self.at.history,
            )
        if not distributed.rank():
            message = f"a step of stage {stage.name!r} was skipped and every learning rate halved: {trouble} was not finite."
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def count(self, player: str, values: Mapping[str, float]) -> None:
        for term, value in values.items():
            pair = self.at.sums.setdefault(f"{player}/{term}", [0.0, 0])
            pair[0] += value
            pair[1] += 1

    def note(self) -> str:
        """Return the epoch's mean of each term so far; with several players, each player's name comes first."""
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
            self.watch(self.at.epochs, self.at.history)
            self.nets.train()

    def save_when_due(self, interrupted: Sequence[int] = ()) -> None:
        if self.checkpoint is not None and (interrupted or time.monotonic() - self.saved >= self.every):
            self.save()
        if interrupted:
            raise KeyboardInterrupt

    def save(self) -> None:
        self.saved = time.monotonic()
        if self.checkpoint is not None:
            checkpoints.write(self.checkpoint, self.identity, self.nets, self.optimizers, self.at)

    def restore(self) -> dict[str, Tensor]:
        """Load weights and position from the checkpoint, if there is one; return its tensors, for the optimizers."""
        if self.checkpoint is None or not self.checkpoint.exists():
            if self.longer is None:
                return {}
            self.at, tensors = checkpoints.restore(*self.longer, self.nets)
            if self.at.stage:
                raise ValueError(
                    f"a run must have one stage to be trained longer; {self.longer.path} has several; fit it anew."
                )
            return tensors
        self.at, tensors = checkpoints.restore(self.checkpoint, self.identity, self.nets)
        return tensors


def cannot_be_longer(stage: str) -> ValueError:
    """Return the error of a training that is to be continued but would have taken other steps with more epochs."""
    return ValueError(
        f"a checkpoint can be kept for training longer only if no step depends on the number of epochs; the learning rate or "
        f"the weights of the stage {stage!r} do; set a constant schedule if the method has one, or fit anew with more epochs."
    )


def check_owners(stage: Stage, names: Mapping[int, str]) -> None:
    """Refuse a parameter with two owners, and a player without parameters."""
    owners: dict[int, str] = {}
    for name, player in stage.players.items():
        parameters = player.parameters()
        if not parameters:
            raise ValueError(f"the player {name!r} of stage {stage.name!r} must own parameters; it owns none; give it some.")
        for parameter in parameters:
            if id(parameter) in owners:
                raise ValueError(
                    f"every parameter must have one owner; {names.get(id(parameter), 'one')} belongs to "
                    f"{owners[id(parameter)]!r} and {name!r} in stage {stage.name!r}; give it to one of them."
                )
            owners[id(parameter)] = name


def norm(grads: Sequence[Tensor]) -> Tensor:
    """Return the norm of all gradients together; it is not finite if one of their numbers is not, or its square."""
    # Dot products, in the order of memory: twice as fast as a norm of norms, and nothing is copied.
    flat = [(grad if grad.is_contiguous() or grad.ndim != 4 else grad.movedim(1, -1)).reshape(-1) for grad in grads]
    return torch.stack([torch.dot(grad, grad) for grad in flat]).sum().sqrt()
