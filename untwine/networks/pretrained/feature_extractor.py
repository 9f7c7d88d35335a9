"""Feature extractors for scores of realism: Inception where its weights are there, else another network, by name.

Weights are read from `weights/` in the data folder, as safetensors or as npz of plain arrays: `inception_v3*`, the network of
the FID with the names of its usual weights in torch (and 1008 classes), or `squeezenet1_1*`, with torchvision's names. Where
neither is there, features are those of convolutions with fixed random weights, which are good for rough comparisons only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.data.location import data_folder
from untwine.networks.pretrained.images import image_tensor
from untwine.networks.pretrained.inception import Inception
from untwine.networks.pretrained.squeezenet import SqueezeNet
from untwine.networks.pretrained.weights import find_weights, load_weights

BATCH = 50
# A network's name, how the file of its weights begins, its class, and the side of its input images.
KNOWN: tuple[tuple[str, str, Callable[[], nn.Module], int], ...] = (
    ("inception", "inception_v3", Inception, 299),
    ("squeezenet", "squeezenet1_1", SqueezeNet, 128),
)


class Features(NamedTuple):
    """Features (n, d) of images, and class probabilities (n, k) where the network is a classifier."""

    features: Array
    probabilities: Array | None


class FeatureExtractor(NamedTuple):
    """A network by its name; `extract` takes images (n, C, H, W), uint8 or in [0, 1]."""

    name: str
    extract: Callable[[ArrayLike], Features]


def feature_extractor(name: str | None = None, folder: str | Path | None = None) -> FeatureExtractor:
    """Return a known feature extractor.

    Parameters
    ----------
    name
        `inception`, `squeezenet` or `random`; the first of these whose weights are there, where not given.
    folder
        The folder that holds `weights/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    names = [known for known, *_ in KNOWN] + ["random"]
    if name is not None and name not in names:
        raise ValueError(f"the feature extractor must be one of {', '.join(names)}; got {name!r}.")
    place = data_folder(folder) / "weights"
    for known, start, build, side in KNOWN:
        path = find_weights(start, folder)
        if path is not None and name in (None, known):
            return FeatureExtractor(known, _extract_in_batches(load_weights(build(), path), side))
        if name == known:
            raise ValueError(
                f"the weights of {known} must be in {place / start}*.safetensors or .npz; got no such file; put one there."
            )
    return FeatureExtractor("random", _extract_in_batches(random_network(), 64))


def custom_extractor(name: str, network: Callable[[Tensor], Any], side: int) -> FeatureExtractor:
    """Return your own network as a feature extractor.

    Parameters
    ----------
    name
        A word other than the known names; its scores are called `frechet_<name>` and `class_score_<name>`.
    network
        From images (n, 3, side, side) in [0, 1] to features (n, d), or to features and class probabilities (n, k); a module is
        put in evaluation mode.
    side
        The side that images are resized to.
    """
    taken = [known for known, *_ in KNOWN] + ["random"]
    if not name.isidentifier() or name in taken:
        raise ValueError(f"the name of a custom extractor must be one word other than {', '.join(taken)}; got {name!r}.")
    if isinstance(network, nn.Module):
        network.eval()

    def features_and_probabilities(x: Tensor) -> tuple[Tensor, Tensor | None]:
        outputs = network(x)
        features, probabilities = outputs if isinstance(outputs, tuple) else (outputs, None)
        if features.ndim != 2 or len(features) != len(x):
            raise ValueError(
                f"the network {name!r} must return features (n, d); got shape {tuple(features.shape)} for {len(x)} images."
            )
        return features, probabilities

    return FeatureExtractor(name, _extract_in_batches(features_and_probabilities, side))


class _RandomNetwork(nn.Module):
    """Three untrained convolutions; mean and standard deviation of each channel of each layer are the features."""

    def __init__(self) -> None:
        super().__init__()
        sizes = ((3, 32), (32, 64), (64, 128))
        self.layers = nn.ModuleList(nn.Conv2d(before, after, 4, 2, 1) for before, after in sizes)

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        features, x = [], 2 * x - 1
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            x = x / x.square().mean((1, 2, 3), keepdim=True).sqrt().clamp(min=1e-6)
            features += [x.mean((2, 3)), x.std((2, 3))]
        return torch.cat(features, 1), None


def random_network() -> nn.Module:
    """Return convolutions with fixed random weights: the same at every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return _RandomNetwork().eval()


def _extract_in_batches(
    network: Callable[[Tensor], tuple[Tensor, Tensor | None]], side: int
) -> Callable[[ArrayLike], Features]:
    def extract(images: ArrayLike) -> Features:
        x = np.asarray(images)
        if x.ndim != 4 or x.shape[1] not in (1, 3):
            raise ValueError(f"x must be images (n, C, H, W) with 1 or 3 channels; got shape {x.shape}.")
        outputs = []
        with torch.no_grad():
            for start in range(0, len(x), BATCH):
                batch = image_tensor(x[start : start + BATCH])
                batch = functional.interpolate(batch, (side, side), mode="bilinear", align_corners=False, antialias=True)
                outputs.append(network(batch.clamp(0, 1).expand(-1, 3, -1, -1)))
        features = np.concatenate([one.numpy() for one, _ in outputs])
        probabilities = [one.numpy() for _, one in outputs if one is not None]
        return Features(features, np.concatenate(probabilities) if probabilities else None)

    return extract
