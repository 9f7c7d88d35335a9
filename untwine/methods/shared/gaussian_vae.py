"""The networks and the inference of a VAE with diagonal Gaussian posteriors; objectives are in the methods' own files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from untwine.method.fields import Count, Likelihood, Positive
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class GaussianVAE(Trained):
    """A VAE but for its blocks and its objective: the autoencoder `vae`.

    Parameters
    ----------
    likelihood
        The likelihood p(x | codes): `gaussian_learned` learns a variance for each column or channel, `gaussian` and `laplace`
        have a fixed scale, `bernoulli` is for images. `auto` is `gaussian_learned` for vectors and `gaussian` for images.
    scale
        The standard deviation of a `gaussian` likelihood, or the scale of a `laplace` one.
    """

    likelihood: Likelihood = "auto"
    scale: Positive = 0.16

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the posterior mean of each block."""
        return {name: code.mu for name, code in self.nets_["vae"].encode(x).items()}

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the posterior standard deviation of each block."""
        return {name: torch.exp(0.5 * code.logvar) for name, code in self.nets_["vae"].encode(x).items()}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x | codes)."""
        return self.nets_["vae"].mean(*(codes[name] for name in self.blocks))  # type: ignore[no-any-return]


@dataclass(eq=False, kw_only=True)
class OneBlockVAE(GaussianVAE):
    """A VAE with the one block z, but for its objective.

    Parameters
    ----------
    n_latent
        The number of latent dimensions.
    """

    n_latent: Count = 10

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, as one player."""
        yield Stage("training", self.epochs, {"vae": Player(self.nets_["vae"], self.lr)}, self.step, self.batch)

    @abstractmethod
    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
