"""The networks and the inference of a VAE with diagonal Gaussian posteriors; objectives are in the methods' own files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from untwine.method.covariates import LIBRARY
from untwine.method.fields import AutoCount, Library, Likelihood, Scale
from untwine.method.kinds import Trained
from untwine.methods.shared.inferred import latent_width
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.counts import COUNTS
from untwine.samples import Samples
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class GaussianVAE(Trained):
    """A VAE but for its blocks and its objective: the autoencoder `vae`.

    Parameters
    ----------
    likelihood
        The likelihood p(x | codes): `gaussian_learned` learns a variance for each column or channel, `gaussian` and `laplace`
        have one `scale`, `bernoulli` is for images; `negative_binomial` and `zero_inflated` are for vectors of raw counts,
        with a learned dispersion for each feature. `auto` is `gaussian_learned` for vectors and `gaussian` for images.
    scale
        The standard deviation of a `gaussian` likelihood, or the scale of a `laplace` one; `learned` learns it, for each column
        or channel, so that the weights of the other terms mean the same on every data set; for images the method's
        `scale_factor` multiplies it. `auto` is `learned`.
    library
        The library sizes of counts: `observed`, the total of each sample, or `learned`, predicted by a head of the encoder.
    """

    likelihood: Likelihood = "auto"
    scale: Scale = "auto"
    library: Library = "observed"
    scale_factor: ClassVar[float] = 1.0  # of the learned scale of images: above 1 less detail is worth its KL
    takes_covariates: ClassVar[bool] = True
    takes_volumes: ClassVar[bool] = True

    @property
    def counts(self) -> bool:
        """Whether the likelihood is one of counts."""
        return self.likelihood in COUNTS

    def calibrate(self, samples: Samples) -> None:
        """Give the likelihood of counts the library sizes and the mean shares of the training samples."""
        super().calibrate(samples)
        if self.counts:
            self.nets_["vae"].counts.fit(samples.x)

    def library_sizes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the library sizes (n, 1) of counts."""
        return {LIBRARY: self.nets_["vae"].library_size(x)}

    def usual_library_size(self) -> float:
        """Return the median library size of the training samples."""
        return float(self.nets_["vae"].counts.library[0])

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
        The number of latent dimensions; `auto` is the effective rank of the samples, from 2 (images: 8) to 64.
    """

    n_latent: AutoCount = "auto"

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.resolve("n_latent")}

    def infer(self, samples: Samples) -> dict[str, Any]:
        """Return the number of latent dimensions where it is left to the data."""
        return latent_width(self.n_latent, samples, self.counts)

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, as one player."""
        yield Stage("training", self.epochs, {"vae": Player(self.nets_["vae"], self.lr)}, self.step, self.batch)

    @abstractmethod
    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
