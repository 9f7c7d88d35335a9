"""Networks of Ruiz et al. 2018 for images with sides from 8 to 128: pixel norm, average pooling, nearest-neighbour up-sampling.

The building blocks are those of Karras et al., *Progressive Growing of GANs*, 2018. The paper's images are 64 and 96 pixels
wide, in [-1, 1], the output of a tanh; it gives its widths in a figure only. Our images are in [0, 1]: the encoder maps them to
[-1, 1], and the decoder returns logits 2 u, for sigmoid(2 u) = (tanh(u) + 1) / 2.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.conv import channels, halvings

EPSILON = 1e-8


class PixelNorm(nn.Module):
    r"""Divide each pixel's channels by their root mean square: $a_c / \sqrt{\tfrac1C \sum_j a_j^2 + 10^{-8}}$."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (n, C, H, W) over C."""
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + EPSILON)


def convolution(before: int, after: int, norm: bool) -> list[nn.Module]:
    """Return a 3 x 3 convolution of stride 1, LeakyReLU and, with `norm`, pixel norm."""
    return [nn.Conv2d(before, after, 3, padding=1), nn.LeakyReLU(0.2), *([PixelNorm()] if norm else [])]


class KarrasEncoder(nn.Module):
    """A convolution at each size, with average pooling between them, down to a side of at most 4; then one linear layer.

    Without `norm` it is the trunk of the discriminators, which the paper does not normalise.
    """

    def __init__(self, shape: tuple[int, ...], out: int, width: int, norm: bool = True) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes))]
        modules: list[nn.Module] = []
        for number, (before, after) in enumerate(pairwise(widths)):
            # Odd sides are rounded up: the pooling window at the border averages fewer pixels.
            modules += [nn.AvgPool2d(2, ceil_mode=True)] if number else []
            modules += convolution(before, after, norm)
        self.convolutions = nn.Sequential(*modules)
        self.linear = nn.Linear(widths[-1] * sizes[-1][0] * sizes[-1][1], out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(2 * x - 1).flatten(1))  # type: ignore[no-any-return]


class KarrasDecoder(nn.Module):
    """The mirror of the encoder: one linear layer, up-sampling and a convolution at each size, and a 1 x 1 convolution."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = channels(width, len(self.sizes))[::-1]
        self.start = (widths[0], *self.sizes[0])
        self.linear = nn.Linear(codes, widths[0] * self.sizes[0][0] * self.sizes[0][1])
        self.first = nn.Sequential(nn.LeakyReLU(0.2), PixelNorm())
        self.steps = nn.ModuleList(nn.Sequential(*convolution(a, b, True)) for a, b in pairwise([widths[0], *widths]))
        self.last = nn.Conv2d(widths[-1], shape[0], 1)

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        x = self.first(self.linear(z).view(-1, *self.start))
        for step, size in zip(self.steps, self.sizes, strict=True):
            x = step(functional.interpolate(x, size=size))
        return 2 * self.last(x)  # type: ignore[no-any-return]
