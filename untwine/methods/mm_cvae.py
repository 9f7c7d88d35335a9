r"""MM-cVAE: Weinberger, Beebe-Wang and Lee, *Moment Matching Deep Contrastive Latent Variable Models*, 2022.

$$E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)] + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]
    + \lambda_z MMD^2(q_t(z), q_b(z)) + \lambda_s MMD^2(q_b(s), \delta_0)$$

Letters: x target, y background; z common, s salient; N the standard normal; q_t and q_b the distributions of a block over the
samples of target and background; delta_0 all mass at 0; MMD with a sum of Gaussian kernels exp(-gamma d^2).
Reductions: likelihood and KL terms are summed over dimensions, mean over the samples of their group. The authors add 10^4 and
10^3 times the MMD to sums over a batch of 128 samples, about 64 of each group: with our means that is 156 and 16. The default
of lambda_z is less: where the variation that both groups share is stronger in one of them, a large weight drives it out of z.

Deviations
- The estimate of the MMD is unbiased; `mmd="authors"` gives theirs, with their kernels. It keeps each sample's kernel with
  itself: for equal distributions it is then far above 0, and has a gradient where there is nothing to match.
- Four kernels, gamma = 0.001 to 1, for codes of about unit scale. The authors' thirteen go from 10^-6, which is flat, to 10^6,
  which is 0 unless samples coincide: no sample is close enough to 0, so that s keeps shrinking, the target's s with it, to a
  hundredth of its variance.
- Both groups are in every step; a mixed batch may have no background, and then the authors' loss is NaN.
- The two KL terms have weights of their own, as in `PrincipledVAE`, and the learning rate follows a cosine down to 0. The scale
  of the likelihood is smaller than there: with 0.32 a weak common block collapsed to the prior in half of the runs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from untwine.losses.mmd import mmd_squared
from untwine.method.fields import Weight
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import (
    PRINCIPLED_PRESETS,
    TwoBlockVAE,
    between_groups,
    elbo_terms,
    infer,
    split_salient,
    total,
)
from untwine.methods.shared.published_data import INFOGAN, INFOGAN_CODE
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage, cosine

# The kernels of each estimate, and whether it keeps the kernel of each sample with itself.
MMD = {"unbiased": ((0.001, 0.01, 0.1, 1.0), False), "authors": (tuple(10.0**k for k in range(-6, 7)), True)}
# The weights of MM-cVAE's authors, 10^4 and 10^3, for means over 64 samples of a group. On digits and AffectNet it has the
# networks of *Towards Principled Objectives*. On CelebA and CIFAR-MNIST it is the baseline of *Double InfoGAN* (tables 1 and
# 2): its authors' networks, 500 epochs, batches of 128 for both groups; for CIFAR-MNIST the paper has 10^2, the code 10^4.
_WEIGHTS = {"lambda_z": 1e4 / 64, "lambda_s": 1e3 / 64}
_FACES = {
    **_WEIGHTS,
    "n_common": 16,
    "n_salient": 6,
    "beta_common": 1.0,
    "beta_salient": 1.0,
    "scale": 0.16,
    "epochs": 500,
    "batch": 64,
    "lr": 1e-3,
    "networks": "conv_norm",
    "width": 32,
}
_OBJECTS = {**_FACES, "n_common": 64, "n_salient": 64, "lambda_z": 1e2 / 64}
PAPER: Mapping[str, Preset] = {
    **{data: preset.changed(**_WEIGHTS) for data, preset in PRINCIPLED_PRESETS.items()},
    "celeba_accessories": Preset(_FACES, INFOGAN["celeba_accessories"]),
    "cifar_mnist": Preset(_OBJECTS, INFOGAN["cifar_mnist"]),
}
AUTHORS: Mapping[str, Preset] = {
    "celeba_accessories": Preset({**_FACES, "mmd": "authors"}, INFOGAN_CODE["celeba_accessories"]),
    "cifar_mnist": Preset({**_OBJECTS, **_WEIGHTS, "mmd": "authors"}, INFOGAN_CODE["cifar_mnist"]),
}


@dataclass(eq=False, kw_only=True)
class MMcVAE(TwoBlockVAE):
    """Common and salient blocks of target and background, by matching the distributions of their codes (MMD).

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; below `beta_common`, variation of the target alone goes to s.
    lambda_z
        The weight of the MMD between the common codes of both groups.
    lambda_s
        The weight of the MMD between the background's salient codes and 0.
    mmd
        The estimate of both: `unbiased` with four kernels, or that of the `authors`' code, biased with thirteen.
    """

    beta_salient: Weight = 0.2
    lambda_z: Weight = 30.0
    lambda_s: Weight = 15.0
    mmd: Literal["unbiased", "authors"] = "unbiased"
    name: ClassVar[str] = "mm_cvae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER
    public_code: ClassVar[Mapping[str, Preset]] = AUTHORS

    def stages(self) -> Iterator[Stage]:
        """Train encoder and decoder together, with both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches=self.batches, schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
        nets, (gammas, biased) = self.nets_["vae"], MMD[self.mmd]
        z, s = infer(nets, batch)
        salient = split_salient(batch, s, self.salient_widths)
        terms = elbo_terms(nets, batch.x, z, salient, beta_common=self.beta_common, beta_salient=self.beta_salient)

        def mmd(a: Tensor, b: Tensor) -> Tensor:
            return mmd_squared(a, b, gammas, biased)

        if self.lambda_z:
            terms["mmd_common"] = self.lambda_z * between_groups(mmd, batch, z.sample)
        if self.lambda_s:
            off_target = [distributed.gather(one.sample) for one in salient.off_target]
            terms["mmd_salient"] = self.lambda_s * total(mmd(codes, torch.zeros_like(codes)) for codes in off_target)
        yield "vae", terms
