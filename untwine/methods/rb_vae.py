r"""Rb-VAE: Ruiz et al., *Learning Disentangled Representations with Reference-Based VAEs*, 2018.

$$\min_{\theta, \psi, e^r} E_u[KL(q(z|x) \| N) + KL(q(e|x) \| N) - \log p(x|z, e)]
    + E_r[KL(q(z|x) \| N) - \log p(x|z, e^r)] \quad \text{(Eq. 3)}$$

Letters: u the target, r the background (the paper's unlabelled and reference samples); z common, e salient; N the standard
normal; e^r the learned reference vector, with which every background is decoded; psi the encoder, theta the decoder. p(x|z, e)
is a Laplace distribution with a fixed scale (Sec. 4.1). All parameters are one player, as all minimise one sum.
Reductions: likelihood and KL terms are summed over dimensions, mean over the samples of their group.

Deviations
- The two KL terms have weights of their own; the paper has 1 for both. Equal weights leave open which block encodes the
  variation of the target alone; with a lightly penalised e it goes there.
- One encoder has both heads by default; `trunks="separate"` is the paper's, with one network for each block.
- Vectors have a Gaussian likelihood with learned variance by default, which needs no scale.
- Images are in [0, 1], not in [-1, 1]: the paper's scale 0.01 is 0.005 here. The default is larger: the less
  precisely pixels must be reconstructed, the less of the target stays in z.
- The reference vector starts at 0, the centre of p(e); the paper does not say where.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from untwine.losses import gaussian
from untwine.method.fields import Weight
from untwine.method.presets import Preset
from untwine.methods.shared.reference_vae import BETAS, ReferenceVAE, paper_presets
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class RbVAE(ReferenceVAE):
    """Common and salient blocks of target and background, where all backgrounds have one learned salient code.

    Parameters
    ----------
    beta_salient
        The weight of the KL term of the salient block; the paper has 1 for both blocks.
    """

    beta_salient: Weight = 0.2
    name: ClassVar[str] = "rb_vae"
    papers: ClassVar[Mapping[str, Preset]] = paper_presets(beta_salient=1.0)

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the reference vector."""
        reference = self.reference()
        return nn.ModuleDict({"vae": self.autoencoder(shape, own), "reference": reference})

    def stages(self) -> Iterator[Stage]:
        """Train all parameters together, with both groups in every step."""
        players = {"vae": Player([self.nets_["vae"], self.nets_["reference"]], self.lr, BETAS)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 3."""
        nets, e_r, x = self.nets_["vae"], self.nets_["reference"]["e"], batch.x
        (z_mu, z_logvar), (e_mu, e_logvar) = nets.encode(x).values()
        z = gaussian.sample(z_mu, z_logvar, batch.noise(self.blocks["common"]))
        e = gaussian.sample(e_mu, e_logvar, batch.noise(self.blocks["salient"]))
        (e_u, _), (mu_u, _), (logvar_u, _) = map(batch.split_groups, (e, e_mu, e_logvar))
        e = torch.cat([e_u, e_r.expand_as(e_u)])  # p(x | z, e^r)
        # The groups have equally many samples, so the sum of their two means is twice the mean over all samples.
        terms = {
            "reconstruction": 2 * nets.reconstruction(x, z, e),
            "kl_common": self.beta_common * 2 * gaussian.kl(z_mu, z_logvar),
            "kl_salient": self.beta_salient * gaussian.kl(mu_u, logvar_u),
        }
        yield "vae", terms
