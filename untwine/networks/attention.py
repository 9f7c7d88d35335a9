"""The generator of Carton et al. 2024, table 5: nearest-neighbour up-sampling and 3 x 3 convolutions, one self-attention layer.

At 128 x 128 and width 64 it has the layers of the table: a linear layer to (512, 4, 4), then 1024-512-256, attention,
256-128-64-c, with batch norm and ReLU after each convolution but the last. Smaller images skip the first up-samplings. The
table does not specify the attention layer: here it is that of Zhang et al., *Self-Attention GANs*, 2019.
"""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.conv import halvings
from untwine.networks.dcgan import init_dcgan_weights
from untwine.networks.norm import BatchNorm

CHANNEL_FACTORS = (16, 8, 4, 4, 1)  # the channels after each up-sampling, in units of width


class SelfAttention(nn.Module):
    r"""Self-attention over pixels with a residual: $x + \gamma h(x) \mathrm{softmax}(f(x)^T g(x))$; $\gamma$ starts at 0."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        reduced = max(1, channels // 8)
        self.f, self.g, self.h = (nn.Conv2d(channels, out, 1) for out in (reduced, reduced, channels))
        self.gamma = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to the same shape."""
        f, g, h = (layer(x).flatten(2) for layer in (self.f, self.g, self.h))
        attention = torch.softmax(f.transpose(1, 2) @ g, dim=1)  # (n, from, to): each pixel's weights sum to 1
        attended: Tensor = h @ attention
        return x + self.gamma * attended.view_as(x)


class AttentionDecoder(nn.Module):
    """A linear layer, then blocks of up-sampling and convolution; attention where the side is a quarter of the image's."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        self.start = (8 * width, *self.sizes[0])
        self.linear = nn.Linear(codes, prod(self.start))
        ups = len(self.sizes) - 1
        before, self.steps = self.start[0], nn.ModuleList()
        for number, factor in enumerate(CHANNEL_FACTORS[-ups:]):
            modules = [*convolution(before, factor * width)]
            if number == ups - 3:
                modules.append(SelfAttention(factor * width))
            if number == ups - 2:
                modules += convolution(factor * width, 2 * width)
            before = 2 * width if number == ups - 2 else factor * width
            self.steps.append(nn.Sequential(*modules))
        self.last = nn.Conv2d(before, shape[0], 3, padding=1)
        init_dcgan_weights(self)

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        x = self.linear(z).view(-1, *self.start)
        for step, size in zip(self.steps, self.sizes[1:], strict=True):
            x = step(functional.interpolate(x, size=size))
        return 2 * self.last(x)  # type: ignore[no-any-return]


def convolution(before: int, after: int) -> list[nn.Module]:
    """Return a 3 x 3 convolution of stride 1, batch norm and ReLU."""
    return [nn.Conv2d(before, after, 3, padding=1, bias=False), BatchNorm(after), nn.ReLU()]
