"""The standard networks of the disentanglement literature for 64 x 64 images, for sides from 8 to 128.

Strided 4 x 4 convolutions with 32, 32, 64 and 64 channels, a linear layer of 256 units, ReLU, and the mirrored decoder (Higgins
et al. 2017). Other sizes are halved until the longer side is at most 4: the first two convolutions have `width` channels, the
others twice as many; the linear layer has eight times `width` units.
"""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor, nn

from untwine.networks.conv import apply_cropped, halvings


def channels(width: int, steps: int) -> list[int]:
    """Return the channels after each halving.

    >>> channels(32, 4)
    [32, 32, 64, 64]
    """
    return [width if i < 2 else 2 * width for i in range(steps)]


class ShapesEncoder(nn.Module):
    """Strided 4 x 4 convolutions down to a side of at most 4, then two linear layers."""

    def __init__(self, shape: tuple[int, ...], out: int, width: int) -> None:
        super().__init__()
        sizes = halvings(*shape[1:])
        widths = [shape[0], *channels(width, len(sizes) - 1)]
        modules: list[nn.Module] = []
        for (h, w), (before, after) in zip(sizes[:-1], pairwise(widths), strict=True):
            # Odd sides are padded by one more line of zeros, so that halving rounds up.
            odd = [nn.ZeroPad2d((0, w % 2, 0, h % 2))] if h % 2 or w % 2 else []
            modules += [*odd, nn.Conv2d(before, after, 4, 2, 1), nn.ReLU()]
        self.convolutions = nn.Sequential(*modules)
        flat = widths[-1] * sizes[-1][0] * sizes[-1][1]
        self.linear = nn.Sequential(nn.Linear(flat, 8 * width), nn.ReLU(), nn.Linear(8 * width, out))

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, out)."""
        return self.linear(self.convolutions(x).flatten(1))  # type: ignore[no-any-return]


class ShapesDecoder(nn.Module):
    """The mirror of the encoder: two linear layers, then transposed convolutions, each cropped to its size."""

    def __init__(self, codes: int, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.sizes = halvings(*shape[1:])[::-1]
        widths = [*channels(width, len(self.sizes) - 1)[::-1], shape[0]]
        self.start = (widths[0], *self.sizes[0])
        flat = widths[0] * self.sizes[0][0] * self.sizes[0][1]
        self.linear = nn.Sequential(nn.Linear(codes, 8 * width), nn.ReLU(), nn.Linear(8 * width, flat))
        self.steps = nn.ModuleList(
            nn.Sequential(nn.ReLU(), nn.ConvTranspose2d(before, after, 4, 2, 1)) for before, after in pairwise(widths)
        )

    def forward(self, z: Tensor) -> Tensor:
        """Map (n, codes) to (n, C, H, W)."""
        return apply_cropped(self.steps, self.linear(z).view(-1, *self.start), self.sizes[1:])
