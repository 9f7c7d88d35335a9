r"""cVAE: Abid and Zou, *Contrastive Variational Autoencoder Enhances Salient Features*, 2019 (Eqs. 3 and 4 of paper 000).

$$\min_{\theta, \phi} E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)] + \lambda_{tc} E_t[\log \tfrac{d(z, s)}{1 - d(z, s)}]$$
$$\min_d -E_{joint} \log d(z, s) - E_{independent} \log (1 - d(z, s))$$

Letters: x target, y background; z common, s salient; d the discriminator, which tells pairs of one row from pairs of two;
where it is at its best the last term is the total correlation of z and s. Independent pairs take s from the row half a batch
away. Reductions: likelihood and divergences are summed over dimensions, mean over the rows of their group; the game's terms
are means.

Deviations
- The authors' code puts the discriminator's loss and the total correlation into one sum under one optimizer, so that the
  autoencoder helps the discriminator; here each moves only its own parameters.
- The two divergences can be weighted apart (`beta_common`, `beta_salient`), as in `PrincipledVAE`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from untwine import distributed
from untwine.batches import Batch
from untwine.entry import Needs
from untwine.method import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.mlp import layers
from untwine.terms import density_ratio, gaussian
from untwine.training import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class ContrastiveVAE(Trained):
    """Common and salient parts of a target against a background, made independent by a game.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts.
    beta_common, beta_salient
        The weights of their divergences.
    lambda_tc
        The weight of the total correlation; 0 plays no game.
    lr_discriminator
        The discriminator's own learning rate.
    likelihood, scale
        What is said of x given both parts: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_common: int = 8
    n_salient: int = 8
    beta_common: float = 1.0
    beta_salient: float = 1.0
    lambda_tc: float = 1.0
    lr_discriminator: float = 1e-3
    likelihood: str = "auto"
    scale: float = 0.16
    name: ClassVar[str] = "contrastive_vae"
    needs: ClassVar[Needs] = "groups"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.n_common, "salient": self.n_salient}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator."""
        discriminator = layers(self.n_common + self.n_salient, 128, 128, 1)
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn, both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        if self.lambda_tc:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move the autoencoder on Eq. 4, then the discriminator on its own loss."""
        nets, d, x = self.nets_["vae"], self.nets_["discriminator"], batch.x
        (z_mu, z_logvar), (s_mu, s_logvar) = nets.encode(x).values()
        z = gaussian.sample(z_mu, z_logvar, batch.noise(self.n_common))
        s = gaussian.sample(s_mu, s_logvar, batch.noise(self.n_salient))
        (z_t, _), (s_t, _), (mu_t, _), (logvar_t, _) = map(batch.split, (z, s, s_mu, s_logvar))
        s = torch.cat([s_t, torch.zeros_like(s_t)])  # p(y | z, 0)

        # Both groups are equally many, so the sum of their two means is twice the mean over all rows.
        terms = {"reconstruction": 2 * nets.reconstruction(x, z, s)}
        if self.beta_common:
            terms["kl_common"] = self.beta_common * 2 * gaussian.kl(z_mu, z_logvar)
        if self.beta_salient:
            terms["kl_salient"] = self.beta_salient * gaussian.kl(mu_t, logvar_t)
        if not self.lambda_tc:
            yield "vae", terms
            return
        joint, independent = density_ratio.pairs(distributed.gather(z_t), distributed.gather(s_t))
        terms["total_correlation"] = self.lambda_tc * density_ratio.total_correlation(d(joint))
        yield "vae", terms
        joint, independent = joint.detach(), independent.detach()
        yield "discriminator", {"discrimination": density_ratio.discrimination(d(joint), d(independent))}

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the means of q(z|x) and q(s|x)."""
        return {name: code.mu for name, code in self.nets_["vae"].encode(x).items()}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z, s)."""
        return self.nets_["vae"].mean(codes["common"], codes["salient"])  # type: ignore[no-any-return]
