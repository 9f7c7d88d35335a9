"""The work that every side does: the same data, the same networks, the same batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from untwine.networks.conv import ConvDecoder, ConvEncoder
from untwine.networks.mlp import MLPDecoder, MLPEncoder
from untwine.networks.shapes import ShapesDecoder, ShapesEncoder

Shape = tuple[int, ...]
LATENT = 10
BATCH = 128


@dataclass(frozen=True)
class Work:
    """Epochs of a VAE over samples in memory.

    Parameters
    ----------
    x
        Bytes or numbers in [0, 1] of images, or vectors.
    nets
        Makes a new encoder and decoder for samples of a shape, the same for every side.
    epochs
        Passes over the samples.
    scale
        The fixed standard deviation of the Gaussian likelihood; 1 is pythae's.
    """

    x: NDArray[np.generic]
    nets: Callable[[Shape], tuple[nn.Module, nn.Module]]
    epochs: int
    scale: float = 0.16

    @property
    def images(self) -> int:
        """Samples of all epochs."""
        return len(self.x) * self.epochs

    @property
    def steps(self) -> int:
        """Steps taken in all epochs."""
        return math.ceil(len(self.x) / BATCH) * self.epochs

    def fresh(self) -> tuple[nn.Module, nn.Module]:
        """Return networks that were never trained, the same ones each time."""
        torch.manual_seed(0)
        return self.nets(tuple(self.x.shape[1:]))


def images(n: int, shape: Shape) -> NDArray[np.uint8]:
    """Return random bytes: the speed of dense networks does not depend on the content."""
    return np.random.default_rng(0).integers(0, 256, (n, *shape), dtype=np.uint8)


def scaled(x: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return images in [0, 1], as pythae wants them."""
    return x.astype(np.float32) / np.float32(255)


def binary(n: int, shape: Shape) -> NDArray[np.float32]:
    """Return images of 0 and 1."""
    return np.random.default_rng(0).integers(0, 2, (n, *shape)).astype(np.float32)


def vectors(n: int, columns: int) -> NDArray[np.float32]:
    """Return standard normal samples."""
    return np.random.default_rng(0).standard_normal((n, columns), dtype=np.float32)


def mlp(shape: Shape) -> tuple[nn.Module, nn.Module]:
    """Our fully connected networks at their usual width."""
    return MLPEncoder(shape, 2 * LATENT, 256), MLPDecoder(LATENT, shape, 256)


def conv(shape: Shape) -> tuple[nn.Module, nn.Module]:
    """Our convolutional networks at their usual width."""
    return ConvEncoder(shape, 2 * LATENT, 32), ConvDecoder(LATENT, shape, 32)


def shapes(shape: Shape) -> tuple[nn.Module, nn.Module]:
    """The field's usual networks for images of shapes."""
    return ShapesEncoder(shape, 2 * LATENT, 32), ShapesDecoder(LATENT, shape, 32)


def tiny(shape: Shape) -> tuple[nn.Module, nn.Module]:
    """Networks so small that what a step costs is the loop around them."""
    return MLPEncoder(shape, 2 * LATENT, 8), MLPDecoder(LATENT, shape, 8)


def pythae_mlp(shape: Shape) -> tuple[nn.Module, nn.Module]:
    """The networks that pythae takes when none are given: one hidden layer of 512 on each side."""
    size = math.prod(shape)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(size, 512), nn.ReLU(), nn.Linear(512, 2 * LATENT))
    decoder = nn.Sequential(nn.Linear(LATENT, 512), nn.ReLU(), nn.Linear(512, size), nn.Unflatten(1, shape))
    return encoder, decoder
