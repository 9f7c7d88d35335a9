r"""An embedding table, a row for each sample or class, and its optimizer: an Adam for each row, or one for all.

A step looks up the rows of its batch, and only these rows and their moments are updated: its cost does not grow with the table.
A row's Adam counts the steps in which the row was looked up; a row that comes twice in a batch gets the sum of both gradients.
With many processes each holds the whole table, and all apply the same gathered (row, gradient) pairs.

A `dense` table has one Adam for all rows: a row that is not in the batch has gradient 0 and goes on by its momentum. Between
two visits a row then travels a multiple of the learning rate; the cost of a step grows with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

import torch
from torch import Tensor, nn

from untwine.training import distributed, mapped_tensors
from untwine.training.optimizer import EPSILON

AT_ONCE = 2**16


class EmbeddingTable(nn.Module):
    """A learned code for each of `rows` samples or classes, initialised uniformly in [-`reach`, `reach`].

    Called with row numbers (n,) it returns their codes (n, width) and, where gradients are taken, remembers the look-up.
    Where it is `dense`, a step updates all rows, else those that were looked up.
    """

    def __init__(self, rows: int, width: int, reach: float = 0.05, dense: bool = False) -> None:
        super().__init__()
        self.dense = dense
        self.weight = nn.Parameter(mapped_tensors.zeros(rows, width, dtype=torch.get_default_dtype()).uniform_(-reach, reach))
        self.lookups: list[tuple[Tensor, Tensor]] = []

    def forward(self, index: Tensor) -> Tensor:
        """Return the codes of rows; a gradient reaches these rows alone."""
        rows = self.read(index)
        if torch.is_grad_enabled():
            self.lookups.append((index, rows.requires_grad_()))
        return rows

    def read(self, index: Tensor) -> Tensor:
        """Return the codes of rows as they are, without gradient."""
        return self.weight.detach().index_select(0, index)

    def sparse_optimizer(self, betas: tuple[float, float]) -> RowAdam:
        """Return the optimizer that updates the rows that were looked up and no others or, of a dense table, all rows."""
        return (TableAdam if self.dense else RowAdam)(self, betas)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        weight = self.weight.detach()
        kind = fn(weight[:1])
        if kind.dtype == weight.dtype and kind.device == weight.device:
            return self  # nothing changes, and a table larger than memory is not copied
        moved = mapped_tensors.zeros(*weight.shape, dtype=kind.dtype, device=kind.device)
        for start in range(0, len(weight), AT_ONCE):
            moved[start : start + AT_ONCE] = fn(weight[start : start + AT_ONCE])
        self.weight = nn.Parameter(moved)
        return self


class RowAdam:
    """One Adam for each row of a table, which steps when the row was looked up."""

    def __init__(self, table: EmbeddingTable, betas: tuple[float, float]) -> None:
        self.table, self.betas = table, betas
        weight = table.weight
        self.first, self.second = (
            mapped_tensors.zeros(*weight.shape, dtype=weight.dtype, device=weight.device) for _ in range(2)
        )
        self.counts = self.new_counts()
        self.rows = torch.empty(0, dtype=torch.int64)

    def new_counts(self) -> Tensor:
        """Return the number of steps taken, 0: of each row."""
        return mapped_tensors.zeros(len(self.weight), dtype=torch.int32, device=self.weight.device)

    @property
    def weight(self) -> nn.Parameter:
        """The table's parameter."""
        return self.table.weight

    def looked_up(self) -> list[Tensor]:
        """Return the rows of each look-up since the last step."""
        return [rows for _, rows in self.table.lookups]

    def reset(self) -> None:
        """Forget which rows were looked up."""
        self.table.lookups.clear()

    def merge(self, grads: Sequence[Tensor | None]) -> Tensor | None:
        """Return the gradient of every row that was looked up, over all processes; none if no term reached the table."""
        pairs = [(index, grad) for (index, _), grad in zip(self.table.lookups, grads, strict=True) if grad is not None]
        if not pairs:
            return None
        index = distributed.gather(torch.cat([index for index, _ in pairs]))
        grad = distributed.gather(torch.cat([grad for _, grad in pairs])) / distributed.world()
        self.rows, place = torch.unique(index, return_inverse=True)
        return grad.new_zeros(len(self.rows), grad.shape[1]).index_add_(0, place, grad)

    def step(self, grad: Tensor, lr: float) -> None:
        """Update the rows that `merge` gathered."""
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


class TableAdam(RowAdam):
    """One Adam for all rows of a table: rows that were not looked up have gradient 0 and move by their momentum."""

    def new_counts(self) -> Tensor:
        """Return the number of steps taken, 0: of all rows together."""
        return torch.zeros(1, dtype=torch.int64, device=self.weight.device)

    def step(self, grad: Tensor, lr: float) -> None:
        """Update every row, some at a time, so that no third tensor of the table's size is needed."""
        weight, (beta1, beta2) = self.table.weight.detach(), self.betas
        self.counts += 1
        t = int(self.counts)
        rate, scale = lr / (1 - beta1**t), (1 - beta2**t) ** 0.5
        starts = list(range(0, len(weight), AT_ONCE))
        places = torch.searchsorted(self.rows, self.rows.new_tensor([*starts, len(weight)])).tolist()  # rows are sorted
        for start, begin, end in zip(starts, places, places[1:], strict=False):
            first, second, some = (table[start : start + AT_ONCE] for table in (self.first, self.second, weight))
            rows, given = self.rows[begin:end] - start, grad[begin:end]
            first.mul_(beta1).index_add_(0, rows, given, alpha=1 - beta1)
            second.mul_(beta2).index_add_(0, rows, given.square(), alpha=1 - beta2)
            some.addcdiv_(first, second.sqrt().div_(scale).add_(EPSILON), value=-rate)
