r"""sVAE: Pu et al., *Symmetric Variational Autoencoder and Connections to Adversarial Learning*, 2018.

The symmetric KL $KL(q \| p) + KL(p \| q)$ of the encoded $q(x, z) = q(z|x) p(x)$ and the generated
$p(x, z) = p(x|z) p(z)$, by a discriminator that estimates their log ratio. It is the sRb-VAE of
Ruiz et al. 2018 without a reference set, the sVAE in their table 1, and has their equation numbers:

$$d(x, z) = \log \frac{q(z|x) p(x)}{p(x|z) p(z)} \quad \text{(Eq. 7)}$$
$$\min_{\theta, \psi} E_q[d] - E_p[d] \quad \text{(Eq. 8)} \quad
    - E_q[\log p(x|z)] - E_p[\log q(\hat z|\hat x)] \quad \text{(Eq. 10)}$$
$$\max_d E_q[\log \sigma(d)] + E_p[\log (1 - \sigma(d))] \quad \text{(Algorithm 1)}$$

Letters: z the codes, with p(z) = N(0, I); a hat marks what was drawn from p. E_q[d] has gradients for the encoder (psi),
-E_p[d] for the decoder (theta), one player together; the discriminator has its own loss; all gradients are at the same
parameters. Reductions: log-likelihoods are summed over dimensions, mean over samples; adversarial terms are means over samples.

Deviations
- The terms of Eq. 10 are those that Ruiz et al. add; Pu et al. weight them, here each has weight 1.
- Inputs of the discriminator's joint layers are dropped as whole blocks (the features of x, those of z), each with probability
  0.25 for each sample; Ruiz et al. do not say whether blocks or single units.
- Vectors are drawn from p(x|z), images taken at its mean: at the paper's scale the noise is not visible.
- Images are in [0, 1], not in [-1, 1]: the paper's scale 0.01 is 0.005 here.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.losses.density_ratio import discriminator_loss
from untwine.method.fields import Probability
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import OneBlockVAE
from untwine.methods.shared.unsupervised_presets import ruiz_presets
from untwine.networks import select_networks
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.discriminator import Discriminator
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

BETAS = (0.5, 0.99)  # of Adam, as in Ruiz et al. 2018


@dataclass(eq=False, kw_only=True)
class SymmetricVAE(OneBlockVAE):
    """VAE with the KL of both directions, estimated adversarially: one latent block, no supervision.

    Parameters
    ----------
    dropped
        The probability that the discriminator's features of a sample, or those of its codes, are dropped.
    """

    dropped: Probability = 0.25
    name: ClassVar[str] = "symmetric_vae"
    papers: ClassVar[Mapping[str, Preset]] = ruiz_presets()

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator of pairs (x, z)."""
        pair = select_networks(self.networks, shape)
        width = self.width or pair.default_width
        discriminator = Discriminator(pair, shape, width, (self.n_latent,), self.n_covariates, self.counts)
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn."""
        players = {name: Player(self.nets_[name], self.lr, BETAS) for name in ("vae", "discriminator")}
        yield Stage("training", self.epochs, players, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update the autoencoder on Eqs. 8 and 10, then the discriminator on its own loss."""
        nets, d, x = self.nets_["vae"], self.nets_["discriminator"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z, z_hat = gaussian.sample(mu, logvar, batch.noise(self.n_latent)), batch.noise(self.n_latent)
        with freeze_running_stats(nets):  # running statistics are those of real samples
            x_hat = nets.sample(batch.noise, z_hat)
            q_z = nets.encode(x_hat)["z"]
        mask, mask_hat = (adversarial.dropout_mask(batch.noise(2), self.dropped) for _ in range(2))
        yield (
            "vae",
            {
                "encoded": d(x, z, mask=mask).mean(),
                "generated": -d(x_hat, z_hat, mask=mask_hat).mean(),
                "reconstruction": nets.reconstruction(x, z),
                "codes": likelihood.gaussian_learned(z_hat, *q_z),
            },
        )
        # The discriminator was not updated in between: both gradients are taken at the same discriminator.
        logits, logits_hat = d(x, z.detach(), mask=mask), d(x_hat.detach(), z_hat, mask=mask_hat)
        yield "discriminator", {"discrimination": discriminator_loss(logits, logits_hat)}
