"""How far made rows are from the given ones, by name: `l1`, `l2`, or the features of a frozen network."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.nn import functional

from untwine._typing import Array
from untwine.networks.pretrained import weights
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS

LOSSES = ("l1", "l2", *FEATURE_NETWORKS)
AT_ONCE = 50


def check_loss(loss: str, shape: tuple[int, ...]) -> None:
    """Refuse a name that is none of a loss, and features of rows that are no images."""
    if loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {loss!r}.")
    if loss in FEATURE_NETWORKS and (len(shape) != 3 or shape[0] not in (1, 3)):
        raise ValueError(f"loss={loss!r} must be images, grey or RGB, but the rows have the shape {shape}; use loss='l1'.")


def open_loss(loss: str) -> None:
    """Read the weights of a loss that has some: they are asked for before training, not in its first step."""
    if loss in FEATURE_NETWORKS:
        weights.load_perceptual_loss(loss)


def mean(loss: str, made: Tensor, x: Tensor) -> Tensor:
    """Return how far rows are from x: a mean over elements and rows; of features, a sum of means (`networks.perceptual`)."""
    if loss == "l1":
        return functional.l1_loss(made, x)
    if loss == "l2":
        return functional.mse_loss(made, x)
    return each(loss, made, x).mean()


def each(loss: str, made: Tensor, x: Tensor) -> Tensor:
    """Return the same for every row, (n,)."""
    if loss in FEATURE_NETWORKS:
        return weights.load_perceptual_loss(loss).to(x.device, x.dtype)(made, x)  # type: ignore[no-any-return]
    apart = made - x
    return (apart.abs() if loss == "l1" else apart.square()).flatten(1).mean(1)


def lpips(a: ArrayLike, b: ArrayLike, network: str = "squeezenet", **files: Any) -> Array:
    """Return the LPIPS distance (n,) of images (n, C, H, W), uint8 or in [0, 1]; at least 0, which equal images have.

    Parameters
    ----------
    a, b
        Equally many images of one size, grey or RGB.
    network
        `squeezenet` or `vgg16`: whose features are compared. Values of different networks cannot be compared.
    files
        `weights` and `heads`, their files; without them those in `weights/` of the data folder.
    """
    x, y = np.asarray(a), np.asarray(b)
    if x.shape != y.shape or x.ndim != 4 or x.shape[1] not in (1, 3) or not len(x):
        raise ValueError(f"lpips expected equally many images (n, C, H, W) with 1 or 3 channels; got {x.shape} and {y.shape}.")
    judge = weights.load_lpips(network, **files).float()
    with torch.no_grad():
        parts = [judge(*(_units(z[i : i + AT_ONCE]) for z in (x, y))).numpy() for i in range(0, len(x), AT_ONCE)]
    return np.concatenate(parts)


def _units(x: Array) -> Tensor:
    rows = torch.as_tensor(np.ascontiguousarray(x))
    return rows.float() / 255 if rows.dtype == torch.uint8 else rows.float()
