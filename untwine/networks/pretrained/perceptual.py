r"""Distances of images in the features of a frozen network: a perceptual loss, and LPIPS.

The loss (Hoshen and Malik 2019, as used in Gabbay and Hoshen 2020) is $|x - y| + \sum_l |f_l(x) - f_l(y)|$, each term
a mean over elements, with the features f_l of some layers. LPIPS (Zhang et al. 2018) is
$\sum_l \mathrm{mean}_{hw} \sum_c w_{lc} (\hat f_{lc}(x) - \hat f_{lc}(y))^2$,
with features normalised to unit length at each pixel and weights w fitted to human judgements.

Images are preprocessed as in the training of the network: RGB (a grey channel is repeated), standardised by its mean and
standard deviation. Images with a side below 32 pixels are up-sampled to it, because later layers would have no pixels left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks.pretrained.alexnet import AlexNet
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.networks.pretrained.vgg16 import VGG16

MIN_SIDE = 32
EPSILON = 1e-10  # added to the norm of features, as in the published code


class FeatureNetwork(NamedTuple):
    """A pretrained network, the prefixes of its weight files, and the layers whose features are used."""

    build: Callable[[], nn.Module]
    weights_prefix: str
    heads_prefix: str  # of the file with LPIPS's linear heads
    loss_layers: tuple[int, ...]  # none for a network of LPIPS alone
    lpips_layers: tuple[int, ...]
    lpips_channels: tuple[int, ...]


SQUEEZENET = (1, 4, 7, 9, 10, 11, 12)
ALEXNET = (1, 4, 7, 9, 11)  # every ReLU
FEATURE_NETWORKS = {
    # ReLU 1_2, 2_2, 3_2, 4_3 and the last pooling; ReLU 1_2, 2_2, 3_3, 4_3 and 5_3.
    "vgg16": FeatureNetwork(VGG16, "vgg16", "lpips_v0.1_vgg", (3, 8, 13, 22, 30), (3, 8, 15, 22, 29), (64, 128, 256, 512, 512)),
    "squeezenet": FeatureNetwork(
        SqueezeNet,
        "squeezenet1_1",
        "lpips_v0.1_squeeze",
        SQUEEZENET,
        SQUEEZENET,
        (64, 128, 256, 384, 384, 512, 512),
    ),
    "alexnet": FeatureNetwork(AlexNet, "alexnet", "lpips_v0.1_alex", (), ALEXNET, (64, 192, 384, 256, 256)),
}
LOSS_NETWORKS = tuple(name for name, network in FEATURE_NETWORKS.items() if network.loss_layers)


def layer_features(network: Any, x: Tensor, layers: Sequence[int]) -> Iterator[Tensor]:
    """Yield the features (n, C', H', W') of images (n, 1 or 3, H, W) in [0, 1] after each of these layers."""
    if (shorter := min(x.shape[2:])) < MIN_SIDE:
        size = [round(side * MIN_SIDE / shorter) for side in x.shape[2:]]
        x = functional.interpolate(x, size, mode="bilinear", align_corners=False)
    x = (x.expand(-1, 3, -1, -1) - network.mean) / network.std
    x = x.contiguous(memory_format=torch.channels_last)  # pooling, a quarter of the time, is far faster so
    for number, layer in enumerate(islice(network.features, max(layers) + 1)):
        x = layer(x)
        if number in layers:
            yield x


class PerceptualLoss(nn.Module):
    """The perceptual loss of a frozen network."""

    def __init__(self, network: nn.Module, layers: Sequence[int]) -> None:
        super().__init__()
        self.network, self.layers = network.eval().requires_grad_(False), tuple(layers)

    def forward(self, generated: Tensor, x: Tensor) -> Tensor:
        """Return the loss (n,) of generated images given x, both (n, C, H, W) in [0, 1]; features of x have no gradient."""
        loss = _sample_means((generated - x).abs())
        with torch.no_grad():
            targets = list(layer_features(self.network, x, self.layers))
        for features, target in zip(layer_features(self.network, generated, self.layers), targets, strict=True):
            loss = loss + _sample_means((features - target).abs()).to(loss.dtype)
        return loss


class LPIPS(nn.Module):
    """LPIPS with the published linear heads; weights keep the published names, such as `lin0.model.1.weight`."""

    def __init__(self, network: nn.Module, layers: Sequence[int], channels: Sequence[int]) -> None:
        super().__init__()
        self.network, self.layers = network.eval().requires_grad_(False), tuple(layers)
        self.heads = Heads(channels)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the distance (n,) of images x and y, both (n, C, H, W) in [0, 1]; 0 where they are equal."""
        pairs = zip(layer_features(self.network, x, self.layers), layer_features(self.network, y, self.layers), strict=True)
        total = x.new_zeros(len(x))
        for number, (a, b) in enumerate(pairs):
            total = total + self.heads(number, (_unit_norm(a) - _unit_norm(b)).square())
        return total


class Heads(nn.Module):
    """The linear heads of LPIPS: a weight for each channel of each layer."""

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        for number, width in enumerate(channels):
            # The published heads have dropout before their convolution; in evaluation it is the identity.
            head = nn.Sequential(nn.Identity(), nn.Conv2d(width, 1, 1, bias=False))
            self.add_module(f"lin{number}", nn.ModuleDict({"model": head}))
        self.requires_grad_(False)

    def forward(self, number: int, difference: Tensor) -> Tensor:
        """Weight the squared differences (n, C, H, W) of a layer by channel and return their means over pixels, (n,)."""
        head: Any = self.get_submodule(f"lin{number}.model")
        return _sample_means(head(difference))


def _unit_norm(features: Tensor) -> Tensor:
    return features / (features.square().sum(1, keepdim=True).sqrt() + EPSILON)


def _sample_means(x: Tensor) -> Tensor:
    return x.flatten(1).mean(1)
