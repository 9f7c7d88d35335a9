"""Networks of paper 003, table 4 (after Radford et al., *DCGAN*, 2016), for images of every size from 8 to 128.

An image is halved by 4 x 4 convolutions until its longer side is at most 4, the channels doubled each time, at most eightfold;
the generator is the mirror. At 64 x 64 and width 64 these are the layers of the table: 64-128-256-512, and 512-256-128-64-c.
Images are in [-1, 1] there, behind a hyperbolic tangent. Here the decoder gives 2 u, for sigmoid(2 u) = (tanh(u) + 1) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod

from torch import Tensor, nn

from untwine.networks.conv import channels, halvings
from untwine.networks.noise import DEVIATION, Draw, noisy
from untwine.networks.norm import BatchNorm

SPREAD = 0.02


class Trunk(nn.Module):
    """Strided 4 x 4 convolutions with noise before each; batch norm after all but the first, or spectral norm in all.

    Parameters
    ----------
    shape, width
        The shape of an image, and the channels after the first convolution.
    spectral
        Divide each layer by its largest singular value (table 5) instead of normalising over the batch (table 4).
    deviation
        Of the noise.
    """

    def __init__(self, shape: tuple[int, ...], width: int, spectral: bool = False, deviation: float = DEVIATION) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        self.deviation, self.spectral, self.width, self.features = deviation, spectral, width, widths[-1] * prod(sizes[-1])
        self.steps = nn.ModuleList()
        for number, ((h, w), (before, after)) in enumerate(zip(sizes[:-1], pairwise(widths), strict=True)):
            # An odd side gets one more row or column of zeros first, so that every side is halved and rounded up.
            parts: list[nn.Module] = [nn.ZeroPad2d((0, w % 2, 0, h % 2))] if h % 2 or w % 2 else []
            normed = bool(number) and not spectral  # batch norm takes away any bias
            parts += [spectrally(nn.Conv2d(before, after, 4, 2, 1, bias=not normed), spectral)]
            parts += [BatchNorm(after)] if normed else []
            self.steps.append(nn.Sequential(*parts, nn.LeakyReLU(0.2)))
        started(self)

    def forward(self, x: Tensor, draw: Draw | None = None) -> Tensor:
        """Map (n, C, H, W) to (n, features)."""
        for step in self.steps:
            x = step(noisy(x, draw, self.deviation))
        return x.flatten(1)

    def head(self, out: int, codes: bool) -> nn.Module:
        """Return a head: table 4's 4 x 4 convolution, or table 5's linear layers, two of them where it gives codes."""
        if not (self.spectral and codes):
            return Head([nn.Linear(self.features, out)], self.deviation)
        sizes = (self.features, 2 * self.width, out)  # 128 in the middle at width 64
        layers = [spectrally(nn.Linear(*pair), True) for pair in pairwise(sizes)]
        return Head([nn.Sequential(layer, nn.LeakyReLU(0.2)) for layer in layers], self.deviation)


class Head(nn.Module):
    """Layers with noise before each."""

    def __init__(self, layers: list[nn.Module], deviation: float) -> None:
        super().__init__()
        self.layers, self.deviation = nn.ModuleList(layers), deviation
        started(self)

    def forward(self, x: Tensor, draw: Draw | None = None) -> Tensor:
        """Map (n, features) to (n, out)."""
        for layer in self.layers:
            x = layer(noisy(x, draw, self.deviation))
        return x


class DCGANEncoder(nn.Module):
    """The trunk without noise, and one head."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int, spectral: bool = False) -> None:
        super().__init__()
        self.trunk = Trunk(shape, width, spectral)
        self.linear = self.trunk.head(out, codes=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map images in [0, 1], (n, C, H, W), to (n, out)."""
        return self.linear(self.trunk(2 * x - 1))  # type: ignore[no-any-return]


class DCGANDecoder(nn.Module):
    """One linear layer (a transposed convolution of 1 x 1), then transposed 4 x 4 convolutions, batch norm and ReLU between."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        self.linear = nn.Linear(codes, prod(self.start), bias=False)
        self.steps = nn.ModuleList()
        for number, (before, after) in enumerate(pairwise(widths), 2):
            # All but the last are followed by batch norm, which takes away any bias.
            layer = nn.ConvTranspose2d(before, after, 4, 2, 1, bias=number == len(widths))
            self.steps.append(nn.Sequential(BatchNorm(before), nn.ReLU(), layer))
        started(self)

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        x = self.linear(z).view(-1, *self.start)
        for step, (height, width) in zip(self.steps, self.sizes[1:], strict=True):
            x = step(x)[:, :, :height, :width]
        return 2 * x  # type: ignore[no-any-return]


def spectrally(layer: nn.Module, wanted: bool) -> nn.Module:
    """Divide the weights of a layer by their largest singular value, where wanted."""
    return nn.utils.parametrizations.spectral_norm(layer) if wanted else layer


def started(module: nn.Module) -> None:
    """Draw weights as DCGAN does: N(0, 0.02), scales of batch norm N(1, 0.02), biases 0."""
    for part in module.modules():
        weight = getattr(part, "weight", None)
        if isinstance(part, BatchNorm):
            nn.init.normal_(part.weight, 1.0, SPREAD)
        elif isinstance(part, nn.Conv2d | nn.ConvTranspose2d | nn.Linear) and isinstance(weight, nn.Parameter):
            nn.init.normal_(weight, 0.0, SPREAD)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


TrunkMaker = Callable[[tuple[int, ...], int], Trunk]
