"""Networks that are given the covariates of each sample: features beside vectors and codes, constant channels beside images."""

from __future__ import annotations

import copy
from typing import Self

import torch
from torch import Tensor, nn

from untwine.training.conditions import Conditions


class Conditional(nn.Module):
    """A network that is given what is known of each sample, bound by `given`, before it sees samples or codes.

    `n_covariates` is the number of columns of covariates that it takes; 0 for none.
    """

    n_covariates: int = 0
    conditions: Conditions = Conditions()

    def given(self, conditions: Conditions) -> Self:
        """Return this network with the conditions of the samples that it sees next: a view with the same parameters."""
        view = copy.copy(self)
        view.conditions = conditions
        return view

    def with_covariates(self, x: Tensor) -> Tensor:
        """Return samples or codes with their covariates appended, where the network takes some."""
        if not self.n_covariates:
            return x
        if self.conditions.covariates is None:
            raise ValueError(
                f"the network takes {self.n_covariates} columns of covariates with each sample; it was given none; call "
                "given(conditions) first."
            )
        return append(x, self.conditions.covariates)


class ConditionalEncoder(Conditional):
    """Any network of samples, which sees them with their covariates."""

    def __init__(self, inner: nn.Module, n_covariates: int) -> None:
        super().__init__()
        self.inner, self.n_covariates = inner, n_covariates

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, *shape) to what the network inside maps it to."""
        return self.inner(self.with_covariates(x))  # type: ignore[no-any-return]


def append(x: Tensor, covariates: Tensor) -> Tensor:
    """Return x (n, c, ...) with covariates (n, k) as k more features, or constant channels: (n, c + k, ...)."""
    planes = covariates.view(*covariates.shape, *(1 for _ in x.shape[2:])).expand(-1, -1, *x.shape[2:])
    return torch.cat([x, planes.to(x.dtype)], 1)


def count_covariates(fields: object) -> int:
    """Return how many columns of covariates a method's networks are given; 0 for an object without that field."""
    return int(getattr(fields, "n_covariates", 0))


def with_channels(shape: tuple[int, ...], more: int) -> tuple[int, ...]:
    """Return the shape of a sample with more features or channels."""
    return (shape[0] + more, *shape[1:])


def given(nets: nn.ModuleDict, conditions: Conditions) -> nn.ModuleDict:
    """Return networks of which those that are conditional are given the conditions; all parameters are shared."""
    return nn.ModuleDict({name: net.given(conditions) if isinstance(net, Conditional) else net for name, net in nets.items()})
