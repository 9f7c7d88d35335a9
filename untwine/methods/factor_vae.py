r"""FactorVAE: Kim and Mnih, *Disentangling by Factorising*, 2018.

$$\min_{\theta, \phi} E_{p(x)} [ KL(q(z|x) \| p(z)) - E_{q(z|x)} \log p(x|z) ]
    + \gamma E_{q(z)} [ \log \tfrac{d(z)}{1 - d(z)} ]$$
$$\min_d -\tfrac12 E_{q(z)} \log d(z) - \tfrac12 E_{\bar q(z)} \log (1 - d(z))$$

Letters: z the codes, with p(z) = N(0, I); d the discriminator between codes and codes with every dimension permuted over the
batch, that is, samples of $\bar q(z) = \prod_j q(z_j)$; for the optimal d the last term of the first line is gamma times the
total correlation of z. Reductions: likelihood and KL are summed over dimensions, mean over samples; adversarial terms are means
over samples.

Deviations
- Permuted codes come from the same batch by default; `second_batch=True` encodes another one for them, as the paper does.
- The discriminator is smaller and faster by default; `FactorVAE.paper("dsprites")` has the paper's six layers of 1000 units.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import density_ratio, gaussian
from untwine.losses.total_correlation import log_ratio, permute_dimensions
from untwine.method.fields import Count, NonNegative, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import OneBlockVAE
from untwine.methods.shared.published_data import UNSUPERVISED, presets
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.mlp import layers
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

BETAS = (0.5, 0.9)  # of the discriminator's Adam, as in the paper
SHAPES = {
    "gamma": 35.0,
    "second_batch": True,
    "lr_discriminator": 1e-4,
    "layers_discriminator": 6,
    "width_discriminator": 1000,
    "n_latent": 10,
    "likelihood": "bernoulli",
    "batch": 64,
    "lr": 1e-4,
    "networks": "conv64",
}
PAPER = presets(SHAPES, UNSUPERVISED, ("dsprites", "dsprites_redrawn"))


@dataclass(eq=False, kw_only=True)
class FactorVAE(OneBlockVAE):
    """VAE with an adversarial penalty on the total correlation of its codes: one latent block, no supervision.

    Parameters
    ----------
    gamma
        The weight of the total correlation; 0 trains no discriminator.
    second_batch
        Whether the permuted codes come from a second batch, encoded without gradient, instead of from the batch itself.
    lr_discriminator
        The learning rate of the discriminator.
    layers_discriminator
        The number of hidden layers of the discriminator.
    width_discriminator
        The number of units of each hidden layer of the discriminator.
    """

    gamma: Weight = 10.0
    second_batch: bool = False
    lr_discriminator: NonNegative = 1e-3
    layers_discriminator: Count = 4
    width_discriminator: Count = 256
    name: ClassVar[str] = "factor_vae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator, which has two logits."""
        hidden = [self.width_discriminator] * self.layers_discriminator
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": layers(self.n_latent, *hidden, 2)})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        if self.gamma:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="twice" if self.second_batch else "mixed")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update the autoencoder on ELBO and total correlation, then the discriminator on its own loss."""
        first, second = batch.draw_conditions() if self.second_batch else (batch.conditions, batch.conditions)
        nets = self.given(first).nets_["vae"]
        (x, other), (noise, noise_other) = (self._halves(batch, values) for values in (batch.x, batch.noise(self.n_latent)))
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, noise)
        terms = {"reconstruction": nets.reconstruction(x, z), "kl": gaussian.kl(mu, logvar)}
        if not self.gamma:
            yield "vae", terms
            return
        terms["total_correlation"] = self.gamma * density_ratio.total_correlation(self._log_ratio(z))
        yield "vae", terms
        # The discriminator was not updated in between: both gradients are taken at the same discriminator.
        z = z.detach()
        marginal = self.given(second)._sample(other, noise_other) if self.second_batch else z
        joint, independent = self._log_ratio(torch.cat([z, self._permute(batch, marginal)])).chunk(2)
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(joint, independent)}

    def _halves(self, batch: Batch, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values for the ELBO and those for the permuted codes: the same ones unless there is a second batch."""
        return batch.split_draws(values) if self.second_batch else (values, values)

    def _sample(self, x: Tensor, noise: Tensor) -> Tensor:
        with torch.no_grad():
            mu, logvar = self.nets_["vae"].encode(x)["z"]
            return gaussian.sample(mu, logvar, noise)

    def _log_ratio(self, z: Tensor) -> Tensor:
        return log_ratio(self.nets_["discriminator"](z).to(z.dtype))

    def _permute(self, batch: Batch, z: Tensor) -> Tensor:
        """Return this process's share of the global batch's codes, permuted in each dimension."""
        order = distributed.gather(self._halves(batch, batch.noise(self.n_latent))[1])
        return permute_dimensions(distributed.gather(z), order)[distributed.share(len(order))]
