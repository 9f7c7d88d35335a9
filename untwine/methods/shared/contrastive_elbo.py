r"""What contrastive VAEs share: the blocks common and salient, and the ELBO of both groups (Eq. 3).

$$E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)] + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]$$

The equation number is that of *Towards Principled Objectives*. Letters: x target, y background; z common, s salient; N the
standard normal. One encoder and one decoder serve both groups. Reductions: likelihood and KL terms are summed over
dimensions, mean over the samples of their group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from untwine.losses import gaussian
from untwine.method.fields import Count, Weight, Width
from untwine.method.inputs import Needs
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import GaussianVAE
from untwine.methods.shared.inferred import salient_width
from untwine.methods.shared.published_data import PRINCIPLED, presets
from untwine.networks.autoencoder import Autoencoder, Code
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.batches import Batch

# *Towards Principled Objectives* (appendix A.3): 16 + 8 dimensions and 6 layers for Grassy MNIST, 16 + 6 and 32 + 32 dimensions
# and 8 layers for faces; Adam with rate 0.001, batches of 128, beta = 2, and 200 epochs in its figure 6. It does not state the
# scale of the likelihood; this is one at which the posterior does not collapse.
_GRASS = {
    "n_common": 16,
    "n_salient": 8,
    "beta_common": 2.0,
    "beta_salient": 2.0,
    "scale": 0.16,
    "epochs": 200,
    "batch": 128,
    "lr": 1e-3,
    "networks": "layers6",
}
PRINCIPLED_PRESETS: Mapping[str, Preset] = {
    **presets(_GRASS, PRINCIPLED, ("grassy_mnist", "grassy_mnist_nonlinear")),
    "celeba_accessories": Preset({**_GRASS, "n_salient": 6, "networks": "layers8"}, PRINCIPLED["celeba_accessories"]),
    "affectnet": Preset({**_GRASS, "n_common": 32, "n_salient": 32, "networks": "layers8"}, PRINCIPLED["affectnet"]),
}


@dataclass(eq=False, kw_only=True)
class TwoBlockVAE(GaussianVAE):
    """A contrastive VAE but for its objective: an autoencoder `vae` with the blocks common and salient.

    Parameters
    ----------
    n_common
        The number of dimensions of the common block.
    n_salient
        The number of dimensions of the salient block; `auto` takes as many as `contrast_test` finds.
    beta_common
        The weight of the KL term of the common block.
    """

    n_common: Count = 8
    n_salient: Width = 8
    beta_common: Weight = 1.0
    needs: ClassVar[Needs] = "groups"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.n_common, "salient": self.resolve("n_salient")}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return the number of salient dimensions where it is left to the data."""
        return salient_width(self.n_salient, samples)


class Posterior(NamedTuple):
    """The posterior of one block for the samples of a step: means, log-variances, and a draw of each."""

    mu: Tensor
    logvar: Tensor
    sample: Tensor


def infer(nets: Autoencoder, batch: Batch) -> tuple[Posterior, Posterior]:
    """Encode a batch and draw from the posteriors of z and s."""
    z, s = nets.encode(batch.x).values()
    return draw(batch, z), draw(batch, s)


def draw(batch: Batch, code: Code) -> Posterior:
    """Draw from each sample's Gaussian."""
    return Posterior(*code, gaussian.sample(*code, batch.noise(code.mu.shape[1])))


def split_groups(batch: Batch, posterior: Posterior) -> tuple[Posterior, Posterior]:
    """Return the posteriors of the target's samples and of the background's."""
    target, background = zip(*map(batch.split_groups, posterior), strict=True)
    return Posterior(*target), Posterior(*background)


def gather_groups(batch: Batch, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes of all targets and of all backgrounds of the global batch, in its order."""
    target, background = batch.split_groups(codes)
    return distributed.gather(target), distributed.gather(background)


def elbo_terms(
    nets: Autoencoder, x: Tensor, z: Posterior, s_target: Posterior, *, beta_common: float, beta_salient: float
) -> dict[str, Tensor]:
    """Return the terms of Eq. 3; one whose weight is 0 is left out."""
    s = torch.cat([s_target.sample, torch.zeros_like(s_target.sample)])  # p(y | z, 0)
    # The groups have equally many samples, so the sum of their two means is twice the mean over all samples.
    terms = {"reconstruction": 2 * nets.reconstruction(x, z.sample, s)}
    if beta_common:
        terms["kl_common"] = beta_common * 2 * gaussian.kl(z.mu, z.logvar)
    if beta_salient:
        terms["kl_salient"] = beta_salient * gaussian.kl(s_target.mu, s_target.logvar)
    return terms
