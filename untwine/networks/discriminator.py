"""A discriminator of samples together with their latent codes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import NetworkPair
from untwine.networks.conditional import Conditional, with_channels
from untwine.networks.mlp import layers

FEATURES = 128


class Discriminator(Conditional):
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
    n_covariates
        How many columns of covariates go through the trunk with the sample.
    counts
        Whether samples are counts, of which the trunk sees log(1 + x).
    """

    def __init__(
        self,
        pair: NetworkPair,
        shape: tuple[int, ...],
        width: int,
        codes: Sequence[int],
        n_covariates: int = 0,
        counts: bool = False,
    ) -> None:
        super().__init__()
        self.n_covariates, self.counts = n_covariates, counts
        self.trunk = (pair.discriminator_trunk or pair.encoder)(with_channels(shape, n_covariates), FEATURES, width)
        self.codes = nn.ModuleList(nn.Linear(block, FEATURES) for block in codes)
        self.joint = layers(FEATURES * (1 + len(codes)), FEATURES, 1)

    def mask_width(self, drop: str) -> int:
        """Return how many entries the mask of a sample has, for what is dropped."""
        inputs = 1 + len(self.codes)
        return {"blocks": inputs, "units": inputs * FEATURES, "last": FEATURES}[drop]

    def forward(self, x: Tensor, *codes: Tensor, mask: Tensor, drop: str = "blocks") -> Tensor:
        """Return logits (n,) of x (n, *shape) and the codes (n, width) of each block.

        `mask` (n, `mask_width(drop)`) is 0 where something is dropped out: for `blocks` all features of x, or of a latent
        block; for `units` single features of the same; for `last` single inputs of the last linear layer.
        """
        x = self.with_covariates(torch.log1p(x) if self.counts else x)
        features = [self.trunk(x), *(layer(code) for layer, code in zip(self.codes, codes, strict=True))]
        features = [functional.leaky_relu(one, 0.2) for one in features]
        if drop == "last":
            return self.joint[-1](self.joint[:-1](torch.cat(features, 1)) * mask).squeeze(1)  # type: ignore[no-any-return]
        masks = torch.split(mask, 1 if drop == "blocks" else FEATURES, 1)
        return self.joint(torch.cat([one * m for one, m in zip(features, masks, strict=True)], 1)).squeeze(1)  # type: ignore[no-any-return]
