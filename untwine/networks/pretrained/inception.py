"""Inception v3 as used for the FID (Heusel et al. 2017), with the parameter names of its usual weights in torch.

The layers are those of Szegedy et al. (2015). It differs from torchvision's in its pooling (averages exclude the padding, and
the last block has max pooling) and in its 1008 classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

CLASSES, FEATURES = 1008, 2048
Size = int | tuple[int, int]
# A convolution: its name, output channels, kernel size and stride.
Layer = tuple[str, int, Size, int]


class Convolution(nn.Module):
    """A convolution without bias, batch norm and ReLU."""

    def __init__(self, before: int, after: int, kernel: Size, stride: int = 1, pad: bool = True) -> None:
        super().__init__()
        sides = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        self.conv = nn.Conv2d(before, after, sides, stride, (sides[0] // 2, sides[1] // 2) if pad else 0, bias=False)
        self.bn = nn.BatchNorm2d(after, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to (n, C', H', W')."""
        return functional.relu(self.bn(self.conv(x)))


class Branches(nn.Module):
    """Parallel branches of convolutions, concatenated.

    Parameters
    ----------
    before
        The input channels.
    chains
        The convolutions of each branch. The branch `pool` is pooled first; it may have no convolution.
    stride
        2 halves the sides: pooling is 3 x 3 max pooling, and the last convolution of each branch has no padding.
    max_pool
        Pool by the maximum, not by the mean.
    forked
        Whether the last two convolutions of a branch are parallel.
    """

    def __init__(
        self,
        before: int,
        chains: Mapping[str, Sequence[Layer]],
        *,
        stride: int = 1,
        max_pool: bool = False,
        forked: bool = False,
    ) -> None:
        super().__init__()
        self.chains = {branch: [name for name, *_ in layers] for branch, layers in chains.items()}
        self.stride, self.max_pool, self.forked = stride, max_pool, forked
        for chain in chains.values():
            width = before
            for number, (name, after, kernel, step) in enumerate(chain):
                self.add_module(name, Convolution(width, after, kernel, step, pad=step == 1))
                width = width if forked and number == len(chain) - 2 and len(chain) > 1 else after

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, C, H, W) to the concatenated channels of all branches."""
        return torch.cat([self._chain(x, branch, names) for branch, names in self.chains.items()], 1)

    def _chain(self, x: Tensor, branch: str, names: Sequence[str]) -> Tensor:
        if branch == "pool":
            x = self._pool(x)
        fork = names[-2:] if self.forked and len(names) > 1 else ()
        for name in names[: len(names) - len(fork)]:
            x = self.get_submodule(name)(x)
        return torch.cat([self.get_submodule(name)(x) for name in fork], 1) if fork else x

    def _pool(self, x: Tensor) -> Tensor:
        if self.stride == 2:
            return functional.max_pool2d(x, 3, 2)
        if self.max_pool:
            return functional.max_pool2d(x, 3, 1, 1)
        return functional.avg_pool2d(x, 3, 1, 1, count_include_pad=False)


def block_a(before: int, pooled: int) -> Branches:
    """Return a block at 35 x 35."""
    five: list[Layer] = [("branch5x5_1", 48, 1, 1), ("branch5x5_2", 64, 5, 1)]
    three: list[Layer] = [("branch3x3dbl_1", 64, 1, 1), ("branch3x3dbl_2", 96, 3, 1), ("branch3x3dbl_3", 96, 3, 1)]
    return Branches(
        before, {"one": [("branch1x1", 64, 1, 1)], "five": five, "three": three, "pool": [("branch_pool", pooled, 1, 1)]}
    )


def block_b(before: int) -> Branches:
    """Return the block from 35 x 35 to 17 x 17."""
    three: list[Layer] = [("branch3x3dbl_1", 64, 1, 1), ("branch3x3dbl_2", 96, 3, 1), ("branch3x3dbl_3", 96, 3, 2)]
    return Branches(before, {"one": [("branch3x3", 384, 3, 2)], "three": three, "pool": []}, stride=2)


def block_c(before: int, hidden: int) -> Branches:
    """Return a block at 17 x 17, with kernels of 7 x 1 and 1 x 7."""
    seven: list[Layer] = [("branch7x7_1", hidden, 1, 1), ("branch7x7_2", hidden, (1, 7), 1), ("branch7x7_3", 192, (7, 1), 1)]
    sizes: list[Size] = [1, (7, 1), (1, 7), (7, 1), (1, 7)]
    double: list[Layer] = [(f"branch7x7dbl_{i}", 192 if i == 5 else hidden, size, 1) for i, size in enumerate(sizes, 1)]
    return Branches(
        before, {"one": [("branch1x1", 192, 1, 1)], "seven": seven, "double": double, "pool": [("branch_pool", 192, 1, 1)]}
    )


def block_d(before: int) -> Branches:
    """Return the block from 17 x 17 to 8 x 8."""
    three: list[Layer] = [("branch3x3_1", 192, 1, 1), ("branch3x3_2", 320, 3, 2)]
    seven: list[Layer] = [("branch7x7x3_1", 192, 1, 1), ("branch7x7x3_2", 192, (1, 7), 1)]
    seven += [("branch7x7x3_3", 192, (7, 1), 1), ("branch7x7x3_4", 192, 3, 2)]
    return Branches(before, {"three": three, "seven": seven, "pool": []}, stride=2)


def block_e(before: int, max_pool: bool) -> Branches:
    """Return a block at 8 x 8, whose branches fork."""
    three: list[Layer] = [("branch3x3_1", 384, 1, 1), ("branch3x3_2a", 384, (1, 3), 1), ("branch3x3_2b", 384, (3, 1), 1)]
    double: list[Layer] = [("branch3x3dbl_1", 448, 1, 1), ("branch3x3dbl_2", 384, 3, 1)]
    double += [("branch3x3dbl_3a", 384, (1, 3), 1), ("branch3x3dbl_3b", 384, (3, 1), 1)]
    chains: dict[str, list[Layer]] = {"one": [("branch1x1", 320, 1, 1)], "three": three, "double": double}
    chains["pool"] = [("branch_pool", 192, 1, 1)]
    return Branches(before, chains, max_pool=max_pool, forked=True)


class Inception(nn.Module):
    """The whole network, of RGB images in [0, 1] with 299 x 299 pixels."""

    def __init__(self) -> None:
        super().__init__()
        pool = partial(nn.MaxPool2d, 3, 2)
        self.layers: dict[str, nn.Module] = {
            "Conv2d_1a_3x3": Convolution(3, 32, 3, 2, pad=False),
            "Conv2d_2a_3x3": Convolution(32, 32, 3, pad=False),
            "Conv2d_2b_3x3": Convolution(32, 64, 3),
            "maxpool1": pool(),
            "Conv2d_3b_1x1": Convolution(64, 80, 1),
            "Conv2d_4a_3x3": Convolution(80, 192, 3, pad=False),
            "maxpool2": pool(),
            "Mixed_5b": block_a(192, 32),
            "Mixed_5c": block_a(256, 64),
            "Mixed_5d": block_a(288, 64),
            "Mixed_6a": block_b(288),
            "Mixed_6b": block_c(768, 128),
            "Mixed_6c": block_c(768, 160),
            "Mixed_6d": block_c(768, 160),
            "Mixed_6e": block_c(768, 192),
            "Mixed_7a": block_d(768),
            "Mixed_7b": block_e(1280, max_pool=False),
            "Mixed_7c": block_e(2048, max_pool=True),
        }
        for name, layer in self.layers.items():
            self.add_module(name, layer)
        self.fc = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return features (n, 2048) and class probabilities (n, 1008) of images (n, 3, 299, 299)."""
        x = 2 * x - 1
        for layer in self.layers.values():
            x = layer(x)
        features = x.mean((2, 3))
        return features, torch.softmax(self.fc(features), 1)
