"""Convolutional networks for images of every size from 8 to 128, square or not."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from untwine.networks.norm import BatchNorm


def halvings(height: int, width: int, least: int = 4) -> list[tuple[int, int]]:
    """Return the sizes that an image goes through, halved (rounded up) until its longer side is at most `least`.

    >>> halvings(28, 28)
    [(28, 28), (14, 14), (7, 7), (4, 4)]
    """
    sizes = [(height, width)]
    while max(sizes[-1]) > least:
        height, width = sizes[-1]
        sizes.append(((height + 1) // 2, (width + 1) // 2))
    return sizes


def channels(width: int, steps: int) -> list[int]:
    """Return the channels after each halving: doubled each time, at most eightfold."""
    return [width * min(2**i, 8) for i in range(steps)]


class ConvEncoder(nn.Module):
    """Strided 4 x 4 convolutions with LeakyReLU down to a side of at most 4, then one linear layer.

    With `norm`, batch norm follows each, and convolutions have no bias: where a channel keeps its sign, the norm takes the bias
    away again, and Adam would move it by nothing but rounding errors.
    """

    def __init__(self, shape: tuple[int, ...], out: int, width: int, norm: bool = False) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        parts: list[nn.Module] = []
        for (h, w), before, after in zip(sizes, widths, widths[1:], strict=False):
            # An odd side gets one more row or column of zeros, so that every side is halved and rounded up.
            parts += [nn.ZeroPad2d((1, 1 + w % 2, 1, 1 + h % 2)), nn.Conv2d(before, after, 4, 2, bias=not norm)]
            parts += [nn.LeakyReLU(0.2), *([BatchNorm(after)] if norm else [])]
        self.convolutions = nn.Sequential(*parts)
        self.linear = nn.Linear(widths[-1] * sizes[-1][0] * sizes[-1][1], out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class ConvDecoder(nn.Module):
    """The encoder's mirror: one linear layer, then transposed convolutions, cut to each size on the way up."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int, norm: bool = False) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        self.linear = nn.Linear(codes, widths[0] * self.sizes[0][0] * self.sizes[0][1])
        self.steps = nn.ModuleList()
        for number, (before, after) in enumerate(pairwise(widths)):
            parts: list[nn.Module] = [nn.LeakyReLU(0.2)]
            parts += [BatchNorm(before)] if norm and number else []
            last = number + 2 == len(widths)
            self.steps.append(nn.Sequential(*parts, nn.ConvTranspose2d(before, after, 4, 2, 1, bias=last or not norm)))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        x = self.linear(z).view(-1, *self.start)
        for step, (height, width) in zip(self.steps, self.sizes[1:], strict=True):
            x = step(x)[:, :, :height, :width]
        return x  # type: ignore[no-any-return]
