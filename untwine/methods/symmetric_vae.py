r"""sVAE: Pu et al., *Symmetric Variational Autoencoder and Connections to Adversarial Learning*, 2018 (table 1 of paper 001).

The symmetric divergence $KL(q \| p) + KL(p \| q)$ of the encoded $q(x, z) = q(z|x) p(x)$ and the generated
$p(x, z) = p(x|z) p(z)$, by a discriminator that estimates their log ratio. It is paper 001's sRb-VAE without a reference set:

$$d(x, z) = \log \frac{q(z|x) p(x)}{p(x|z) p(z)} \quad \text{(Eq. 7)}$$
$$\min_{\theta, \psi} E_q[d] - E_p[d] \quad \text{(Eq. 8)} \quad
    - E_q[\log p(x|z)] - E_p[\log q(\hat z|\hat x)] \quad \text{(Eq. 10)}$$
$$\max_d E_q[\log \sigma(d)] + E_p[\log (1 - \sigma(d))] \quad \text{(Algorithm 1)}$$

Letters: z the codes, with p(z) = N(0, I); a hat marks what was drawn from p. E_q[d] moves the encoder (psi), -E_p[d] the
decoder (theta), both together as one player; the discriminator moves on its own loss, all gradients at the same parameters.
Reductions: log-likelihoods are summed over dimensions, mean over rows; the game's terms are means over rows.

Deviations
- The terms of Eq. 10 are those that paper 001 adds; Pu et al. weigh them, here each counts once.
- Inputs of the discriminator's joint layers are dropped as whole blocks (the row's features, those of z), each with probability
  0.25 in each row; paper 001 does not say whether blocks or single numbers.
- Vectors are drawn from p(x|z), images taken at its mean: at the paper's scale the noise is not seen.
- Images are in [0, 1], not in [-1, 1]: the paper's scale 0.01 is 0.005 here.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.losses.density_ratio import discriminator_loss
from untwine.method.kinds import Trained
from untwine.networks import select_networks
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.discriminator import Discriminator
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

BETAS = (0.5, 0.99)  # of Adam, as in paper 001
PAPER = {
    "n_latent": 32,
    "likelihood": "laplace",
    "scale": 0.005,
    "batch": 36,
    "lr": 1e-4,
    "networks": "karras",
}


@dataclass(eq=False, kw_only=True)
class SymmetricVAE(Trained):
    """VAE with the divergence in both directions, by a game: one block of codes, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    dropped
        How often the discriminator does without the row's features, or without those of its codes.
    likelihood, scale
        What is said of x given z: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_latent: int = 10
    dropped: float = 0.25
    likelihood: str = "auto"
    scale: float = 0.16
    name: ClassVar[str] = "symmetric_vae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "digit_style": {**PAPER, "epochs": 30},
        "affectnet": {**PAPER, "epochs": 20},
    }

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator of rows with their codes."""
        if not self.dropped < 1:
            raise ValueError(f"dropped must be a probability below 1; got {self.dropped}; the paper has 0.25.")
        pair = select_networks(self.networks, shape)
        discriminator = Discriminator(pair, shape, self.width or pair.default_width, (self.n_latent,))
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn."""
        players = {name: Player(self.nets_[name], self.lr, BETAS) for name in ("vae", "discriminator")}
        yield Stage("training", self.epochs, players, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move the autoencoder on Eqs. 8 and 10, then the discriminator on its own loss."""
        nets, d, x = self.nets_["vae"], self.nets_["discriminator"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z, z_hat = gaussian.sample(mu, logvar, batch.noise(self.n_latent)), batch.noise(self.n_latent)
        with freeze_running_stats(nets):  # running statistics are those of real rows
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
        # The discriminator has not moved, so this is its gradient at the parameters that the autoencoder moved from.
        logits, logits_hat = d(x, z.detach(), mask=mask), d(x_hat.detach(), z_hat, mask=mask_hat)
        yield "discriminator", {"discrimination": discriminator_loss(logits, logits_hat)}

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the mean of q(z|x)."""
        return {"z": self.nets_["vae"].encode(x)["z"].mu}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z)."""
        return self.nets_["vae"].mean(codes["z"])  # type: ignore[no-any-return]
