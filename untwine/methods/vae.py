r"""VAE: Kingma and Welling, *Auto-Encoding Variational Bayes*, 2014 (Eq. 1 of paper 000).

$$L(\theta, \phi) = E_{p(x)} [ KL(q_\phi(z|x) \| p(z)) - E_{q_\phi(z|x)} \log p_\theta(x|z) ]$$

Letters: z the codes, with p(z) = N(0, I); q(z|x) = N(mu, sigma^2) by the encoder; p(x|z) the likelihood by the decoder.
Reductions: both terms are summed over dimensions, mean over rows.
Deviations: log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from untwine.losses import gaussian
from untwine.method.fields import Count, Likelihood, Positive
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class VAE(Trained):
    """Variational autoencoder: one block of codes, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    likelihood, scale
        What is said of x given z: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_latent: Count = 10
    likelihood: Likelihood = "auto"
    scale: Positive = 0.16
    name: ClassVar[str] = "vae"

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together."""
        yield Stage("training", self.epochs, {"vae": Player(self.nets_["vae"], self.lr)}, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 1."""
        nets, x = self.nets_["vae"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, batch.noise(self.n_latent))
        yield "vae", {"reconstruction": nets.reconstruction(x, z), "kl": gaussian.kl(mu, logvar)}

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the mean of q(z|x)."""
        return {"z": self.nets_["vae"].encode(x)["z"].mu}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z)."""
        return self.nets_["vae"].mean(codes["z"])  # type: ignore[no-any-return]
