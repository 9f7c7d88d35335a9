"""Fully connected networks, for vectors and for small images."""

from __future__ import annotations

import math
from itertools import pairwise

from torch import Tensor, nn


def layers(*widths: int) -> nn.Sequential:
    """Return linear layers with LeakyReLU between them, the last one plain."""
    parts: list[nn.Module] = []
    for before, after in pairwise(widths):
        parts += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
    return nn.Sequential(*parts[:-1])


class MLPEncoder(nn.Module):
    """From rows of any shape to `out` numbers through two hidden layers."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        self.layers = layers(math.prod(shape), width, width, out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, *shape) to (n, out)."""
        return self.layers(x.flatten(1))  # type: ignore[no-any-return]


class MLPDecoder(nn.Module):
    """From codes to rows of any shape through two hidden layers."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.shape = shape
        self.layers = layers(codes, width, width, math.prod(shape))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, *shape)."""
        return self.layers(z).view(-1, *self.shape)  # type: ignore[no-any-return]
