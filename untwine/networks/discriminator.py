"""A discriminator of rows together with their codes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import NetworkPair
from untwine.networks.mlp import layers

FEATURES = 128


class Discriminator(nn.Module):
    """One logit for a row and its blocks of codes.

    The row goes through the trunk of the networks, each block of codes through a linear layer; what comes out, LeakyReLU
    applied, goes side by side through two more layers.

    Parameters
    ----------
    pair, width
        The networks that the row's trunk comes from, and their width.
    shape
        The shape of a row.
    codes
        The width of each block of codes.
    """

    def __init__(self, pair: NetworkPair, shape: tuple[int, ...], width: int, codes: Sequence[int]) -> None:
        super().__init__()
        self.trunk = (pair.discriminator_trunk or pair.encoder)(shape, FEATURES, width)
        self.codes = nn.ModuleList(nn.Linear(block, FEATURES) for block in codes)
        self.joint = layers(FEATURES * (1 + len(codes)), FEATURES, 1)

    def forward(self, x: Tensor, *codes: Tensor, kept: Tensor) -> Tensor:
        """Return (n,) logits; `kept` (n, 1 + blocks) has 0 where a row's features, or those of its codes, are dropped."""
        features = [self.trunk(x), *(layer(code) for layer, code in zip(self.codes, codes, strict=True))]
        parts = [functional.leaky_relu(part, 0.2) * keep for part, keep in zip(features, torch.split(kept, 1, 1), strict=True)]
        return self.joint(torch.cat(parts, 1)).squeeze(1)  # type: ignore[no-any-return]
