"""A discriminator of samples together with their latent codes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import NetworkPair
from untwine.networks.mlp import layers

FEATURES = 128


class Discriminator(nn.Module):
    """One logit for a pair (x, z) of a sample and its latent blocks.

    The sample goes through a trunk, each block through a linear layer; after LeakyReLU their features are concatenated and go
    through two more linear layers.

    Parameters
    ----------
    pair, width
        The networks that the trunk is taken from, and their width.
    shape
        The shape of a sample.
    codes
        The width of each latent block.
    """

    def __init__(self, pair: NetworkPair, shape: tuple[int, ...], width: int, codes: Sequence[int]) -> None:
        super().__init__()
        self.trunk = (pair.discriminator_trunk or pair.encoder)(shape, FEATURES, width)
        self.codes = nn.ModuleList(nn.Linear(block, FEATURES) for block in codes)
        self.joint = layers(FEATURES * (1 + len(codes)), FEATURES, 1)

    def forward(self, x: Tensor, *codes: Tensor, mask: Tensor) -> Tensor:
        """Return logits (n,) of x (n, *shape) and the codes (n, width) of each block.

        `mask` (n, 1 + blocks) is 0 where the features of x, or of a block, are dropped out.
        """
        features = [self.trunk(x), *(layer(code) for layer, code in zip(self.codes, codes, strict=True))]
        features = [functional.leaky_relu(one, 0.2) * m for one, m in zip(features, torch.split(mask, 1, 1), strict=True)]
        return self.joint(torch.cat(features, 1)).squeeze(1)  # type: ignore[no-any-return]
