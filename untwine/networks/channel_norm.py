"""The 6- and 8-layer networks of paper 000: convolutions with channel normalisation, then one linear layer, and the mirror.

The paper (appendix A.3) says: 5 convolutions and 1 linear layer, LeakyReLU, channel normalisation after each convolution; the
decoder has 1 linear layer and 5 transposed convolutions. Kernels, strides and channels it leaves open, and of the 8 layers it
says only how many they are. Here an image is halved by 4 x 4 kernels until its longer side is at most 4, the channels doubled
each time (at most eightfold); the convolutions that are left over have 3 x 3 kernels and keep the size, each after one of
the halvings, beginning with the last.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.conv import channels, halvings


class ChannelNorm(nn.Module):
    """Normalise the channels of each pixel to mean 0 and deviation 1, then scale and shift each channel.

    No row knows of another, so it is the same in training and in evaluation, and for any number of processes.
    """

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        if channels < 2:
            raise ValueError(f"channel normalisation expected at least 2 channels; got {channels}; raise width.")
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (n, C, H, W)."""
        last = functional.layer_norm(x.movedim(1, -1), (x.shape[1],), self.weight, self.bias, self.eps)
        return last.movedim(-1, 1)


def plan(convolutions: int, height: int, width: int) -> list[tuple[int, int]]:
    """Return the size of the image before the first convolution and after each: those that keep it follow the last halvings.

    >>> plan(5, 28, 28)
    [(28, 28), (14, 14), (7, 7), (7, 7), (4, 4), (4, 4)]
    """
    first, *halved = halvings(height, width)
    if convolutions < len(halved):
        raise ValueError(
            f"{convolutions} convolutions must be an image that as many halvings bring to a side of at most 4; got "
            f"{height} x {width}; use smaller images, or networks='conv'."
        )
    extra = convolutions - len(halved)
    # One more for each halving from the last to the first, and round again.
    times = [1 + extra // len(halved) + (number < extra % len(halved)) for number in range(len(halved))][::-1]
    return [first, *(size for size, many in zip(halved, times, strict=True) for _ in range(many))]


def widths(sizes: list[tuple[int, int]], width: int) -> list[int]:
    """Return the channels after each convolution of a plan: doubled by each halving, at most eightfold."""
    steps = len(dict.fromkeys(sizes)) - 1
    by_size = dict(zip(dict.fromkeys(sizes[1:]), channels(width, steps), strict=True))
    return [by_size[size] for size in sizes[1:]]


class LayeredEncoder(nn.Module):
    """So many layers: convolutions, each with channel normalisation and LeakyReLU, and one linear layer."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int, layers: int) -> None:
        super().__init__()
        sizes = plan(layers - 1, *shape[1:])
        after = widths(sizes, width)
        parts: list[nn.Module] = []
        for ((h, w), now), (c_in, c_out) in zip(pairwise(sizes), pairwise([shape[0], *after]), strict=True):
            # An odd side gets one more row or column of zeros, so that every side is halved and rounded up.
            halving = [nn.ZeroPad2d((1, 1 + w % 2, 1, 1 + h % 2)), nn.Conv2d(c_in, c_out, 4, 2)]
            keeping = [nn.Conv2d(c_in, c_out, 3, 1, 1)]
            parts += [*(keeping if now == (h, w) else halving), ChannelNorm(c_out), nn.LeakyReLU(0.2)]
        self.convolutions = nn.Sequential(*parts)
        self.linear = nn.Linear(after[-1] * sizes[-1][0] * sizes[-1][1], out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class LayeredDecoder(nn.Module):
    """The encoder's mirror: one linear layer, then transposed convolutions, cut to each size on the way up."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int, layers: int) -> None:
        super().__init__()
        sizes = plan(layers - 1, *shape[1:])
        self.sizes, after = sizes[::-1], [*widths(sizes, width)[::-1], shape[0]]
        self.start = (after[0], *self.sizes[0])
        self.linear = nn.Linear(codes, after[0] * self.sizes[0][0] * self.sizes[0][1])
        self.steps = nn.ModuleList()
        for number, ((size, now), (c_in, c_out)) in enumerate(zip(pairwise(self.sizes), pairwise(after), strict=True)):
            parts: list[nn.Module] = [ChannelNorm(c_in)] if number else []
            kernel, stride = (3, 1) if size == now else (4, 2)
            self.steps.append(nn.Sequential(*parts, nn.LeakyReLU(0.2), nn.ConvTranspose2d(c_in, c_out, kernel, stride, 1)))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        x = self.linear(z).view(-1, *self.start)
        for step, (height, width) in zip(self.steps, self.sizes[1:], strict=True):
            x = step(x)[:, :, :height, :width]
        return x  # type: ignore[no-any-return]
