r"""Principled contrastive VAE: *Towards Principled Objectives for Contrastive Disentanglement*, Eqs. 7 and 8.

$$L = \underbrace{E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]}_{\text{Eq. 3}}
    + \lambda_s E_b[\|\mu_s(y)\|^2 + \|\sigma_s(y)\|^2] + \lambda_z W_2^2(q_t(z), q_b(z))$$

Letters: x target, y background; z common, s salient; N the standard normal; W2 the exact distance between the batch's codes.
The third term is Eq. 7's, the fourth Eq. 8's: `lambda_z=0` gives Eq. 7.
Reductions: likelihood, KL terms and the background salient penalty are summed over dimensions, mean over the samples of their
group. W2^2 is Eq. 9's: summed over dimensions, mean over the plan.

With `salient="per_target"`, targets x^1, ..., x^K and a block s_k for each, Eq. 6 adds the bounds of K + 1 data sets, in each
of which all salient blocks but its own have the prior delta{s = 0} (`untwine.methods.shared.contrastive_elbo`):

$$L = \sum_k E_k[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s_k|x) \| N) - \log p(x|z, s_k)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]$$
$$\quad + \lambda_s \sum_k \Big( E_b + \sum_{j \neq k} E_j \Big) [\|\mu_{s_k}\|^2 + \|\sigma_{s_k}\|^2]
    + \lambda_z \sum_k W_2^2(q_k(z), q_b(z))$$

With `pairs`, where the i-th target x_i and the i-th background y_i of a step are of one source, such as a patient before and
after, the plan of Eq. 9 is given and not searched: the last term is lambda_z mean_i |z(x_i) - z(y_i)|^2, at least W2^2.

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

import numpy as np
from torch import Tensor

from untwine.losses.transport import w2_squared
from untwine.method.fields import Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import (
    PRINCIPLED_PRESETS,
    TwoBlockVAE,
    between_groups,
    elbo_terms,
    infer,
    salient_penalty,
    split_salient,
)
from untwine.samples import BACKGROUND, Samples
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
    pairs
        Whether every target has background samples of its own source (`Samples.sources`): a step then draws a target with one
        of them, and pulls their common codes together in place of the Wasserstein distance.
    """

    beta_salient: Weight = 0.2
    lambda_s: Weight = 2.5
    lambda_z: Weight = 5.0
    w2_of: Literal["means", "samples"] = "means"
    schedule: Literal["cosine", "constant"] = "cosine"
    pairs: bool = False
    name: ClassVar[str] = "principled_vae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER

    def check(self) -> None:
        """Refuse pairs with a salient block for each target: a background sample would be the partner of several."""
        super().check()
        if self.pairs and self.salient != "shared":
            raise ValueError("PrincipledVAE: pairs=True needs salient='shared'; got 'per_target'; choose one of both.")

    def infer(self, samples: Samples) -> dict[str, Any]:
        """Refuse samples that are not paired where they must be, and return what the blocks depend on."""
        if self.pairs:
            require_pairs(samples)
        return super().infer(samples)

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        schedule = cosine if self.schedule == "cosine" else None
        batches = "pairs" if self.pairs else self.batches
        yield Stage("training", self.epochs, players, self.step, self.batch, batches, schedule)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 8."""
        nets = self.nets_["vae"]
        z, s = infer(nets, batch)
        salient = split_salient(batch, s, self.salient_widths)
        terms = elbo_terms(nets, batch.x, z, salient, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if self.lambda_s:
            terms["salient_penalty"] = self.lambda_s * salient_penalty(salient)
        if self.lambda_z:
            codes = z.mu if self.w2_of == "means" else z.sample
            terms["w2"] = self.lambda_z * (self._pair_distance if self.pairs else self._w2)(batch, codes)
        yield "vae", terms

    def _w2(self, batch: Batch, codes: Tensor) -> Tensor:
        """Return Eq. 9 for the background and each target, summed over targets."""
        return between_groups(w2_squared, batch, codes)

    def _pair_distance(self, batch: Batch, codes: Tensor) -> Tensor:
        """Return Eq. 9 with the plan that the pairs give."""
        target, background = batch.split_pools(codes)
        return (target - background).square().sum(1).mean()


def require_pairs(samples: Samples) -> None:
    """Refuse samples with a target that has no background sample of its source."""
    if samples.sources is None:
        raise ValueError("pairs=True needs the source of every sample; got none; pass Samples(..., sources=...).")
    background = samples.sources[samples.groups == BACKGROUND]
    alone = ~np.isin(samples.sources[samples.groups != BACKGROUND], background)
    if alone.any():
        raise ValueError(
            f"pairs=True needs a background sample of every target's source; {int(alone.sum())} of {len(alone)} targets have "
            "none; leave those out."
        )
