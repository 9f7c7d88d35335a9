r"""SepVAE: Louiset et al., *SepVAE: a contrastive VAE to separate pathological patterns from healthy ones*, 2023.

$$\min_{\theta, \phi, c} E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) + \beta_s KL(q(s|y) \| N(0, \sigma^2)) - \log p(y|z, 0)]$$
$$\quad - \lambda_c (E_t \log c(s) + E_b \log (1 - c(s))) + \lambda_{mi} (E_t + E_b) \log \tfrac{d(z, s)}{1 - d(z, s)}$$
$$\min_d -E_{joint} \log d(z, s) - E_{independent} \log (1 - d(z, s))$$

Letters: x target, y background; z common, s salient; N the standard normal; sigma^2 the small fixed variance of the
background's s, in its prior and in q(s|y) alike, so that their KL is |mu|^2 / 2 sigma^2; c the classifier of target against
background by s; d the discriminator between pairs (z, s) of one sample and pairs of two samples, whose log-ratio, for the
optimal d, is the mutual information of z and s over both groups.
The classifier belongs to the player `vae`: its loss is a term of the same sum, which encoder and classifier minimise together.
The discriminator is a player of its own. Independent pairs take s from the sample a quarter of the batch away, so that half of
them are within a group and half across groups, as for random pairs.
Reductions: likelihood and KL terms are summed over dimensions, mean over the samples of their group; the terms of classifier
and discriminator are means over samples.

Deviations
- q(s|y) has the variance of its prior. The authors draw it with variance 0.1 and divide by 0.025.
- The log-ratio is averaged as it is. The authors clip it at 0 for each sample, so that its mean is positive even where z and s
  are independent.
- The weight of the classifier is of the order of the others. The authors' is 10^-9.
- The two KL terms have weights of their own, as in `PrincipledVAE`, and the learning rates follow a cosine down to 0. The
  authors reset Adam's moments at each epoch.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import density_ratio
from untwine.method.fields import NonNegative, Positive, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import (
    PRINCIPLED_PRESETS,
    TwoBlockVAE,
    draw,
    elbo_terms,
    encode,
    gather_pools,
    split_salient,
    total,
)
from untwine.networks.autoencoder import Autoencoder, Code
from untwine.networks.mlp import layers
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage, cosine


@dataclass(eq=False, kw_only=True)
class SepVAE(TwoBlockVAE):
    """Common and salient blocks of target and background: s classifies the groups, and z and s are independent.

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; below `beta_common`, variation of the target alone goes to s.
    variance
        The fixed variance of the background's salient codes; the smaller, the more strongly their means are pulled to 0.
    lambda_class
        The weight of the classifier of target against background; 0 trains none.
    lambda_mi
        The weight of the mutual information of both blocks; 0 trains no discriminator.
    lr_discriminator
        The learning rate of the discriminator.
    """

    beta_salient: Weight = 0.2
    variance: Positive = 0.025
    lambda_class: Weight = 1.0
    lambda_mi: Weight = 1.0
    lr_discriminator: NonNegative = 1e-3
    name: ClassVar[str] = "sep_vae"
    # The setting of *Towards Principled Objectives* for all methods. SepVAE's own terms keep our default weights: its authors
    # weight the classifier by 10^-9.
    papers: ClassVar[Mapping[str, Preset]] = PRINCIPLED_PRESETS

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder, the classifier and the discriminator."""
        classifiers = [layers(width, 32, 1) for width in self.salient_widths]
        heads = {
            "classifier": classifiers[0] if self.salient == "shared" else nn.ModuleList(classifiers),
            "discriminator": layers(sum(self.blocks.values()), 128, 128, 1),
        }
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own), **heads})

    def stages(self) -> Iterator[Stage]:
        """Update autoencoder with classifier, and the discriminator, in turn, with both groups in every step."""
        owned = [self.nets_["vae"], *([self.nets_["classifier"]] if self.lambda_class else [])]
        players = {"vae": Player(owned, self.lr)}
        if self.lambda_mi:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches=self.batches, schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update autoencoder and classifier, then the discriminator on its own loss."""
        nets, c, d = self.nets_["vae"], self.nets_["classifier"], self.nets_["discriminator"]
        q_z, q_s = encode(nets, batch.x)
        z, s = draw(batch, q_z), draw(batch, fix_off_target_variance(batch, q_s, self.salient_widths, self.variance))
        salient = split_salient(batch, s, self.salient_widths)
        terms = elbo_terms(nets, batch.x, z, salient, beta_common=self.beta_common, beta_salient=self.beta_salient)
        if self.beta_salient:
            means = total(one.mu.square().sum(1).mean() for one in salient.off_target)
            terms["salient_penalty"] = self.beta_salient * means / (2 * self.variance)
        if self.lambda_class:
            losses = (
                # The discrimination loss is the mean of both groups' losses; the objective has their sum.
                2 * density_ratio.discriminator_loss(c_k(own.sample), c_k(torch.cat([one.sample for one in others])))
                for c_k, own, others in zip([c] if self.salient == "shared" else c, salient.own, salient.others, strict=True)
            )
            terms["classification"] = self.lambda_class * total(losses)
        if not self.lambda_mi:
            yield "vae", terms
            return
        z_all, s_all = (torch.cat(gather_pools(batch, codes)) for codes in (z.sample, s.sample))
        joint, independent = pairs(z_all, s_all, len(salient.own))
        groups = len(salient.own) + 1
        terms["mutual_information"] = self.lambda_mi * groups * density_ratio.total_correlation(d(joint))
        yield "vae", terms
        joint, independent = joint.detach(), independent.detach()
        yield "discriminator", {"discrimination": density_ratio.discriminator_loss(d(joint), d(independent))}


def fix_off_target_variance(batch: Batch, code: Code, widths: Sequence[int], variance: float) -> Code:
    """Return the posteriors with a fixed variance of every block on every group that is not its target."""
    fixed = []
    for group, logvar in enumerate(batch.split_pools(code.logvar)):
        blocks = torch.split(logvar, list(widths), 1)
        fixed.append(
            torch.cat([own if k == group else torch.full_like(own, math.log(variance)) for k, own in enumerate(blocks)], 1)
        )
    return Code(code.mu, torch.cat(fixed))


def pairs(z: Tensor, s: Tensor, targets: int = 1) -> tuple[Tensor, Tensor]:
    """Return joint pairs (z_i, s_i), and independent ones: z_i with the s of another sample, of any group alike.

    The groups come one after the other. With two of them s is that of the sample a quarter of the batch away, so that half of
    the pairs are within a group. With more, every group is cut into as many stretches as there are groups, and the n-th stretch
    of a group gets its s from the n-th next group, half a group away.
    """
    if targets == 1:
        return torch.cat([z, s], 1), torch.cat([z, s.roll(len(s) // 4, 0)], 1)
    groups, each = targets + 1, len(s) // (targets + 1)
    place = torch.arange(each)
    group = (torch.arange(groups)[:, None] + place * groups // each) % groups
    index = group * each + (place + max(1, each // 2)) % each
    return torch.cat([z, s], 1), torch.cat([z, s[index.reshape(-1).to(s.device)]], 1)
