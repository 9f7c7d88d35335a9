r"""SepVAE: Louiset et al., *SepVAE: a contrastive VAE to separate pathological patterns from healthy ones*, 2023.

$$\min_{\theta, \phi, c} E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) + \beta_s KL(q(s|y) \| N(0, \sigma^2)) - \log p(y|z, 0)]$$
$$\quad - \lambda_c (E_t \log c(s) + E_b \log (1 - c(s))) + \lambda_{mi} (E_t + E_b) \log \tfrac{d(z, s)}{1 - d(z, s)}$$
$$\min_d -E_{joint} \log d(z, s) - E_{independent} \log (1 - d(z, s))$$

Letters: x target, y background; z common, s salient; N the standard normal; sigma^2 the small fixed variance of the
background's s, in its prior and in q(s|y) alike, so that their divergence is |mu|^2 / 2 sigma^2; c the classifier of target
against background by s; d the discriminator of pairs (z, s) of one row from pairs of two rows, whose log-ratio, where it is at
its best, is the mutual information of z and s over both groups.
The classifier belongs to the player `vae`: its loss is a term of the same bound, which encoder and classifier lower together.
The discriminator is a player of its own. Independent pairs take s from the row a quarter of the batch away, so that half of
them are of one group and half of both, as chance would have it.
Reductions: likelihood and divergences are summed over dimensions, mean over the rows of their group; the terms of classifier
and discriminator are means over rows.

Deviations
- q(s|y) has the variance of its prior. The authors draw it with variance 0.1 and divide by 0.025.
- The log-ratio is averaged as it is. The authors cut it at 0 row by row, which keeps a positive mean where nothing is left.
- The weight of the classifier is of the size of the others. The authors' is 10^-9.
- The two divergences are weighted apart, as in `PrincipledVAE`, and the learning rates follow a cosine down to 0. The authors
  begin anew with Adam's memory at each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import density_ratio
from untwine.methods.shared.contrastive_bound import PAPER_000, TwoBlockVAE, both, bound, by_group, draw
from untwine.networks.autoencoder import Autoencoder, Code
from untwine.networks.mlp import layers
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage, cosine


@dataclass(eq=False, kw_only=True)
class SepVAE(TwoBlockVAE):
    """Common and salient parts of a target against a background: told apart by s, and independent of each other.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts; `n_salient="auto"` asks the data.
    beta_common, beta_salient
        The weights of their divergences.
    variance
        The fixed variance of the background's salient part; the smaller, the harder it is held at 0.
    lambda_class
        The weight of the classifier of target against background; 0 has none.
    lambda_mi
        The weight of the mutual information of both parts; 0 plays no game.
    lr_discriminator
        The discriminator's own learning rate.
    likelihood, scale
        What is said of x given both parts: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    beta_salient: float = 0.2
    variance: float = 0.025
    lambda_class: float = 1.0
    lambda_mi: float = 1.0
    lr_discriminator: float = 1e-3
    scale: float = 0.32
    name: ClassVar[str] = "sep_vae"
    # Paper 000's setting for all methods. The weights of its own terms stay ours: the authors' classifier has 10^-9 of them.
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = PAPER_000

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder, the classifier and the discriminator."""
        common, salient = self.blocks.values()
        parts = {"classifier": layers(salient, 32, 1), "discriminator": layers(common + salient, 128, 128, 1)}
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), **parts})

    def stages(self) -> Iterator[Stage]:
        """Train autoencoder and classifier, and in turn with them the discriminator, both groups in every step."""
        owned = [self.nets_["vae"], *([self.nets_["classifier"]] if self.lambda_class else [])]
        players = {"vae": Player(owned, self.lr)}
        if self.lambda_mi:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups", schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move autoencoder and classifier, then the discriminator on its own loss."""
        nets, c, d = self.nets_["vae"], self.nets_["classifier"], self.nets_["discriminator"]
        q_z, q_s = nets.encode(batch.x).values()
        z, s = draw(batch, q_z), draw(batch, narrowed(batch, q_s, self.variance))
        s_t, s_b = by_group(batch, s)
        terms = bound(nets, batch.x, z, s_t, beta_common=self.beta_common, beta_salient=self.beta_salient)
        if self.beta_salient:
            terms["silence"] = self.beta_salient * s_b.mu.square().sum(1).mean() / (2 * self.variance)
        if self.lambda_class:
            # The discrimination of two sets is the mean of both groups' losses; the bound has their sum.
            terms["classification"] = self.lambda_class * 2 * density_ratio.discriminator_loss(c(s_t.sample), c(s_b.sample))
        if not self.lambda_mi:
            yield "vae", terms
            return
        joint, independent = pairs(torch.cat(both(batch, z.sample)), torch.cat(both(batch, s.sample)))
        terms["mutual_information"] = self.lambda_mi * 2 * density_ratio.total_correlation(d(joint))
        yield "vae", terms
        joint, independent = joint.detach(), independent.detach()
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(d(joint), d(independent))}


def narrowed(batch: Batch, code: Code, variance: float) -> Code:
    """Give the background's Gaussians a fixed variance."""
    target, background = batch.split(code.logvar)
    return Code(code.mu, torch.cat([target, torch.full_like(background, math.log(variance))]))


def pairs(z: Tensor, s: Tensor) -> tuple[Tensor, Tensor]:
    """Return joint pairs (z_i, s_i), and independent ones: z_i with the s of the row a quarter of all rows away.

    The first half of the rows is the target's, the second the background's: half a batch away, as within one group, every row
    would meet the other group.
    """
    return torch.cat([z, s], 1), torch.cat([z, s.roll(len(s) // 4, 0)], 1)
