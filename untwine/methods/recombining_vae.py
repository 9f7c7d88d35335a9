r"""Recombining VAE, untwine's own: a contrastive VAE that finds its codes again in backgrounds with a target's salient block.

$$L = \underbrace{E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]}_{\text{Eq. 3}}
    + \underbrace{\lambda_s E_b[\|\mu_s(y)\|^2 + \|\sigma_s(y)\|^2]}_{\text{Eq. 7}}
    + \lambda_z W_2^2(\mu_z(x), \mu_z(y))$$
$$\quad + \lambda_r E_{b, t}[-\log q(z_y|r) - \log q(s_x|r)], \qquad r = E\,p(\cdot|z_y, s_x)$$

Letters: x target, y background; z common, s salient; N the standard normal; z_y and s_x draws of the posteriors of y and x; r
what is decoded from them, the background y with the salient block of the target x; W2 the exact distance of the batch's means.
Equation numbers are those of *Towards Principled Objectives*, whose Eq. 8 is `PrincipledVAE`; the last term is ours.

Derivation. The model makes a target of any z and any s: p(z) p(s) p(x|z, s). The ELBO sees only the pairs that real targets
have. There s may repeat what z says, which is cheap as beta_s < beta_z, and p(x|z, s) may take it from either. The reverse KL,
of the model's joint distribution of codes and samples from the encoder's, has the term E_{p(z) p(s)} E_{p(r|z, s)}
[-log q(z|r) - log q(s|r)] (wake-sleep; Eq. 10 of *Reference-based VAEs*, next to its discriminators): the encoder must return
both codes of every pair. On an independent pair a copy in s contradicts z_y, so that no encoder can return both: the first
term also makes z blind to the salient block of what it sees, the second makes s blind to what is common. Here the pairs come
from the posteriors of both groups, which is where the model is used, in place of the priors; r is the mean of p(x|z, s), and
the gradient goes through it to the decoder, but not to the codes of the pair.

Reductions: all terms are summed over dimensions, mean over the samples of their group. With `salient="per_target"` there is an
r for each target, and the last two terms are summed over targets (`untwine.methods.shared.contrastive_elbo`); in r all salient
blocks but one are 0, and have Eq. 7's penalty in place of -log q.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from untwine.losses.gaussian import second_moment
from untwine.losses.likelihood import gaussian_learned
from untwine.losses.transport import w2_squared
from untwine.method.fields import Weight
from untwine.methods.shared.contrastive_elbo import (
    Posterior,
    SalientPosteriors,
    TwoBlockVAE,
    between_groups,
    elbo_terms,
    encode,
    infer,
    salient_penalty,
    split_blocks,
    split_salient,
    total,
)
from untwine.networks.autoencoder import Autoencoder
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage, cosine


@dataclass(eq=False, kw_only=True)
class RecombiningVAE(TwoBlockVAE):
    """Common and salient blocks of target and background, found again in backgrounds with a target's salient block.

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; below `beta_common`, variation of the target alone goes to s.
    lambda_s
        The weight of the background salient penalty, which pulls the background's salient codes to 0.
    lambda_z
        The weight of the Wasserstein distance between the common means of both groups; 0 leaves it out.
    lambda_r
        The weight of recombination: both codes are predicted from what is decoded from the common block of a background and the
        salient block of a target; 0 leaves it out.
    """

    beta_salient: Weight = 0.2
    lambda_s: Weight = 2.5
    lambda_z: Weight = 5.0
    lambda_r: Weight = 1.0
    name: ClassVar[str] = "recombining_vae"

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, self.batches, cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
        nets, widths = self.nets_["vae"], self.salient_widths
        z, s = infer(nets, batch)
        salient = split_salient(batch, s, widths)
        terms = elbo_terms(nets, batch.x, z, salient, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if self.lambda_s:
            terms["salient_penalty"] = self.lambda_s * salient_penalty(salient)
        if self.lambda_z:
            terms["w2"] = self.lambda_z * between_groups(w2_squared, batch, z.mu)
        if self.lambda_r:
            terms["recombination"] = self.lambda_r * recombination(nets, batch, z, salient, widths)
        yield "vae", terms


def recombination(nets: Autoencoder, batch: Batch, z: Posterior, salient: SalientPosteriors, widths: list[int]) -> Tensor:
    """Return -log q(z_y|r) - log q(s_x|r), where the i-th background gets the salient block of the i-th of each target."""
    *s_x, _ = batch.split_pools(salient.decoded.detach())

    def of_background(values: Tensor) -> Tensor:
        return batch.split_pools(values)[-1].repeat(len(s_x), *(1 for _ in values.shape[1:]))

    z_y, nets = of_background(z.sample.detach()), nets.given(nets.conditions.map(of_background))
    q_z, q_s = encode(nets, nets.mean(z_y, torch.cat(s_x)))
    missing = [len(s_x) * gaussian_learned(z_y, *q_z)]
    for target, one in enumerate(zip(*(values.chunk(len(s_x)) for values in q_s), s_x, strict=True)):
        for k, (mu, logvar, s) in enumerate(split_blocks(Posterior(*one), widths)):
            missing.append(gaussian_learned(s, mu, logvar) if k == target else second_moment(mu, logvar))
    return total(missing)
