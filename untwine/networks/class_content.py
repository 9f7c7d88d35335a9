"""Generators and encoders for two latent blocks, class and content, by name.

`adain` has the networks of Gabbay and Hoshen 2020. `mlp` is the same idea for vectors: an MLP of the content code, whose last
hidden layer is scaled and shifted by the class code. Every other named network decodes both codes concatenated. `standard`
is `mlp`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import check_images, select_networks
from untwine.networks.adain import AdaINEncoder, AdaINGenerator, Modulation
from untwine.networks.conditional import Conditional, ConditionalEncoder, count_covariates, with_channels
from untwine.networks.custom import check_output_shape
from untwine.networks.mlp import layers

ADAIN_WIDTH = 8
MODULE_NAMES = ("generator", "class_encoder", "content_encoder")


class ModulatedMLP(nn.Module):
    """Two hidden layers from the content code to samples of any shape; the class code modulates the second."""

    def __init__(self, shape: tuple[int, ...], n_class: int, n_content: int, width: int) -> None:
        super().__init__()
        self.shape = shape
        self.hidden = nn.Sequential(*layers(n_content, width, width), nn.LeakyReLU(0.2))
        self.modulation = Modulation(n_class, width)
        self.last = nn.Linear(width, math.prod(shape))

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        x = self.hidden(c)
        x = self.modulation(functional.layer_norm(x, x.shape[1:]), e)
        return self.last(x).view(-1, *self.shape)  # type: ignore[no-any-return]


class ConcatDecoder(nn.Module):
    """A decoder of the concatenation of both codes."""

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        return self.decoder(torch.cat([e, c], 1))  # type: ignore[no-any-return]


class Generator(Conditional):
    """A network of both codes, with a sigmoid for images, which are in [0, 1]; covariates go along with the content code."""

    def __init__(self, inner: nn.Module, images: bool, n_covariates: int = 0) -> None:
        super().__init__()
        self.inner, self.images, self.n_covariates = inner, images, n_covariates

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        x = self.inner(e, self.with_covariates(c)).to(e.dtype)
        return torch.sigmoid(x) if self.images else x


class ClassContentFields(Protocol):
    """The fields of a method that determine its generator and encoders."""

    @property
    def networks(self) -> str:
        """A name from the table of networks."""

    @property
    def width(self) -> int | None:
        """The width of the networks; None for the usual one."""

    @property
    def n_class(self) -> int:
        """The width of the class code."""

    @property
    def n_content(self) -> int:
        """The width of the content code."""


def build_generator(fields: ClassContentFields, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> Generator:
    """Return the generator of a method, or the user's own: from both codes to (n, *shape), logits for images.

    Columns of covariates are further dimensions of the content code.
    """
    name, inner = _resolve_name(fields.networks, shape), own.get("generator")
    n_content = fields.n_content + count_covariates(fields)
    if inner is not None:
        codes = (torch.zeros(2, fields.n_class), torch.zeros(2, n_content))
        check_output_shape("generator", inner, codes, (2, *shape))
    elif name == "adain":
        inner = AdaINGenerator(shape, fields.n_class, n_content, fields.width or ADAIN_WIDTH)
    elif name == "mlp":
        width = fields.width or select_networks(name, shape).default_width
        inner = ModulatedMLP(shape, fields.n_class, n_content, width)
    else:
        pair = select_networks(name, shape)
        inner = ConcatDecoder(pair.decoder(fields.n_class + n_content, shape, fields.width or pair.default_width))
    return Generator(inner, images=len(shape) == 3, n_covariates=count_covariates(fields))


def build_encoder(
    block: str, out: int, fields: ClassContentFields, shape: tuple[int, ...], own: Mapping[str, nn.Module]
) -> nn.Module:
    """Return the encoder of a block ("class" or "content") to (n, out), or the user's own, such as `class_encoder`.

    Columns of covariates are further features or channels of samples.
    """
    more = count_covariates(fields)
    encoder = _build_encoder(block, out, fields, with_channels(shape, more), own)
    return ConditionalEncoder(encoder, more) if more else encoder


def _build_encoder(
    block: str, out: int, fields: ClassContentFields, shape: tuple[int, ...], own: Mapping[str, nn.Module]
) -> nn.Module:
    name, custom = _resolve_name(fields.networks, shape), own.get(f"{block}_encoder")
    if custom is not None:
        check_output_shape(f"{block}_encoder", custom, (torch.zeros(2, *shape),), (2, out))
        return custom
    if name == "adain":
        return AdaINEncoder(shape, out, fields.width or ADAIN_WIDTH)
    pair = select_networks(name, shape)
    return pair.encoder(shape, out, fields.width or pair.default_width)


def _resolve_name(networks: str, shape: tuple[int, ...]) -> str:
    if networks == "adain":
        check_images(networks, shape)
    return "mlp" if networks in ("auto", "standard") else networks
