"""Convolutional networks for images with sides from 8 to 128, square or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from torch import Tensor, nn

from untwine.networks.norm import BatchNorm


def halvings(height: int, width: int, least: int = 4) -> list[tuple[int, int]]:
    """Return the sizes (H, W) of an image that is halved, rounding up, until its longer side is at most `least`.

    >>> halvings(28, 28)
    [(28, 28), (14, 14), (7, 7), (4, 4)]
    """
    sizes = [(height, width)]
    while max(sizes[-1]) > least:
        height, width = sizes[-1]
        sizes.append(((height + 1) // 2, (width + 1) // 2))
    return sizes


def channels(width: int, steps: int) -> list[int]:
    """Return the channels after each halving: doubled each time, up to eight times `width`."""
    return [width * min(2**i, 8) for i in range(steps)]


def halving_pad(size: Sequence[int]) -> nn.ZeroPad2d:
    """Return the padding with which a 4 x 4 convolution of stride 2 halves the size (H, W), rounding up odd sides."""
    height, width = size
    return nn.ZeroPad2d((1, 1 + width % 2, 1, 1 + height % 2))


def apply_cropped(steps: Iterable[nn.Module], x: Tensor, sizes: Iterable[Sequence[int]]) -> Tensor:
    """Apply modules in turn and crop the output (n, C, H, W) of each to its size: an odd side is doubled to one too many."""
    for step, (height, width) in zip(steps, sizes, strict=True):
        x = step(x)[:, :, :height, :width]
    return x


class ConvEncoder(nn.Module):
    """Strided 4 x 4 convolutions with LeakyReLU down to a side of at most 4, then one linear layer.

    With `norm`, batch norm follows each, and the convolutions have no bias: where a channel keeps its sign, the norm cancels
    it, and Adam would change it by rounding errors only.
    """

    def __init__(self, shape: tuple[int, ...], out: int, width: int, norm: bool = False) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        modules: list[nn.Module] = []
        for size, before, after in zip(sizes, widths, widths[1:], strict=False):
            modules += [halving_pad(size), nn.Conv2d(before, after, 4, 2, bias=not norm)]
            modules += [nn.LeakyReLU(0.2), *([BatchNorm(after)] if norm else [])]
        self.convolutions = nn.Sequential(*modules)
        self.linear = nn.Linear(widths[-1] * sizes[-1][0] * sizes[-1][1], out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class ConvDecoder(nn.Module):
    """The mirror of the encoder: one linear layer, then transposed convolutions, each cropped to its size."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int, norm: bool = False) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        self.linear = nn.Linear(codes, widths[0] * self.sizes[0][0] * self.sizes[0][1])
        self.steps = nn.ModuleList()
        for number, (before, after) in enumerate(pairwise(widths)):
            modules: list[nn.Module] = [nn.LeakyReLU(0.2)]
            modules += [BatchNorm(before)] if norm and number else []
            last = number + 2 == len(widths)
            self.steps.append(nn.Sequential(*modules, nn.ConvTranspose2d(before, after, 4, 2, 1, bias=last or not norm)))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        return apply_cropped(self.steps, self.linear(z).view(-1, *self.start), self.sizes[1:])
