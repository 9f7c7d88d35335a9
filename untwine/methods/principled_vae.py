r"""Principled contrastive VAE: *Towards Principled Objectives for Contrastive Disentanglement*, Eqs. 7 and 8.

$$L = \underbrace{E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]}_{\text{Eq. 3}}
    + \lambda_s E_b[\|\mu_s(y)\|^2 + \|\sigma_s(y)\|^2] + \lambda_z W_2^2(q_t(z), q_b(z))$$

Letters: x target, y background; z common, s salient; N the standard normal; W2 the exact distance between the batch's codes.
The third term is Eq. 7's, the fourth Eq. 8's: `lambda_z=0` gives Eq. 7.
Reductions: likelihood, KL terms and the background salient penalty are summed over dimensions, mean over the samples of their
group. W2^2 is Eq. 9's: summed over dimensions, mean over the plan.

Deviations
- The two KL terms have weights of their own. The paper has one beta = 2 for both; then z keeps what s should hold, as equal
  marginals do not prevent z from encoding s. Information goes to the lightly penalised block: a heavily penalised z encodes
  only what the background needs too.
- W2 is taken between the means of q(z|x) and q(z|y); `w2_of="samples"` takes it between samples, as the paper does. Between
  samples in small batches most of it is the distance between two
  draws of noise (14 between two sets of 128 samples of one N(0, I) in 16 dimensions), and it stays the same when the target's z
  collapses. Between means it is the term that keeps what both groups share in z, whatever the penalty of s; it needs a larger
  weight than the paper's 1.
- The learning rate follows a cosine down to 0: at a constant rate (`schedule="constant"`, as in the paper) Adam's noise leaves
  traces of s in unused dimensions of z.
- The scale of the likelihood, which the paper does not state, is a field.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from untwine.losses import gaussian
from untwine.losses.transport import w2_squared
from untwine.method.fields import Positive, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import (
    PRINCIPLED_PRESETS,
    TwoBlockVAE,
    elbo_terms,
    gather_groups,
    infer,
    split_groups,
)
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage, cosine

EQ_8: Mapping[str, Any] = {"lambda_s": 10.0, "lambda_z": 1.0, "w2_of": "samples", "schedule": "constant"}
PAPER = {data: preset.changed(**EQ_8) for data, preset in PRINCIPLED_PRESETS.items()}


@dataclass(eq=False, kw_only=True)
class PrincipledVAE(TwoBlockVAE):
    """Common and salient blocks of target and background, with the objective of *Towards Principled Objectives*.

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; below `beta_common`, variation of the target alone goes to s.
    lambda_s
        The weight of the background salient penalty, which pulls the background's salient codes to 0 (Eq. 7).
    lambda_z
        The weight of the Wasserstein distance between the common codes of both groups (Eq. 8); 0 leaves it out.
    w2_of
        What this distance is taken between: the posterior `means`, or one draw of each posterior (`samples`), as in Eq. 8.
    schedule
        The learning rate over training: a `cosine` down to 0, or `constant`.
    """

    beta_salient: Weight = 0.2
    lambda_s: Weight = 2.5
    lambda_z: Weight = 5.0
    scale: Positive = 0.32
    w2_of: Literal["means", "samples"] = "means"
    schedule: Literal["cosine", "constant"] = "cosine"
    name: ClassVar[str] = "principled_vae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        schedule = cosine if self.schedule == "cosine" else None
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups", schedule=schedule)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 8."""
        nets = self.nets_["vae"]
        z, s = infer(nets, batch)
        s_t, s_b = split_groups(batch, s)
        terms = elbo_terms(nets, batch.x, z, s_t, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if self.lambda_s:
            terms["salient_penalty"] = self.lambda_s * gaussian.second_moment(s_b.mu, s_b.logvar)
        if self.lambda_z:
            codes = z.mu if self.w2_of == "means" else z.sample
            terms["w2"] = self.lambda_z * w2_squared(*gather_groups(batch, codes))
        yield "vae", terms
