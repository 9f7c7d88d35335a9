r"""What contrastive VAEs share: two parts of codes, and the bound that both groups set on them (Eq. 3 of paper 000).

$$E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)] + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]$$

Letters: x target, y background; z common, s salient; N the standard normal. One encoder and one decoder serve both groups.
Reductions: likelihood and divergences are summed over dimensions, mean over the rows of their group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from untwine.losses import gaussian
from untwine.method.fields import Count, Likelihood, Positive, Weight, Width
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder, Code
from untwine.training import distributed
from untwine.training.batches import Batch

# Paper 000 (appendix A.3): 16 + 8 codes and 6 layers for Grassy MNIST, 16 + 6 and 32 + 32 codes and 8 layers for faces; Adam
# with rate 0.001, batches of 128, beta = 2, and 200 epochs in its figure 6. The scale of the likelihood, which it does not
# state, is one at which the codes do not collapse.
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
PAPER_000: Mapping[str, Mapping[str, Any]] = {
    "grassy_mnist": _GRASS,
    "grassy_mnist_nonlinear": _GRASS,
    "celeba_accessories": {**_GRASS, "n_salient": 6, "networks": "layers8"},
    "affectnet": {**_GRASS, "n_common": 32, "n_salient": 32, "networks": "layers8"},
}


@dataclass(eq=False, kw_only=True)
class TwoBlockVAE(Trained):
    """A contrastive VAE but for its objective: an autoencoder `vae` with the blocks common and salient."""

    n_common: Count = 8
    n_salient: Width = 8
    beta_common: Weight = 1.0
    beta_salient: Weight = 1.0
    likelihood: Likelihood = "auto"
    scale: Positive = 0.16
    needs: ClassVar[Needs] = "groups"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.n_common, "salient": self.chosen("n_salient")}

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the means of q(z|x) and q(s|x)."""
        return {name: code.mu for name, code in self.nets_["vae"].encode(x).items()}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z, s)."""
        return self.nets_["vae"].mean(codes["common"], codes["salient"])  # type: ignore[no-any-return]


class Part(NamedTuple):
    """One part of the codes of a step's rows: their Gaussians' means and log-variances, and a sample of each."""

    mu: Tensor
    logvar: Tensor
    sample: Tensor


def infer(nets: Autoencoder, batch: Batch) -> tuple[Part, Part]:
    """Encode a batch and draw from both parts: z and s."""
    z, s = nets.encode(batch.x).values()
    return draw(batch, z), draw(batch, s)


def draw(batch: Batch, code: Code) -> Part:
    """Draw a sample of each row's Gaussian."""
    return Part(*code, gaussian.sample(*code, batch.noise(code.mu.shape[1])))


def by_group(batch: Batch, part: Part) -> tuple[Part, Part]:
    """Return one part of the target's rows and of the background's."""
    target, background = zip(*map(batch.split, part), strict=True)
    return Part(*target), Part(*background)


def both(batch: Batch, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes of all targets and of all backgrounds of the global batch, in its order."""
    target, background = batch.split(codes)
    return distributed.gather(target), distributed.gather(background)


def bound(
    nets: Autoencoder, x: Tensor, z: Part, s_target: Part, *, beta_common: float, beta_salient: float
) -> dict[str, Tensor]:
    """Return the terms of Eq. 3; one whose weight is 0 is left out."""
    s = torch.cat([s_target.sample, torch.zeros_like(s_target.sample)])  # p(y | z, 0)
    # Both groups are equally many, so the sum of their two means is twice the mean over all rows.
    terms = {"reconstruction": 2 * nets.reconstruction(x, z.sample, s)}
    if beta_common:
        terms["kl_common"] = beta_common * 2 * gaussian.kl(z.mu, z.logvar)
    if beta_salient:
        terms["kl_salient"] = beta_salient * gaussian.kl(s_target.mu, s_target.logvar)
    return terms
