r"""Codes that are themselves learned, a row for each sample or class, and an Adam for each row.

A step takes the rows of its batch, and only these rows and their moments move: its cost does not grow with the table. A row's
Adam counts the steps in which the row was taken; a row that comes twice in a batch has the sum of both gradients. With
many processes each holds the whole table, and all apply the gathered (row, gradient) alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from untwine.training import distributed, mapped
from untwine.training.optimizer import EPSILON, Adam

AT_ONCE = 2**16


class EmbeddingTable(nn.Module):
    """A code for each of `rows` samples or classes, drawn uniformly in +-`reach` at first.

    Called with row numbers (n,) it returns their codes (n, width) and, where gradients are taken, remembers that it gave them.
    """

    def __init__(self, rows: int, width: int, reach: float = 0.05) -> None:
        super().__init__()
        self.weight = nn.Parameter(mapped.zeros(rows, width, dtype=torch.get_default_dtype()).uniform_(-reach, reach))
        self.taken: list[tuple[Tensor, Tensor]] = []

    def forward(self, index: Tensor) -> Tensor:
        """Return the codes of rows; a gradient reaches these rows alone."""
        rows = self.read(index)
        if torch.is_grad_enabled():
            self.taken.append((index, rows.requires_grad_()))
        return rows

    def read(self, index: Tensor) -> Tensor:
        """Return the codes of rows as they are, without gradient."""
        return self.weight.detach().index_select(0, index)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        weight = self.weight.detach()
        kind = fn(weight[:1])
        if kind.dtype == weight.dtype and kind.device == weight.device:
            return self  # nothing changes, and what may be larger than memory is not copied
        moved = mapped.zeros(*weight.shape, dtype=kind.dtype, device=kind.device)
        for start in range(0, len(weight), AT_ONCE):
            moved[start : start + AT_ONCE] = fn(weight[start : start + AT_ONCE])
        self.weight = nn.Parameter(moved)
        return self


class RowAdam:
    """One Adam for each row of a table, which moves when the row was taken."""

    def __init__(self, table: EmbeddingTable, betas: tuple[float, float]) -> None:
        self.table, self.betas = table, betas
        weight = table.weight
        self.first, self.second = (mapped.zeros(*weight.shape, dtype=weight.dtype, device=weight.device) for _ in range(2))
        self.counts = mapped.zeros(len(weight), dtype=torch.int32, device=weight.device)
        self.rows = torch.empty(0, dtype=torch.int64)

    def merged(self, grads: Sequence[Tensor | None]) -> Tensor | None:
        """Return the gradient of every row that was taken, over all processes; none if no term reached the table."""
        pairs = [(index, grad) for (index, _), grad in zip(self.table.taken, grads, strict=True) if grad is not None]
        if not pairs:
            return None
        index = distributed.gather(torch.cat([index for index, _ in pairs]))
        grad = distributed.gather(torch.cat([grad for _, grad in pairs])) / distributed.world()
        self.rows, place = torch.unique(index, return_inverse=True)
        return grad.new_zeros(len(self.rows), grad.shape[1]).index_add_(0, place, grad)

    def step(self, grad: Tensor, lr: float) -> None:
        """Move the rows that `merged` found."""
        weight, rows, (beta1, beta2) = self.table.weight.detach(), self.rows, self.betas
        count = self.counts.index_select(0, rows) + 1
        first = self.first.index_select(0, rows).lerp_(grad, 1 - beta1)
        second = self.second.index_select(0, rows).mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        t = count.to(weight.dtype)[:, None]
        down = second.sqrt().div_((1 - beta2**t).sqrt_()).add_(EPSILON)
        weight.index_copy_(0, rows, weight.index_select(0, rows).sub_(first / down * (lr / (1 - beta1**t))))
        self.first.index_copy_(0, rows, first)
        self.second.index_copy_(0, rows, second)
        self.counts.index_copy_(0, rows, count)

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name."""
        return {"first": self.first, "second": self.second, "counts": self.counts}


class PlayerOptimizer:
    """How one player moves: Adam for its parameters, and an Adam for each row of its tables."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], tables: Sequence[EmbeddingTable], betas: tuple[float, float]
    ) -> None:
        apart = {id(table.weight) for table in tables}
        self.parameters = [p for p in parameters if id(p) not in apart]
        self.adam = Adam(self.parameters, betas) if self.parameters else None
        self.tables = [RowAdam(table, betas) for table in tables]

    def inputs(self) -> list[Tensor]:
        """Return what gradients are taken of: the parameters, then the rows taken from each table."""
        return [*self.parameters, *(rows for one in self.tables for _, rows in one.table.taken)]

    def merged(self, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Return, from the gradients of the taken rows, one for each table."""
        found, start = [], 0
        for one in self.tables:
            end = start + len(one.table.taken)
            found.append(one.merged(grads[start:end]))
            start = end
        return found

    def step(self, grads: Sequence[Tensor], lr: float) -> None:
        """Move once, by a gradient for each parameter and then for each table."""
        if self.adam is not None:
            self.adam.step(grads[: len(self.parameters)], lr)
        for one, grad in zip(self.tables, grads[len(self.parameters) :], strict=True):
            one.step(grad, lr)
        self.forget()

    def forget(self) -> None:
        """Forget which rows were taken."""
        for one in self.tables:
            one.table.taken.clear()

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name."""
        named = {} if self.adam is None else self.adam.state()
        for i, one in enumerate(self.tables):
            named |= {f"table {i}/{name}": value for name, value in one.state().items()}
        return named

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take up what `state` gave; nothing, where a stage only begins."""
        for name, value in self.state().items() if state else ():
            value.copy_(state[name])
