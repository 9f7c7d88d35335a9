"""The 6- and 8-layer networks of *Towards Principled Objectives*: convolutions with channel normalisation, a mirrored decoder.

The paper (appendix A.3) specifies 5 convolutions and 1 linear layer, LeakyReLU, and channel normalisation after each
convolution; the decoder has 1 linear layer and 5 transposed convolutions. It leaves kernels, strides and channels open, and
says no more than the number of layers about the 8-layer networks. Here 4 x 4 convolutions of stride 2 halve an image until its
longer side is at most 4 and double the channels each time (up to eight times `width`). The remaining convolutions are 3 x 3 of
stride 1; they follow the strided ones, beginning with the last.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.conv import apply_cropped, channels, halving_pad, halvings


class ChannelNorm(nn.Module):
    """Layer norm over the channels of each pixel: mean 0 and standard deviation 1, then a scale and shift per channel.

    It uses no batch statistics, so it is the same in training and evaluation mode, and for any number of processes.
    """

    def __init__(self, channels: int, eps: float = 1e-5) -> None:
        super().__init__()
        if channels < 2:
            raise ValueError(f"channel normalisation needs at least 2 channels; got {channels}; raise width.")
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (n, C, H, W)."""
        last = functional.layer_norm(x.movedim(1, -1), (x.shape[1],), self.weight, self.bias, self.eps)
        return last.movedim(-1, 1)


def plan(convolutions: int, height: int, width: int) -> list[tuple[int, int]]:
    """Return the size (H, W) of the image before the first convolution and after each of them.

    >>> plan(5, 28, 28)
    [(28, 28), (14, 14), (7, 7), (7, 7), (4, 4), (4, 4)]
    """
    first, *halved = halvings(height, width)
    if convolutions < len(halved):
        raise ValueError(
            f"{convolutions} convolutions need images with sides of at most {4 * 2**convolutions}; got {height} x {width}; "
            "use smaller images, or networks='conv'."
        )
    extra = convolutions - len(halved)
    # Convolutions of stride 1 are dealt out to the strided ones from the last to the first, and round again.
    repeats = [1 + extra // len(halved) + (number < extra % len(halved)) for number in range(len(halved))][::-1]
    return [first, *(size for size, n in zip(halved, repeats, strict=True) for _ in range(n))]


def widths(sizes: list[tuple[int, int]], width: int) -> list[int]:
    """Return the channels after each convolution of a plan: doubled by each halving, up to eight times `width`."""
    steps = len(dict.fromkeys(sizes)) - 1
    by_size = dict(zip(dict.fromkeys(sizes[1:]), channels(width, steps), strict=True))
    return [by_size[size] for size in sizes[1:]]


class LayeredEncoder(nn.Module):
    """`layers - 1` convolutions, each with channel normalisation and LeakyReLU, and one linear layer."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int, layers: int) -> None:
        super().__init__()
        sizes = plan(layers - 1, *shape[1:])
        after = widths(sizes, width)
        modules: list[nn.Module] = []
        for (size, new_size), (c_in, c_out) in zip(pairwise(sizes), pairwise([shape[0], *after]), strict=True):
            # Both are built, though only one is used: their initial weights are drawn in this order.
            halving = [halving_pad(size), nn.Conv2d(c_in, c_out, 4, 2)]
            same_size = [nn.Conv2d(c_in, c_out, 3, 1, 1)]
            modules += [*(same_size if new_size == size else halving), ChannelNorm(c_out), nn.LeakyReLU(0.2)]
        self.convolutions = nn.Sequential(*modules)
        self.linear = nn.Linear(after[-1] * sizes[-1][0] * sizes[-1][1], out)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class LayeredDecoder(nn.Module):
    """The mirror of the encoder: one linear layer, then transposed convolutions, each cropped to its size."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int, layers: int) -> None:
        super().__init__()
        sizes = plan(layers - 1, *shape[1:])
        self.sizes, after = sizes[::-1], [*widths(sizes, width)[::-1], shape[0]]
        self.start = (after[0], *self.sizes[0])
        self.linear = nn.Linear(codes, after[0] * self.sizes[0][0] * self.sizes[0][1])
        self.steps = nn.ModuleList()
        for number, ((size, new_size), (c_in, c_out)) in enumerate(zip(pairwise(self.sizes), pairwise(after), strict=True)):
            modules: list[nn.Module] = [ChannelNorm(c_in)] if number else []
            kernel, stride = (3, 1) if size == new_size else (4, 2)
            self.steps.append(nn.Sequential(*modules, nn.LeakyReLU(0.2), nn.ConvTranspose2d(c_in, c_out, kernel, stride, 1)))

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        return apply_cropped(self.steps, self.linear(z).view(-1, *self.start), self.sizes[1:])
