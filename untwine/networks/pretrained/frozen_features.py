"""Features of images by a frozen network, as the vectors that a method is fitted on.

The network is a known one by its name, whose weights are in `weights/` of the data folder, a file with its weights, or your own
module. A name or a path may end in `:LAYER`, the name of one of the network's layers, such as `squeezenet:features.7`: features
are then the means over the pixels of what that layer returns.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.networks.pretrained.feature_extractor import BATCH, KNOWN, random_network
from untwine.networks.pretrained.images import image_tensor
from untwine.networks.pretrained.weights import SUFFIXES, load_weights, require_weights
from untwine.samples import Samples

OWN = "own"  # the name of a module that is given in Python
RANDOM_SIDE = 64


@dataclass(frozen=True, eq=False)
class FrozenFeatures:
    """A frozen network that makes vectors of images.

    Parameters
    ----------
    name
        As it was asked for; `own` for a module.
    sha256
        The fingerprint of its weights: SHA-256 of its tensors, by name.
    network
        From images (n, C, H, W) in [0, 1] to features (n, d).
    side
        The side of the square, RGB images that the network takes; None takes them as they are.
    """

    name: str
    sha256: str
    network: Callable[[Tensor], Tensor]
    side: int | None

    def of(self, images: ArrayLike) -> Array:
        """Return the features (n, d) of images (n, C, H, W), uint8 or in [0, 1]."""
        x = np.asarray(images)
        if x.ndim != 4 or (self.side is not None and x.shape[1] not in (1, 3)):
            raise ValueError(
                f"the features {self.name!r} need images (n, C, H, W){' with 1 or 3 channels' if self.side else ''}; got shape "
                f"{x.shape}; leave features out for samples that are vectors."
            )
        with torch.no_grad():
            batches = [self._batch(x[start : start + BATCH]) for start in range(0, len(x), BATCH)]
        return np.concatenate(batches)

    def _batch(self, images: Array) -> Array:
        x = image_tensor(images)
        if self.side is not None:
            size = (self.side, self.side)
            x = functional.interpolate(x, size, mode="bilinear", align_corners=False, antialias=True).clamp(0, 1)
            x = x.expand(-1, 3, -1, -1)
        features = _pool(self.network(x))
        if features.ndim != 2 or len(features) != len(x) or not torch.isfinite(features).all():
            raise ValueError(
                f"the features {self.name!r} must be finite and of shape (n, d) or (n, C, H, W); got shape "
                f"{tuple(features.shape)} for {len(x)} images; return one vector for each image."
            )
        return features.float().cpu().numpy()

    def apply(self, samples: Samples) -> Samples:
        """Return samples of images with their features in place of the images, which stay beside them."""
        return replace(
            samples,
            x=self.of(samples.x),
            images=samples.x,
            extractor=f"{self.name} {self.sha256}",
            masks=None,
            feature_names=(),
        )


def frozen_features(features: str | Path | nn.Module | FrozenFeatures) -> FrozenFeatures:
    """Return the frozen features that are asked for.

    Parameters
    ----------
    features
        `squeezenet`, `inception` or, with fixed random weights, `random`; a .safetensors or .npz file with the weights of one
        of them; each may end in `:LAYER`. Or your own module, from images (n, C, H, W) in [0, 1] to (n, d) or (n, C, H, W),
        which is put in evaluation mode.
    """
    if isinstance(features, FrozenFeatures):
        return features
    if isinstance(features, nn.Module):
        return FrozenFeatures(OWN, fingerprint(features), features.eval(), None)
    if not isinstance(features, str | Path):
        raise TypeError(
            f"features must be a name, a path or a torch.nn.Module; got {type(features).__name__}; pass one of them."
        )
    text = str(features)
    source, colon, layer = text.partition(":")
    network, side = _known(source)
    return FrozenFeatures(text, fingerprint(network), _at_layer(network, layer, text) if colon else network, side)


def fingerprint(network: nn.Module) -> str:
    """Return the SHA-256 of the weights of a network, by name; the same however the file of them is compressed."""
    digest = hashlib.sha256()
    for name, tensor in sorted(network.state_dict().items()):
        content = tensor.detach().cpu().float() if tensor.is_floating_point() else tensor.detach().cpu()
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(np.ascontiguousarray(content.numpy()).data)
    return digest.hexdigest()


def _known(source: str) -> tuple[nn.Module, int]:
    """Return a network by its name or from a file with its weights, and the side of its images."""
    if source == "random":
        return random_network(), RANDOM_SIDE
    for name, start, build, side in KNOWN:
        if source == name:
            return load_weights(build(), require_weights(name, start)), side
    path = Path(source).expanduser()
    names = [name for name, *_ in KNOWN]
    if path.suffix not in SUFFIXES or not path.is_file():
        raise ValueError(
            f"features must be {', '.join([*names, 'random'])}, or an existing .safetensors or .npz file with the weights of "
            f"{' or '.join(names)}; got {source!r}; choose one of them, or pass your own module in Python."
        )
    for _, _, build, side in KNOWN:
        try:
            return load_weights(build(), path), side
        except ValueError as error:
            reason = str(error)
    raise ValueError(f"{path} must hold the weights of {' or '.join(names)}; {reason}")


def _at_layer(network: nn.Module, layer: str, text: str) -> Callable[[Tensor], Tensor]:
    """Return the network up to a layer, pooled over pixels."""
    layers = dict(network.named_modules())
    if not layer or layer not in layers:
        known = ", ".join(name for name, _ in network.named_children())
        raise ValueError(f"features must name a layer of the network after the colon; got {text!r}; it has {known} and theirs.")
    kept: list[Tensor] = []
    layers[layer].register_forward_hook(lambda _module, _inputs, output: kept.append(output))

    def features(x: Tensor) -> Tensor:
        kept.clear()
        network(x)
        return kept.pop()

    return features


def _pool(outputs: Any) -> Tensor:
    features: Tensor = outputs[0] if isinstance(outputs, tuple) else outputs  # a classifier returns its probabilities too
    return features.flatten(2).mean(2) if features.ndim > 2 else features
