r"""VAE: Kingma and Welling, *Auto-Encoding Variational Bayes*, 2014 (Eq. 1 of *Towards Principled Objectives*).

$$L(\theta, \phi) = E_{p(x)} [ KL(q_\phi(z|x) \| p(z)) - E_{q_\phi(z|x)} \log p_\theta(x|z) ]$$

Letters: z the codes, with p(z) = N(0, I); q(z|x) = N(mu, sigma^2) by the encoder; p(x|z) the likelihood by the decoder.
Reductions: both terms are summed over dimensions, mean over samples.
Deviations: log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from untwine.losses import gaussian
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import OneBlockVAE
from untwine.methods.shared.unsupervised_presets import kumar_presets, ruiz_presets
from untwine.training.batches import Batch
from untwine.training.stage import Move


@dataclass(eq=False, kw_only=True)
class VAE(OneBlockVAE):
    """Variational autoencoder: one latent block, no supervision."""

    name: ClassVar[str] = "vae"
    papers: ClassVar[Mapping[str, Preset]] = {**kumar_presets({}, {}), **ruiz_presets()}

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 1."""
        nets, x = self.nets_["vae"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, batch.noise(self.n_latent))
        yield "vae", {"reconstruction": nets.reconstruction(x, z), "kl": gaussian.kl(mu, logvar)}
