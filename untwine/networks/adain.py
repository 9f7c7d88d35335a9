"""Networks of Gabbay and Hoshen 2020 (appendix A.1): content is decoded to feature maps, which the class modulates by AdaIN.

At the paper's size of 64 x 64 and `width` 64 they are its networks. Generator: 3 linear layers (512, 1024, 4096 units), four
blocks of up-sampling, 3 x 3 convolution (256 channels), LeakyReLU and AdaIN, then convolutions of 5 x 5 (64) and 7 x 7.
Encoders: a 7 x 7 convolution (64), four strided 4 x 4 ones (128, 256, 256, 256) and 3 linear layers (256, 256, codes). Images
of other sizes have as many blocks as it takes between their size and a side of at most 4.

Deviation from the paper: the scale is 1 plus a linear map of the class code, not the map alone, so that activations do not
vanish while codes are small.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.conv import halving_pad, halvings
from untwine.networks.mlp import layers

EPSILON = 1e-5


class Modulation(nn.Module):
    """Scale and shift each channel (or feature) by linear maps of the class code e: $(1 + A e) x + B e + b$."""

    def __init__(self, n_class: int, channels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(n_class, 2 * channels)

    def forward(self, x: Tensor, e: Tensor) -> Tensor:
        """Modulate x (n, C) or (n, C, H, W) by e (n, n_class)."""
        scale, shift = self.linear(e).chunk(2, 1)
        view = (*scale.shape, *(1 for _ in x.shape[2:]))
        modulated: Tensor = (1 + scale.view(view)) * x + shift.view(view)
        return modulated


class AdaIN(nn.Module):
    """Adaptive instance norm: each channel of each image to mean 0 and std 1, then modulated by the class code."""

    def __init__(self, n_class: int, channels: int) -> None:
        super().__init__()
        self.modulation = Modulation(n_class, channels)

    def forward(self, x: Tensor, e: Tensor) -> Tensor:
        """Normalise x (n, C, H, W) and modulate it by e (n, n_class)."""
        var, mean = torch.var_mean(x, (2, 3), keepdim=True, correction=0)
        return self.modulation((x - mean) * torch.rsqrt(var + EPSILON), e)  # type: ignore[no-any-return]


class AdaINGenerator(nn.Module):
    """Decoder of images: the content code through linear layers and up-sampling convolutions, the class code by AdaIN."""

    def __init__(self, shape: tuple[int, ...], n_class: int, n_content: int, width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        channels, (height, side) = 4 * width, self.sizes[0]
        self.start = (channels, height, side)
        widths = (n_content, 8 * width, 16 * width, channels * height * side)
        self.linear = nn.Sequential(*layers(*widths), nn.LeakyReLU(0.2))
        ups = self.sizes[1:]
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1) for _ in ups)
        self.norms = nn.ModuleList(AdaIN(n_class, channels) for _ in ups)
        self.last = nn.Sequential(
            nn.Conv2d(channels, width, 5, padding=2), nn.LeakyReLU(0.2), nn.Conv2d(width, shape[0], 7, padding=3)
        )

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to logits (n, C, H, W)."""
        x = self.linear(c).view(-1, *self.start)
        for size, convolution, norm in zip(self.sizes[1:], self.convolutions, self.norms, strict=True):
            x = norm(functional.leaky_relu(convolution(functional.interpolate(x, size=size)), 0.2), e)
        return self.last(x)  # type: ignore[no-any-return]


class AdaINEncoder(nn.Module):
    """A 7 x 7 convolution, strided 4 x 4 ones down to a side of at most 4, and three linear layers."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [width, *(2 * width if i == 0 else 4 * width for i in range(len(sizes) - 1))]
        modules: list[nn.Module] = [nn.Conv2d(shape[0], width, 7, padding=3), nn.LeakyReLU(0.2)]
        for size, before, after in zip(sizes, widths, widths[1:], strict=False):
            modules += [halving_pad(size), nn.Conv2d(before, after, 4, 2), nn.LeakyReLU(0.2)]
        self.convolutions = nn.Sequential(*modules)
        flat, hidden = widths[-1] * sizes[-1][0] * sizes[-1][1], 4 * width
        self.linear = nn.Sequential(
            nn.Linear(flat, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, hidden), nn.LeakyReLU(0.2), nn.Linear(hidden, out)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]
