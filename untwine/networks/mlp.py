"""Fully connected networks, for vectors and small images; `Higgins...` are those of the beta-VAE on 2D Shapes."""

from __future__ import annotations

import math
from itertools import pairwise

from torch import Tensor, nn


def layers(*widths: int) -> nn.Sequential:
    """Return linear layers of these widths with LeakyReLU between them, none after the last."""
    modules: list[nn.Module] = []
    for before, after in pairwise(widths):
        modules += [nn.Linear(before, after), nn.LeakyReLU(0.2)]
    return nn.Sequential(*modules[:-1])


class MLPEncoder(nn.Module):
    """Two hidden layers from flattened samples of any shape to `out` units."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        self.layers = layers(math.prod(shape), width, width, out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, *shape) to (n, out)."""
        return self.layers(x.flatten(1))  # type: ignore[no-any-return]


class MLPDecoder(nn.Module):
    """Two hidden layers from codes to samples of any shape."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.shape = shape
        self.layers = layers(codes, width, width, math.prod(shape))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, *shape)."""
        return self.layers(z).view(-1, *self.shape)  # type: ignore[no-any-return]


class HigginsEncoder(nn.Module):
    """The encoder of 2D Shapes in Higgins et al. 2017: two hidden layers (1200 units each) with ReLU."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        sizes = (math.prod(shape), width, width)
        hidden = [layer for pair in pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.layers = nn.Sequential(*hidden, nn.Linear(width, out))

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, *shape) to (n, out)."""
        return self.layers(x.flatten(1))  # type: ignore[no-any-return]


class HigginsDecoder(nn.Module):
    """The decoder of 2D Shapes in Higgins et al. 2017: three hidden layers (1200 units each) with tanh."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.shape, sizes = shape, (codes, width, width, width)
        hidden = [layer for pair in pairwise(sizes) for layer in (nn.Linear(*pair), nn.Tanh())]
        self.layers = nn.Sequential(*hidden, nn.Linear(width, math.prod(shape)))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, *shape)."""
        return self.layers(z).view(-1, *self.shape)  # type: ignore[no-any-return]
