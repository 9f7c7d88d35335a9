"""Networks of Carton et al. 2024, table 4 (after Radford et al., *DCGAN*, 2016), for images with sides from 8 to 128.

Strided 4 x 4 convolutions halve an image until its longer side is at most 4, and double the channels each time, up to eight
times `width`; the generator mirrors them. At 64 x 64 and width 64 these are the layers of the table: 64-128-256-512, and
512-256-128-64-c. The paper's images are in [-1, 1], the output of a tanh; ours are in [0, 1]. The decoder returns logits 2 u,
for sigmoid(2 u) = (tanh(u) + 1) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod

from torch import Tensor, nn

from untwine.networks.conv import apply_cropped, channels, halvings
from untwine.networks.noise import NOISE_STD, Draw, add_noise
from untwine.networks.norm import BatchNorm

INIT_STD = 0.02


class Trunk(nn.Module):
    """Strided 4 x 4 convolutions with noise before each; batch norm after all but the first, or spectral norm on all.

    Parameters
    ----------
    shape, width
        The shape (C, H, W) of an image, and the channels after the first convolution.
    spectral
        Use spectral normalisation (table 5) in place of batch norm (table 4).
    noise_std
        The standard deviation of the noise.
    linear_codes
        Whether the heads of codes with spectral normalisation end linearly, as in the authors' code, and not with the LeakyReLU
        of table 5, which divides negative codes by five.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        width: int,
        spectral: bool = False,
        noise_std: float = NOISE_STD,
        linear_codes: bool = False,
    ) -> None:
        super().__init__()
        self.linear_codes = linear_codes
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        self.noise_std, self.spectral, self.width, self.features = noise_std, spectral, width, widths[-1] * prod(sizes[-1])
        self.steps = nn.ModuleList()
        for number, ((h, w), (before, after)) in enumerate(zip(sizes[:-1], pairwise(widths), strict=True)):
            # Odd sides are padded by one more line of zeros, so that halving rounds up.
            modules: list[nn.Module] = [nn.ZeroPad2d((0, w % 2, 0, h % 2))] if h % 2 or w % 2 else []
            normed = bool(number) and not spectral  # batch norm cancels a bias
            modules += [maybe_spectral_norm(nn.Conv2d(before, after, 4, 2, 1, bias=not normed), spectral)]
            modules += [BatchNorm(after)] if normed else []
            self.steps.append(nn.Sequential(*modules, nn.LeakyReLU(0.2)))
        init_dcgan_weights(self)

    def forward(self, x: Tensor, draw: Draw | None = None) -> Tensor:
        """Map (n, C, H, W) to (n, features)."""
        for step in self.steps:
            x = step(add_noise(x, draw, self.noise_std))
        return x.flatten(1)

    def head(self, out: int, codes: bool) -> nn.Module:
        """Return a head: one linear layer (the 4 x 4 convolution of table 4), or two for the codes of table 5."""
        if not (self.spectral and codes):
            return Head([nn.Linear(self.features, out)], self.noise_std)
        sizes = (self.features, 2 * self.width, out)  # 128 hidden units at width 64
        layers = [maybe_spectral_norm(nn.Linear(*pair), True) for pair in pairwise(sizes)]
        first, last = (nn.Sequential(layer, nn.LeakyReLU(0.2)) for layer in layers)
        return Head([first, layers[-1] if self.linear_codes else last], self.noise_std)


class Head(nn.Module):
    """A stack of layers with noise added before each."""

    def __init__(self, layers: list[nn.Module], noise_std: float) -> None:
        super().__init__()
        self.layers, self.noise_std = nn.ModuleList(layers), noise_std
        init_dcgan_weights(self)

    def forward(self, x: Tensor, draw: Draw | None = None) -> Tensor:
        """Map (n, features) to (n, out)."""
        for layer in self.layers:
            x = layer(add_noise(x, draw, self.noise_std))
        return x


class DCGANEncoder(nn.Module):
    """The trunk without noise, and one linear head."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int, spectral: bool = False) -> None:
        super().__init__()
        self.trunk = Trunk(shape, width, spectral)
        self.linear = self.trunk.head(out, codes=False)

    def forward(self, x: Tensor) -> Tensor:
        """Map images in [0, 1], (n, C, H, W), to (n, out)."""
        return self.linear(self.trunk(2 * x - 1))  # type: ignore[no-any-return]


class DCGANDecoder(nn.Module):
    """One linear layer, then transposed 4 x 4 convolutions, with batch norm and ReLU before each."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        self.linear = nn.Linear(codes, prod(self.start), bias=False)
        self.steps = nn.ModuleList()
        for number, (before, after) in enumerate(pairwise(widths), 2):
            # All but the last are followed by batch norm, which cancels a bias.
            layer = nn.ConvTranspose2d(before, after, 4, 2, 1, bias=number == len(widths))
            self.steps.append(nn.Sequential(BatchNorm(before), nn.ReLU(), layer))
        init_dcgan_weights(self)

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        return 2 * apply_cropped(self.steps, self.linear(z).view(-1, *self.start), self.sizes[1:])


def maybe_spectral_norm(layer: nn.Module, enabled: bool) -> nn.Module:
    """Return the layer with spectral normalisation of its weights, if enabled."""
    return nn.utils.parametrizations.spectral_norm(layer) if enabled else layer


def init_dcgan_weights(module: nn.Module) -> None:
    """Initialise weights as DCGAN does: N(0, 0.02^2), batch-norm scales N(1, 0.02^2), biases 0."""
    for layer in module.modules():
        weight = getattr(layer, "weight", None)
        if isinstance(layer, BatchNorm):
            nn.init.normal_(layer.weight, 1.0, INIT_STD)
        elif isinstance(layer, nn.Conv2d | nn.ConvTranspose2d | nn.Linear) and isinstance(weight, nn.Parameter):
            nn.init.normal_(weight, 0.0, INIT_STD)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


# Of (shape, width).
TrunkBuilder = Callable[[tuple[int, ...], int], Trunk]
