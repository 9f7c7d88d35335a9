"""Convolutional networks for volumes with sides from 8 to 64, cubic or not: `conv` with a third axis.

A voxel has 64 neighbours in a 4 x 4 x 4 kernel where a pixel has 16, so the default width is a quarter of that of images.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from untwine.networks.conv import channels


def halvings(sides: tuple[int, ...], least: int = 4) -> list[tuple[int, ...]]:
    """Return the sizes (D, H, W) of a volume that is halved, rounding up, until its longest side is at most `least`.

    >>> halvings((16, 12, 9))
    [(16, 12, 9), (8, 6, 5), (4, 3, 3)]
    """
    sizes = [tuple(sides)]
    while max(sizes[-1]) > least:
        sizes.append(tuple((side + 1) // 2 for side in sizes[-1]))
    return sizes


class Conv3dEncoder(nn.Module):
    """Strided 4 x 4 x 4 convolutions with LeakyReLU down to a side of at most 4, then one linear layer."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        sizes = halvings(shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        modules: list[nn.Module] = []
        for size, before, after in zip(sizes, widths, widths[1:], strict=False):
            modules += [halving_pad(size), nn.Conv3d(before, after, 4, 2), nn.LeakyReLU(0.2)]
        self.convolutions = nn.Sequential(*modules)
        depth, height, width_ = sizes[-1]
        self.linear = nn.Linear(widths[-1] * depth * height * width_, out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, D, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class Conv3dDecoder(nn.Module):
    """The mirror of the encoder: one linear layer, then transposed convolutions, each cropped to its size."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        depth, height, width_ = self.sizes[0]
        self.linear = nn.Linear(codes, widths[0] * depth * height * width_)
        self.steps = nn.ModuleList(
            nn.Sequential(nn.LeakyReLU(0.2), nn.ConvTranspose3d(before, after, 4, 2, 1)) for before, after in pairwise(widths)
        )

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, D, H, W)."""
        x = self.linear(z).view(-1, *self.start)
        for step, (depth, height, width) in zip(self.steps, self.sizes[1:], strict=True):
            x = step(x)[:, :, :depth, :height, :width]
        return x  # type: ignore[no-any-return]


def halving_pad(size: tuple[int, ...]) -> nn.ConstantPad3d:
    """Return the padding with which a 4 x 4 x 4 convolution of stride 2 halves the size (D, H, W), rounding up odd sides."""
    depth, height, width = size
    return nn.ConstantPad3d((1, 1 + width % 2, 1, 1 + height % 2, 1, 1 + depth % 2), 0.0)
