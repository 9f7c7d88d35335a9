"""Class-conditional translators, and critics with a real/fake and a class output (StarGAN, Choi et al. 2018).

`residual` has the networks of the paper: at 128 x 128 and `width` 64, a 7 x 7 convolution, two strided convolutions, six
residual blocks and two transposed convolutions with instance norm, and a critic of six strided 4 x 4 convolutions (64 to 2048
channels) down to 2 x 2. Images of other sizes are halved until the longer side is at most 2. Every other name of the table of
networks is an encoder followed by its decoder. The class is concatenated to x as one more channel, or feature, for each class.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import check_images, select_networks
from untwine.networks.conditional import Conditional, ConditionalEncoder, append, with_channels
from untwine.networks.conv import apply_cropped, halving_pad, halvings

RESIDUAL_WIDTH = 16
BLOCKS = 6
FEATURES = 128
PATCH_GRID = 2  # the longer side of the critic's grid of patches


def build_translator(name: str, shape: tuple[int, ...], classes: int, width: int | None, n_covariates: int = 0) -> nn.Module:
    """Return a translator of samples to another class; `auto` is `residual` for images and `mlp` for vectors.

    Covariates are concatenated to x as the class is.
    """
    classes += n_covariates
    if is_residual(name, shape):
        return Translator(ResidualTranslator(shape, classes, width or RESIDUAL_WIDTH), len(shape) == 3, n_covariates)
    pair = select_networks(name, shape)
    encoder = pair.encoder((shape[0] + classes, *shape[1:]), FEATURES, width or pair.default_width)
    decoder = pair.decoder(FEATURES, shape, width or pair.default_width)
    return Translator(nn.Sequential(encoder, nn.LeakyReLU(0.2), decoder), len(shape) == 3, n_covariates)


def build_critic(name: str, shape: tuple[int, ...], classes: int, width: int | None, n_covariates: int = 0) -> nn.Module:
    """Return a critic from samples to real/fake scores (n,) and class logits (n, classes)."""
    critic = _build_critic(name, with_channels(shape, n_covariates), classes, width)
    return ConditionalEncoder(critic, n_covariates) if n_covariates else critic


def _build_critic(name: str, shape: tuple[int, ...], classes: int, width: int | None) -> nn.Module:
    if is_residual(name, shape):
        return PatchCritic(shape, classes, width or RESIDUAL_WIDTH)
    pair = select_networks(name, shape)
    # Without batch norm: the gradient penalty of a sample must not depend on the rest of the batch.
    return PlainCritic((pair.discriminator_trunk or pair.encoder)(shape, FEATURES, width or pair.default_width), classes)


def is_residual(name: str, shape: tuple[int, ...]) -> bool:
    """Return whether the name selects the networks of StarGAN's paper, which need images."""
    if name == "residual":
        check_images(name, shape)
    return name == "residual" or (name in ("auto", "standard") and len(shape) == 3)


class Translator(Conditional):
    """A network of x, class and covariates, with a tanh for images, which are in [-1, 1]."""

    def __init__(self, inner: nn.Module, images: bool, n_covariates: int = 0) -> None:
        super().__init__()
        self.inner, self.images, self.n_covariates = inner, images, n_covariates

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Map x (n, *shape) and class weights (n, classes), such as one-hot vectors, to (n, *shape)."""
        out: Tensor = self.inner(append(x, self.with_covariates(y))).to(x.dtype)
        return torch.tanh(out) if self.images else out


class ResidualBlock(nn.Module):
    """Two 3 x 3 convolutions with instance norm and a skip connection."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(*_conv_block(width, width, 3, 1), *_conv_block(width, width, 3, 1)[:-1])

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to the same shape."""
        out: Tensor = x + self.layers(x)
        return out


class ResidualTranslator(nn.Module):
    """A 7 x 7 convolution, two strided ones, six residual blocks, two transposed convolutions, and a 7 x 7 convolution."""

    def __init__(self, shape: tuple[int, ...], classes: int, width: int) -> None:
        super().__init__()
        sizes = [tuple(shape[1:])]
        for _ in range(2):
            sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))
        self.sizes = sizes[-2::-1]
        self.down = nn.Sequential(
            *_conv_block(shape[0] + classes, width, 7, 1),
            *_down_block(sizes[0], width, 2 * width),
            *_down_block(sizes[1], 2 * width, 4 * width),
        )
        self.blocks = nn.Sequential(*(ResidualBlock(4 * width) for _ in range(BLOCKS)))
        self.ups = nn.ModuleList(_up_block(before, before // 2) for before in (4 * width, 2 * width))
        self.last = nn.Conv2d(width, shape[0], 7, padding=3)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C + classes, H, W) to (n, C, H, W), before the tanh."""
        x = apply_cropped(self.ups, self.blocks(self.down(x)), self.sizes)
        return self.last(x)  # type: ignore[no-any-return]


class PatchCritic(nn.Module):
    """Strided 4 x 4 convolutions down to a side of at most 2; the mean real/fake score over patches, and class logits."""

    def __init__(self, shape: tuple[int, ...], classes: int, width: int) -> None:
        super().__init__()
        sizes = halvings(shape[1], shape[2], PATCH_GRID)
        widths = [shape[0], *(width * 2**i for i in range(len(sizes) - 1))]
        modules: list[nn.Module] = []
        for size, (before, after) in zip(sizes, pairwise(widths), strict=False):
            modules += [halving_pad(size), nn.Conv2d(before, after, 4, 2), nn.LeakyReLU(0.01)]
        self.trunk = nn.Sequential(*modules)
        # No bias: it would cancel between real and generated samples, and Adam would change it by rounding errors only.
        self.real = nn.Conv2d(widths[-1], 1, 3, padding=1, bias=False)
        self.classes = nn.Conv2d(widths[-1], classes, sizes[-1], bias=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map (n, C, H, W) to (n,) and (n, classes)."""
        features = self.trunk(x)
        return self.real(features).mean((1, 2, 3)).to(x.dtype), self.classes(features).flatten(1).to(x.dtype)


class PlainCritic(nn.Module):
    """Any encoder as the trunk, with a linear head for each output."""

    def __init__(self, trunk: nn.Module, classes: int) -> None:
        super().__init__()
        self.trunk, self.real = trunk, nn.Linear(FEATURES, 1, bias=False)
        self.classes = nn.Linear(FEATURES, classes)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map (n, *shape) to (n,) and (n, classes)."""
        features = functional.leaky_relu(self.trunk(x), 0.2)
        return self.real(features).squeeze(1).to(x.dtype), self.classes(features).to(x.dtype)


def _conv_block(before: int, after: int, kernel: int, stride: int) -> list[nn.Module]:
    # No bias: the norm would cancel it.
    convolution = nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False)
    return [convolution, nn.InstanceNorm2d(after, affine=True), nn.ReLU()]


def _down_block(size: tuple[int, ...], before: int, after: int) -> list[nn.Module]:
    return [halving_pad(size), nn.Conv2d(before, after, 4, 2, bias=False), nn.InstanceNorm2d(after, affine=True), nn.ReLU()]


def _up_block(before: int, after: int) -> nn.Sequential:
    convolution = nn.ConvTranspose2d(before, after, 4, 2, 1, bias=False)
    return nn.Sequential(convolution, nn.InstanceNorm2d(after, affine=True), nn.ReLU())
