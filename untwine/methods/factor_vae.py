r"""FactorVAE: Kim and Mnih, *Disentangling by Factorising*, 2018.

$$\min_{\theta, \phi} E_{p(x)} [ KL(q(z|x) \| p(z)) - E_{q(z|x)} \log p(x|z) ]
    + \gamma E_{q(z)} [ \log \tfrac{d(z)}{1 - d(z)} ]$$
$$\min_d -\tfrac12 E_{q(z)} \log d(z) - \tfrac12 E_{\bar q(z)} \log (1 - d(z))$$

Letters: z the codes, with p(z) = N(0, I); d the discriminator, which tells codes from codes whose every dimension was permuted
over the batch, that is, from $\bar q(z) = \prod_j q(z_j)$; where it is at its best the last term of the first line is gamma
times the total correlation of z. Reductions: likelihood and divergence are summed over dimensions, mean over rows; the game's
terms are means over rows.

Deviations
- Permuted codes come from the same batch by default; `second_batch=True` encodes another one for them, as the paper does.
- The discriminator is smaller and faster by default; `FactorVAE.paper("dsprites")` has the paper's six layers of 1000 units.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import density_ratio, gaussian
from untwine.losses.total_correlation import log_ratio, permute_dimensions
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.mlp import layers
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

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


@dataclass(eq=False, kw_only=True)
class FactorVAE(Trained):
    """VAE whose single codes are made independent by a game: one block of codes, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    gamma
        The weight of the total correlation; 0 plays no game.
    second_batch
        Encode another batch, without a gradient, for the permuted codes, instead of permuting those of the batch itself.
    lr_discriminator
        The discriminator's own learning rate.
    layers_discriminator, width_discriminator
        Its hidden layers, and the units of each.
    likelihood, scale
        What is said of x given z: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_latent: int = 10
    gamma: float = 10.0
    second_batch: bool = False
    lr_discriminator: float = 1e-3
    layers_discriminator: int = 4
    width_discriminator: int = 256
    likelihood: str = "auto"
    scale: float = 0.16
    name: ClassVar[str] = "factor_vae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(("dsprites", "dsprites_redrawn"), SHAPES)

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator, which has two logits."""
        for field in ("layers_discriminator", "width_discriminator"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be a whole number of at least 1; got {getattr(self, field)}.")
        hidden = [self.width_discriminator] * self.layers_discriminator
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": layers(self.n_latent, *hidden, 2)})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        if self.gamma:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="twice" if self.second_batch else "mixed")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move the autoencoder on its bound and the total correlation, then the discriminator on its own loss."""
        nets = self.nets_["vae"]
        (x, other), (noise, noise_other) = (self._draws(batch, rows) for rows in (batch.x, batch.noise(self.n_latent)))
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, noise)
        terms = {"reconstruction": nets.reconstruction(x, z), "kl": gaussian.kl(mu, logvar)}
        if not self.gamma:
            yield "vae", terms
            return
        terms["total_correlation"] = self.gamma * density_ratio.total_correlation(self._log_ratio(z))
        yield "vae", terms
        # The discriminator has not moved, so this is its gradient at the parameters that the autoencoder moved from.
        z = z.detach()
        apart = self._sampled(other, noise_other) if self.second_batch else z
        joint, independent = self._log_ratio(torch.cat([z, self._permuted(batch, apart)])).chunk(2)
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(joint, independent)}

    def _draws(self, batch: Batch, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the rows of the bound and those whose codes are permuted: the same ones unless there is a second batch."""
        return batch.split(rows) if self.second_batch else (rows, rows)

    def _sampled(self, x: Tensor, noise: Tensor) -> Tensor:
        with torch.no_grad():
            mu, logvar = self.nets_["vae"].encode(x)["z"]
            return gaussian.sample(mu, logvar, noise)

    def _log_ratio(self, z: Tensor) -> Tensor:
        return log_ratio(self.nets_["discriminator"](z).to(z.dtype))

    def _permuted(self, batch: Batch, z: Tensor) -> Tensor:
        """Return this process's rows of the batch of all processes, permuted in each dimension."""
        order = distributed.gather(self._draws(batch, batch.noise(self.n_latent))[1])
        return permute_dimensions(distributed.gather(z), order)[distributed.share(len(order))]

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the mean of q(z|x)."""
        return {"z": self.nets_["vae"].encode(x)["z"].mu}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z)."""
        return self.nets_["vae"].mean(codes["z"])  # type: ignore[no-any-return]
