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
from typing import ClassVar, Literal

import torch
from torch import nn

from untwine.losses import density_ratio
from untwine.method.fields import NonNegative, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import (
    PRINCIPLED_PRESETS,
    TwoBlockVAE,
    elbo_terms,
    gather_pools,
    infer,
    salient_penalty,
    split_salient,
)
from untwine.networks.autoencoder import Autoencoder
from untwine.networks.mlp import layers
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
    lambda_s
        The weight of the background salient penalty (Eq. 7 of *Towards Principled Objectives*); 0 leaves it out. `auto` is 0
        for a shared salient block, as in the paper, and 2.5 for one for each target, which must be 0 on all other samples.
    lr_discriminator
        The learning rate of the discriminator.
    """

    beta_salient: Weight = 0.2
    lambda_tc: Weight = 1.0
    lambda_s: Weight | Literal["auto"] = "auto"
    lr_discriminator: NonNegative = 1e-3
    name: ClassVar[str] = "contrastive_vae"
    papers: ClassVar[Mapping[str, Preset]] = PRINCIPLED_PRESETS

    @property
    def penalty(self) -> float:
        """The weight of the background salient penalty."""
        return (0.0 if self.salient == "shared" else 2.5) if self.lambda_s == "auto" else float(self.lambda_s)

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the discriminator."""
        discriminator = layers(sum(self.blocks.values()), 128, 128, 1)
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Update the autoencoder and the discriminator in turn, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        if self.lambda_tc:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches=self.batches)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update the autoencoder on Eq. 4, then the discriminator on its own loss."""
        nets, d = self.nets_["vae"], self.nets_["discriminator"]
        z, s = infer(nets, batch)
        salient = split_salient(batch, s, self.salient_widths)
        terms = elbo_terms(nets, batch.x, z, salient, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if self.penalty:
            terms["salient_penalty"] = self.penalty * salient_penalty(salient)
        if not self.lambda_tc:
            yield "vae", terms
            return
        # The pairs are made within each target: which one it is shows in which blocks are 0.
        (*z_t, _), (*s_t, _) = gather_pools(batch, z.sample), gather_pools(batch, salient.decoded)
        pairs = [density_ratio.joint_and_shuffled_pairs(*target) for target in zip(z_t, s_t, strict=True)]
        joint, independent = (torch.cat(which) for which in zip(*pairs, strict=True))
        terms["total_correlation"] = self.lambda_tc * len(pairs) * density_ratio.total_correlation(d(joint))
        yield "vae", terms
        joint, independent = joint.detach(), independent.detach()
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(d(joint), d(independent))}
