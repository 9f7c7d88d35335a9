"""LPIPS (Zhang et al. 2018): the perceptual distance of images, arrays in and array out."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.networks.pretrained import weights
from untwine.networks.pretrained.images import image_tensor

CHUNK = 50  # images in one forward pass


def lpips(a: ArrayLike, b: ArrayLike, network: str = "squeezenet", **files: Any) -> Array:
    """Return the LPIPS distance (n,) of pairs of images (n, C, H, W), uint8 or in [0, 1]: from 0, for equal images.

    Parameters
    ----------
    a, b
        Images (n, C, H, W) of equal shapes, with 1 or 3 channels.
    network
        `squeezenet`, `vgg16` or `alexnet`, whose features are compared. Values of different networks are not comparable.
    files
        `weights` and `heads`, their files; by default those in `weights/` of the data folder.
    """
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.ndim != 4 or x.shape[1] not in (1, 3) or not len(x):
        raise ValueError(
            f"lpips needs two arrays of images (n, C, H, W) of equal shapes, with 1 or 3 channels; got {x.shape} and {y.shape}."
        )
    distance = weights.load_lpips(network, **files).float()
    with torch.no_grad():
        chunks = [distance(*(image_tensor(z[i : i + CHUNK]) for z in (x, y))).numpy() for i in range(0, len(x), CHUNK)]
    return np.concatenate(chunks)
