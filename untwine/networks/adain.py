"""Networks of Gabbay and Hoshen 2020 (appendix A.1): content is decoded to feature maps, which the class modulates by AdaIN.

At the paper's size of 64 x 64 and `width` 64 they are its networks. Generator: 3 linear layers (512, 1024, 4096 units), four
blocks of up-sampling, 3 x 3 convolution (256 channels), LeakyReLU and AdaIN, then convolutions of 5 x 5 (64) and 7 x 7.
Encoders: a 7 x 7 convolution (64), four strided 4 x 4 ones (128, 256, 256, 256) and 3 linear layers (256, 256, codes). Images
of other sizes have as many blocks as it takes between their size and a side of at most 4.

Deviation from the paper: the scale is 1 plus a linear map of the class code, not the map alone, so that activations do not
vanish while codes are small.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
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
        scale, shift = self.modulation.linear(e).to(x.dtype).chunk(2, 1)
        if not x.is_contiguous(memory_format=torch.channels_last):
            x = x.contiguous()
        if torch.is_grad_enabled():
            return _Normalise.apply(x, 1 + scale, shift)  # type: ignore[no-any-return, no-untyped-call]
        return _modulate(functional.group_norm(x, x.shape[1], eps=EPSILON), 1 + scale, shift)


class _Normalise(torch.autograd.Function):
    r"""$y = a \hat x + b$ with $\hat x = (x - m) r$ for each channel of each image, m its mean and r one over its std.

    With g the gradient of y, and sums over the N pixels of a channel, that of b is $\sum g$, of a $\sum g \hat x$, and of x
    $a r (g - \frac1N \sum g - \frac{\hat x}N \sum g \hat x)$: a line in g and x, which takes one pass over them. Torch's own
    gradients of the same operations take several, each over memory, and eight times as long with the channels last.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        """Return y (n, C, H, W); scale and shift are (n, C)."""
        n, channels, *size = x.shape
        normal, mean, r = torch.native_group_norm(x, None, None, n, channels, math.prod(size), channels, EPSILON)
        ctx.save_for_backward(x, scale, mean.to(x.dtype), r.to(x.dtype))
        return _modulate(normal, scale, shift)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of x, scale and shift."""
        x, scale, mean, r = ctx.saved_tensors
        total = g.sum((2, 3))
        along = ((g * x).sum((2, 3)) - mean * total) * r
        pixels = math.prod(x.shape[2:])
        slope, of_x = scale * r, -scale * r.square() * along / pixels
        constant = -slope * total / pixels - of_x * mean
        grad = torch.addcmul(_per_channel(constant), x, _per_channel(of_x)).addcmul_(g, _per_channel(slope))
        return grad, along, total


def _modulate(normal: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    return torch.addcmul(_per_channel(shift), normal, _per_channel(scale))


def _per_channel(values: Tensor) -> Tensor:
    return values[:, :, None, None]


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
