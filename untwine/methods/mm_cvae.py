r"""MM-cVAE: Weinberger, Beebe-Wang and Lee, *Moment Matching Deep Contrastive Latent Variable Models*, 2022.

$$E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)] + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]
    + \lambda_z MMD^2(q_t(z), q_b(z)) + \lambda_s MMD^2(q_b(s), \delta_0)$$

Letters: x target, y background; z common, s salient; N the standard normal; q_t and q_b the distributions of a part over the
rows of target and background; delta_0 all mass at 0; MMD with a sum of Gaussian kernels exp(-gamma d^2).
Reductions: likelihood and divergences are summed over dimensions, mean over the rows of their group. The authors add 10^4 and
10^3 times the MMD to sums over a batch of 128 rows, about 64 of each group: next to our means that is 156 and 16. The default
of lambda_z is less: where what both groups share is stronger in one of them, a large weight drives it out of z.

Deviations
- The estimate of the MMD is unbiased. The authors' keeps each sample's kernel with itself: for equal distributions it is then
  far above 0, and pulls where there is nothing to match.
- Four kernels, gamma = 0.001 to 1, for codes of about unit size. The authors' thirteen go from 10^-6, which is flat, to 10^6,
  which sees only samples that coincide: no sample is close enough to 0, so that the pull never ends and takes the target's s
  along, down to a hundredth of its variance.
- Both groups are in every step; a mixed batch may have no background, and then the authors' loss is not a number.
- The two divergences are weighted apart, as in `PrincipledVAE`, and the learning rate follows a cosine down to 0. The scale of
  the likelihood is smaller than there: with 0.32 a weak common part was not worth its divergence in half of the runs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import nn

from untwine.losses.mmd import mmd_squared
from untwine.methods.shared.contrastive_bound import PAPER_000, TwoBlockVAE, both, bound, by_group, infer
from untwine.networks.autoencoder import Autoencoder
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage, cosine

GAMMAS = (0.001, 0.01, 0.1, 1.0)
# Paper 000 compares all methods with its own networks; the weights are the authors', next to means over 64 rows of a group.
PAPER = {data: {**setting, "lambda_z": 1e4 / 64, "lambda_s": 1e3 / 64} for data, setting in PAPER_000.items()}


@dataclass(eq=False, kw_only=True)
class MMcVAE(TwoBlockVAE):
    """Common and salient parts of a target against a background, by matching the moments of their codes.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts; `n_salient="auto"` asks the data.
    beta_common, beta_salient
        The weights of their divergences.
    lambda_z
        How strongly the common parts of both groups are made alike.
    lambda_s
        How strongly the background's salient part is held at 0.
    likelihood, scale
        What is said of x given both parts: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    beta_salient: float = 0.2
    lambda_z: float = 30.0
    lambda_s: float = 15.0
    scale: float = 0.2
    name: ClassVar[str] = "mm_cvae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = PAPER

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together, both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups", schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
        nets = self.nets_["vae"]
        z, s = infer(nets, batch)
        s_t, s_b = by_group(batch, s)
        terms = bound(nets, batch.x, z, s_t, beta_common=self.beta_common, beta_salient=self.beta_salient)
        if self.lambda_z:
            terms["mmd_common"] = self.lambda_z * mmd_squared(*both(batch, z.sample), gammas=GAMMAS)
        if self.lambda_s:
            drawn = distributed.gather(s_b.sample)
            terms["mmd_salient"] = self.lambda_s * mmd_squared(drawn, torch.zeros_like(drawn), gammas=GAMMAS)
        yield "vae", terms
