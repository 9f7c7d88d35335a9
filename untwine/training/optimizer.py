r"""Adam (Kingma and Ba 2015) for given gradients, and the optimizer of a player.

$m \leftarrow \beta_1 m + (1 - \beta_1) g$, $v \leftarrow \beta_2 v + (1 - \beta_2) g^2$,
$\theta \leftarrow \theta - \eta \, \hat m / (\sqrt{\hat v} + \epsilon)$ with $\hat m = m / (1 - \beta_1^t)$ and
$\hat v = v / (1 - \beta_2^t)$.

Torch's functional Adam runs its fused kernel; the bookkeeping of `torch.optim.Adam` around it takes longer than all else that
the loop does in a step. Gradients are passed in, since no parameter of ours holds one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.optim.adam import adam

EPSILON = 1e-8
JOINED = 4096  # parameters of fewer elements share a buffer
ALIGNED = 16  # elements: a cache line of float32, where the kernels expect a tensor to begin


class Adam:
    """The moments of some parameters, and the step that updates them.

    Vectors and matrices of fewer than `JOINED` elements become views of one buffer, which the kernel takes as one tensor: its
    bookkeeping for a small tensor takes longer than the arithmetic. Convolutions keep a tensor, and so a layout, of their own.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], betas: tuple[float, float]) -> None:
        self.betas = betas
        self.small = [i for i, p in enumerate(parameters) if p.numel() < JOINED and p.ndim <= 2 and p.is_contiguous()]
        self.large = sorted(set(range(len(parameters))) - set(self.small))
        self.tensors = [parameters[i].detach() for i in self.large]
        self.shapes = [parameters[i].shape for i in self.small]
        if self.small:
            small = [parameters[i].detach() for i in self.small]
            # Made once: every call on a tensor in every step would cost as much as the arithmetic.
            self.padding = [one.new_zeros(n) if (n := -one.numel() % ALIGNED) else None for one in small]
            self.tensors.append(_concatenate(small, self.padding))
            for i, view in zip(self.small, _views(self.tensors[-1], self.shapes), strict=True):
                parameters[i].data = view
        self.first = [torch.zeros_like(p) for p in self.tensors]
        self.second = [torch.zeros_like(p) for p in self.tensors]
        # The kernel counts the steps of each tensor by itself; all are equal, so a checkpoint holds one.
        self.counts = [torch.zeros((), dtype=torch.float32, device=p.device) for p in self.tensors]

    def join(self, grads: Sequence[Tensor]) -> list[Tensor]:
        """Return the gradients of the parameters as `step` takes them: those of small parameters joined into one."""
        joined = [_match_layout(grads[i], tensor) for i, tensor in zip(self.large, self.tensors, strict=False)]
        return [*joined, _concatenate([grads[i] for i in self.small], self.padding)] if self.small else joined

    def step(self, joined: Sequence[Tensor], lr: float) -> None:
        """Update every parameter once, by what `join` returned."""
        adam(
            self.tensors,
            list(joined),
            self.first,
            self.second,
            [],
            self.counts,
            fused=True,
            amsgrad=False,
            beta1=self.betas[0],
            beta2=self.betas[1],
            lr=lr,
            weight_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name: the moments by the number of their parameter."""
        named = {"count": self.counts[0]}
        for name, moments in (("first", self.first), ("second", self.second)):
            small = _views(moments[-1], self.shapes) if self.small else []
            named |= {
                f"{i}/{name}": one
                for i, one in zip([*self.large, *self.small], [*moments[: len(self.large)], *small], strict=True)
            }
        return named

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned."""
        for name, value in self.state().items():
            value.copy_(state[name])
        for count in self.counts:
            count.copy_(self.counts[0])


def _concatenate(tensors: Sequence[Tensor], padding: Sequence[Tensor | None]) -> Tensor:
    """Return the elements of all tensors, one tensor after the other, each with its padding, if any, behind it."""
    pieces = []
    for one, zeros in zip(tensors, padding, strict=True):
        pieces.append(one if one.ndim == 1 else one.reshape(-1))
        if zeros is not None:
            pieces.append(zeros)
    return torch.cat(pieces)


def _views(buffer: Tensor, shapes: Sequence[torch.Size]) -> list[Tensor]:
    """Return what `_concatenate` joined as tensors of their shapes, without the padding."""
    pieces = torch.split(buffer, [shape.numel() + -shape.numel() % ALIGNED for shape in shapes])
    return [piece[: shape.numel()].view(shape) for piece, shape in zip(pieces, shapes, strict=True)]


class SparseOptimizer(Protocol):
    """The optimizer of a module whose step updates only what the batch looked up."""

    @property
    def weight(self) -> nn.Parameter:
        """The parameter that it updates."""

    def looked_up(self) -> list[Tensor]:
        """Return what was looked up since the last step, which gradients are taken of."""

    def merge(self, grads: Sequence[Tensor | None]) -> Tensor | None:
        """Return one gradient from those of all look-ups, over all processes; none if no term reached them."""

    def step(self, grad: Tensor, lr: float) -> None:
        """Update what was looked up."""

    def reset(self) -> None:
        """Forget what was looked up."""

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name."""


@runtime_checkable
class Sparse(Protocol):
    """A module that needs its own optimizer, since a step uses only a few of its rows."""

    def sparse_optimizer(self, betas: tuple[float, float]) -> SparseOptimizer:
        """Return the optimizer of its parameter."""


class PlayerOptimizer:
    """The optimizer of one player: Adam for its dense parameters, and its modules' own optimizers for sparse ones."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], sparse: Sequence[SparseOptimizer], betas: tuple[float, float]
    ) -> None:
        apart = {id(one.weight) for one in sparse}
        self.dense = [p for p in parameters if id(p) not in apart]
        self.adam = Adam(self.dense, betas) if self.dense else None
        self.sparse = sparse

    def inputs(self) -> list[Tensor]:
        """Return what gradients are taken of: the dense parameters, then what was looked up in each sparse one."""
        return [*self.dense, *(one for optimizer in self.sparse for one in optimizer.looked_up())]

    def merge(self, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        """Return, from the gradients of all look-ups, one for each sparse parameter."""
        merged, start = [], 0
        for optimizer in self.sparse:
            end = start + len(optimizer.looked_up())
            merged.append(optimizer.merge(grads[start:end]))
            start = end
        return merged

    def join(self, grads: Sequence[Tensor]) -> list[Tensor]:
        """Return gradients, one for each dense parameter and then for each sparse one, as `step` takes them."""
        dense = [] if self.adam is None else self.adam.join(grads[: len(self.dense)])
        return [*dense, *grads[len(self.dense) :]]

    def step(self, joined: Sequence[Tensor], lr: float) -> None:
        """Update once, by what `join` returned."""
        dense = len(joined) - len(self.sparse)
        if self.adam is not None:
            self.adam.step(joined[:dense], lr)
        for optimizer, grad in zip(self.sparse, joined[dense:], strict=True):
            optimizer.step(grad, lr)
        self.reset()

    def reset(self) -> None:
        """Forget what was looked up."""
        for optimizer in self.sparse:
            optimizer.reset()

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint must hold, by name."""
        named = {} if self.adam is None else self.adam.state()
        for i, optimizer in enumerate(self.sparse):
            named |= {f"table {i}/{name}": value for name, value in optimizer.state().items()}
        return named

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Restore what `state` returned; nothing, where a stage only begins."""
        if not state:
            return
        if self.adam is not None:
            self.adam.load(state)
        for i, optimizer in enumerate(self.sparse):
            for name, value in optimizer.state().items():
                value.copy_(state[f"table {i}/{name}"])


def _match_layout(value: Tensor, like: Tensor) -> Tensor:
    """Return the value in the memory layout of its parameter: the kernel walks through memory, not through indices."""
    return value if value.stride() == like.stride() else torch.empty_like(like).copy_(value)
