"""Networks of a GAN: a generator, and a critic with one trunk and several heads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import NetworkPair, select_networks
from untwine.networks.conditional import Conditional, with_channels
from untwine.networks.dcgan import Head
from untwine.networks.noise import Draw, add_noise

FEATURES = 128


def select_gan_networks(name: str, shape: tuple[int, ...]) -> NetworkPair:
    """Return the networks of that name; `standard` (or `auto`) is `dcgan` for images and `mlp` for vectors."""
    return select_networks("dcgan" if name in ("auto", "standard") and len(shape) == 3 else name, shape)


class Generator(Conditional):
    """A decoder with a tanh for images, which are in [-1, 1]; none for vectors. Covariates go along with the codes."""

    def __init__(self, pair: NetworkPair, codes: int, shape: tuple[int, ...], width: int, n_covariates: int = 0) -> None:
        super().__init__()
        self.n_covariates = n_covariates
        self.decoder, self.images = pair.decoder(codes + n_covariates, shape, width), len(shape) == 3

    def forward(self, *codes: Tensor) -> Tensor:
        """Map codes, one (n, width) for each block, to samples (n, *shape)."""
        joined = torch.cat(codes, 1) if len(codes) > 1 else codes[0]
        out: Tensor = self.decoder(self.with_covariates(joined)).to(joined.dtype)
        return torch.tanh(out / 2) if self.images else out


class Critic(Conditional):
    """A trunk with heads for logits and for latent codes, and Gaussian noise before every layer and head.

    Networks without a noisy trunk use their encoder, with noise on the sample and before the heads.

    Parameters
    ----------
    pair, width
        The networks that the trunk is taken from, and their width.
    shape
        The shape of a sample; images are in [-1, 1].
    logits, codes
        The names of the heads with one logit, and the widths of the heads of codes by name.
    noise_std
        The standard deviation of the noise.
    n_covariates
        How many columns of covariates it sees with the sample, as further features or channels.
    """

    def __init__(
        self,
        pair: NetworkPair,
        shape: tuple[int, ...],
        width: int,
        *,
        logits: Sequence[str] = (),
        codes: Mapping[str, int],
        noise_std: float,
        n_covariates: int = 0,
    ) -> None:
        super().__init__()
        self.n_covariates, shape = n_covariates, with_channels(shape, n_covariates)
        self.trunk: Any = pair.noisy_trunk(shape, width) if pair.noisy_trunk else _Plain(pair, shape, width)
        self.trunk.noise_std, self.logits = noise_std, tuple(logits)
        heads = {name: self.trunk.head(1, codes=False) for name in logits}
        self.heads = nn.ModuleDict(heads | {name: self.trunk.head(out, codes=True) for name, out in codes.items()})

    def forward(self, x: Tensor, draw: Draw | None = None, without: Collection[str] = ()) -> dict[str, Tensor]:
        """Return the output of each head but those in `without` for x (n, *shape): logits (n,), codes (n, width)."""
        features = self.trunk(self.with_covariates(x), draw)
        outputs = {name: head(features, draw).to(x.dtype) for name, head in self.heads.items() if name not in without}
        return {name: out.squeeze(1) if name in self.logits else out for name, out in outputs.items()}


class _Plain(nn.Module):
    """Any encoder as the trunk, with noise on its input."""

    noise_std: float = 0.0

    def __init__(self, pair: NetworkPair, shape: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.encoder = (pair.discriminator_trunk or pair.encoder)(shape, FEATURES, width)

    def forward(self, x: Tensor, draw: Draw | None = None) -> Tensor:
        return functional.leaky_relu(self.encoder(add_noise(x, draw, self.noise_std)), 0.2)

    def head(self, out: int, codes: bool) -> nn.Module:
        return Head([nn.Linear(FEATURES, out)], self.noise_std)
