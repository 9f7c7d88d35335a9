"""Networks that move a row to another class, and that tell real rows and their class.

`residual` has those of StarGAN (Choi et al. 2018): at 128 x 128 and `width` 64, a 7 x 7 convolution, two halvings, six residual
blocks and two doublings with instance norm, and a critic of six strided 4 x 4 convolutions (64 to 2048 channels) down to 2 x 2.
Images of other sizes are halved as often as it takes to a side of at most 2. Every other name of the table of networks has
its encoder and decoder behind each other. The class comes in as one more channel, or column, for each class.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import select_networks
from untwine.networks.conv import halvings

RESIDUAL_WIDTH = 16
BLOCKS = 6
FEATURES = 128
LEAST = 2  # the side at which the critic judges


def translator(name: str, shape: tuple[int, ...], classes: int, width: int | None) -> nn.Module:
    """Return a network from rows and shares of classes (n, classes) to rows; `auto` is `residual` for images, else `mlp`."""
    if is_residual(name, shape):
        return Translator(ResidualTranslator(shape, classes, width or RESIDUAL_WIDTH), len(shape) == 3)
    pair = select_networks(name, shape)
    encoder = pair.encoder((shape[0] + classes, *shape[1:]), FEATURES, width or pair.default_width)
    decoder = pair.decoder(FEATURES, shape, width or pair.default_width)
    return Translator(nn.Sequential(encoder, nn.LeakyReLU(0.2), decoder), len(shape) == 3)


def critic(name: str, shape: tuple[int, ...], classes: int, width: int | None) -> nn.Module:
    """Return a network from rows to one number for how real they are, (n,), and logits of classes (n, classes)."""
    if is_residual(name, shape):
        return PatchCritic(shape, classes, width or RESIDUAL_WIDTH)
    pair = select_networks(name, shape)
    # Not normalised: a penalty on the gradient of each row must not depend on its company.
    return PlainCritic((pair.discriminator_trunk or pair.encoder)(shape, FEATURES, width or pair.default_width), classes)


def is_residual(name: str, shape: tuple[int, ...]) -> bool:
    """Say whether these are the networks of StarGAN's paper, and refuse them for vectors."""
    if name == "residual" and len(shape) != 3:
        raise ValueError(
            f"networks='residual' must be images (C, H, W), but the rows are vectors of {shape[0]}; use networks='mlp'."
        )
    return name == "residual" or (name == "auto" and len(shape) == 3)


class Translator(nn.Module):
    """Rows in [-1, 1] for images, in the units of the data for vectors, from rows and classes."""

    def __init__(self, inner: nn.Module, images: bool) -> None:
        super().__init__()
        self.inner, self.images = inner, images

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Map rows (n, *shape) and shares of classes (n, classes) to rows (n, *shape)."""
        planes = y.view(*y.shape, *(1 for _ in x.shape[2:])).expand(-1, -1, *x.shape[2:])
        out: Tensor = self.inner(torch.cat([x, planes], 1)).to(x.dtype)
        return torch.tanh(out) if self.images else out


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions with instance norm, added to what came in."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*_convolved(width, width, 3, 1), *_convolved(width, width, 3, 1)[:-1])

    def forward(self, x: Tensor) -> Tensor:
        """Change (n, C, H, W)."""
        changed: Tensor = x + self.layers(x)
        return changed


class ResidualTranslator(nn.Module):
    """A 7 x 7 convolution, two halvings, six residual blocks, two doublings, and a 7 x 7 convolution."""

    def __init__(self, shape: tuple[int, ...], classes: int, width: int) -> None:
        super().__init__()
        sizes = [tuple(shape[1:])]
        for _ in range(2):
            sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))
        self.sizes = sizes[-2::-1]
        self.down = nn.Sequential(
            *_convolved(shape[0] + classes, width, 7, 1),
            *_halved(sizes[0], width, 2 * width),
            *_halved(sizes[1], 2 * width, 4 * width),
        )
        self.blocks = nn.Sequential(*(ResidualBlock(4 * width) for _ in range(BLOCKS)))
        self.ups = nn.ModuleList(_doubled(before, before // 2) for before in (4 * width, 2 * width))
        self.last = nn.Conv2d(width, shape[0], 7, padding=3)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C + classes, H, W) to (n, C, H, W), before the tanh."""
        x = self.blocks(self.down(x))
        for up, (height, width) in zip(self.ups, self.sizes, strict=True):
            x = up(x)[:, :, :height, :width]
        return self.last(x)  # type: ignore[no-any-return]


class PatchCritic(nn.Module):
    """Strided 4 x 4 convolutions down to a side of at most 2; one number for each patch, whose mean counts, and the classes."""

    def __init__(self, shape: tuple[int, ...], classes: int, width: int) -> None:
        super().__init__()
        sizes = halvings(shape[1], shape[2], LEAST)
        widths = [shape[0], *(width * 2**i for i in range(len(sizes) - 1))]
        parts: list[nn.Module] = []
        for (h, w), (before, after) in zip(sizes, pairwise(widths), strict=False):
            parts += [nn.ZeroPad2d((1, 1 + w % 2, 1, 1 + h % 2)), nn.Conv2d(before, after, 4, 2), nn.LeakyReLU(0.01)]
        self.trunk = nn.Sequential(*parts)
        # No bias: it would cancel between real and made rows, and Adam would move it by rounding errors alone.
        self.real = nn.Conv2d(widths[-1], 1, 3, padding=1, bias=False)
        self.classes = nn.Conv2d(widths[-1], classes, sizes[-1], bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map (n, C, H, W) to (n,) and (n, classes)."""
        seen = self.trunk(x)
        return self.real(seen).mean((1, 2, 3)).to(x.dtype), self.classes(seen).flatten(1).to(x.dtype)


class PlainCritic(nn.Module):
    """Any encoder as the trunk, with a linear layer for each answer."""

    def __init__(self, trunk: nn.Module, classes: int) -> None:
        super().__init__()
        self.trunk, self.real = trunk, nn.Linear(FEATURES, 1, bias=False)
        self.classes = nn.Linear(FEATURES, classes)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map (n, *shape) to (n,) and (n, classes)."""
        seen = functional.leaky_relu(self.trunk(x), 0.2)
        return self.real(seen).squeeze(1).to(x.dtype), self.classes(seen).to(x.dtype)


def _convolved(before: int, after: int, kernel: int, stride: int) -> list[nn.Module]:
    # A bias before a norm would be taken away again.
    convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.InstanceNorm2d(after, affine=True), nn.ReLU()]


def _halved(size: tuple[int, ...], before: int, after: int) -> list[nn.Module]:
    pad = nn.ZeroPad2d((1, 1 + size[1] % 2, 1, 1 + size[0] % 2))
    return [pad, nn.Conv2d(before, after, 4, 2, bias=False), nn.InstanceNorm2d(after, affine=True), nn.ReLU()]


def _doubled(before: int, after: int) -> nn.Sequential:
    doubled = nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False)
    return nn.Sequential(doubled, nn.InstanceNorm2d(after, affine=True), nn.ReLU())
