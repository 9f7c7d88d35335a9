r"""How unlike two images look to a frozen network: a loss of its features, and LPIPS.

The loss (Hoshen and Malik 2019, as paper 004 takes it) is $|x - y| + \sum_l |f_l(x) - f_l(y)|$, each a mean over elements, with
the features f_l of a few layers. LPIPS (Zhang et al. 2018) is $\sum_l \mathrm{mean}_{hw} \sum_c w_{lc} (\hat f_{lc}(x) -
\hat f_{lc}(y))^2$, with features of length 1 at every place and weights w that were fitted to people's judgements.

Both see images as the network was trained: RGB (grey ones three times), with its mean and deviation. Images with a side
below 32 pixels are enlarged to it, for they would vanish on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.networks.pretrained.vgg16 import VGG16

LEAST = 32
EPSILON = 1e-10  # beside the length of features, as in the published code


class Known(NamedTuple):
    """A network: what makes it, how the names of its files begin, and which of its layers are looked at."""

    make: Callable[[], nn.Module]
    file: str
    heads: str  # how the file of LPIPS's weights begins
    loss: tuple[int, ...]  # layers of the loss
    lpips: tuple[int, ...]  # and of LPIPS
    channels: tuple[int, ...]  # of the latter


SQUEEZE = (1, 4, 7, 9, 10, 11, 12)
FEATURE_NETWORKS = {
    # ReLU 1_2, 2_2, 3_2, 4_3 and the last pooling; ReLU 1_2, 2_2, 3_3, 4_3 and 5_3.
    "vgg16": Known(VGG16, "vgg16", "lpips_v0.1_vgg", (3, 8, 13, 22, 30), (3, 8, 15, 22, 29), (64, 128, 256, 512, 512)),
    "squeezenet": Known(
        SqueezeNet, "squeezenet1_1", "lpips_v0.1_squeeze", SQUEEZE, SQUEEZE, (64, 128, 256, 384, 384, 512, 512)
    ),
}


def layer_features(network: Any, x: Tensor, layers: Sequence[int]) -> Iterator[Tensor]:
    """Yield the features (n, C, H, W) of images (n, 1 or 3, H, W) in [0, 1] after each of these layers."""
    if (short := min(x.shape[2:])) < LEAST:
        size = [round(side * LEAST / short) for side in x.shape[2:]]
        x = functional.interpolate(x, size, mode="bilinear", align_corners=False)
    x = (x.expand(-1, 3, -1, -1) - network.mean) / network.std
    x = x.contiguous(memory_format=torch.channels_last)  # poolings, a quarter of the time, are far quicker so
    for number, layer in enumerate(islice(network.features, max(layers) + 1)):
        x = layer(x)
        if number in layers:
            yield x


class PerceptualLoss(nn.Module):
    """The loss of features; the network is frozen."""

    def __init__(self, network: nn.Module, layers: Sequence[int]) -> None:
        super().__init__()
        self.network, self.layers = network.eval().requires_grad_(False), tuple(layers)

    def forward(self, made: Tensor, x: Tensor) -> Tensor:
        """Return (n,) how far made images are from the given ones, both (n, C, H, W) in [0, 1]; no gradient reaches x."""
        apart = _means((made - x).abs())
        with torch.no_grad():
            truths = list(layer_features(self.network, x, self.layers))
        for features, truth in zip(layer_features(self.network, made, self.layers), truths, strict=True):
            apart = apart + _means((features - truth).abs()).to(apart.dtype)
        return apart


class LPIPS(nn.Module):
    """The distance by published heads, whose weights have the published names: `lin0.model.1.weight` and so on."""

    def __init__(self, network: nn.Module, layers: Sequence[int], channels: Sequence[int]) -> None:
        super().__init__()
        self.network, self.layers = network.eval().requires_grad_(False), tuple(layers)
        self.heads = Heads(channels)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return (n,) how unlike the images x and y look, both (n, C, H, W) in [0, 1]; 0 where they are the same."""
        pairs = zip(layer_features(self.network, x, self.layers), layer_features(self.network, y, self.layers), strict=True)
        total = x.new_zeros(len(x))
        for number, (a, b) in enumerate(pairs):
            total = total + self.heads(number, (_of_length_1(a) - _of_length_1(b)).square())
        return total


class Heads(nn.Module):
    """A weight for each channel of each layer."""

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        for number, width in enumerate(channels):
            # The published heads have dropout, which does nothing here, before their convolution.
            head = nn.Sequential(nn.Identity(), nn.Conv2d(width, 1, 1, bias=False))
            self.add_module(f"lin{number}", nn.ModuleDict({"model": head}))
        self.requires_grad_(False)

    def forward(self, number: int, apart: Tensor) -> Tensor:
        """Weigh squared differences (n, C, H, W) of a layer and return their means over places, (n,)."""
        head: Any = self.get_submodule(f"lin{number}.model")
        return _means(head(apart))


def _of_length_1(features: Tensor) -> Tensor:
    return features / (features.square().sum(1, keepdim=True).sqrt() + EPSILON)


def _means(rows: Tensor) -> Tensor:
    return rows.flatten(1).mean(1)
