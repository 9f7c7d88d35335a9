r"""cVAE: Abid and Zou, *Contrastive Variational Autoencoder Enhances Salient Features*, 2019.

The objective is Eqs. 3 and 4 of *Towards Principled Objectives*:

$$\min_{\theta, \phi} E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)] + \lambda_{tc} E_t[\log \tfrac{d(z, s)}{1 - d(z, s)}]$$
$$\min_d -E_{joint} \log d(z, s) - E_{independent} \log (1 - d(z, s))$$

Letters: x target, y background; z common, s salient; d the discriminator between pairs (z, s) of one sample and pairs of two;
for the optimal d the last term is the total correlation of z and s. Independent pairs take s from the sample half a batch away.
Reductions: likelihood and KL terms are summed over dimensions, mean over the samples of their group; adversarial terms are
means.

Deviations
- The authors' code puts the discriminator's loss and the total correlation into one sum under one optimizer, so that the
  autoencoder helps the discriminator; here each loss updates only its own player.
- The two KL terms have weights of their own (`beta_common`, `beta_salient`), as in `PrincipledVAE`: with equal weights much of
  what s should encode stays in z. `ContrastiveVAE.paper` has one weight for both.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from untwine.losses import density_ratio
from untwine.method.fields import NonNegative, Positive, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import PRINCIPLED_PRESETS, TwoBlockVAE, elbo_terms, infer, split_groups
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.mlp import layers
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class ContrastiveVAE(TwoBlockVAE):
    """Common and salient blocks of target and background, made independent by a discriminator.

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; below `beta_common`, variation of the target alone goes to s.
    lambda_tc
        The weight of the total correlation; 0 trains no discriminator.
    lr_discriminator
        The learning rate of the discriminator.
    """

    beta_salient: Weight = 0.2
    lambda_tc: Weight = 1.0
    lr_discriminator: NonNegative = 1e-3
    scale: Positive = 0.32
    name: ClassVar[str] = "contrastive_vae"
    papers: ClassVar[Mapping[str, Preset]] = PRINCIPLED_PRESETS

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator."""
        discriminator = layers(sum(self.blocks.values()), 128, 128, 1)
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Update the autoencoder and the discriminator in turn, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        if self.lambda_tc:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update the autoencoder on Eq. 4, then the discriminator on its own loss."""
        nets, d = self.nets_["vae"], self.nets_["discriminator"]
        z, s = infer(nets, batch)
        (z_t, _), (s_t, _) = split_groups(batch, z), split_groups(batch, s)
        terms = elbo_terms(nets, batch.x, z, s_t, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if not self.lambda_tc:
            yield "vae", terms
            return
        z_all, s_all = distributed.gather(z_t.sample), distributed.gather(s_t.sample)
        z_all, s_all = distributed.gather(z_t.sample), distributed.gather(s_t.sample)
        joint, independent = density_ratio.joint_and_shuffled_pairs(z_all, s_all)
        terms["total_correlation"] = self.lambda_tc * density_ratio.total_correlation(d(joint))
        yield "vae", terms
        joint, independent = joint.detach(), independent.detach()
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(d(joint), d(independent))}
