r"""beta-TCVAE: Chen et al., *Isolating Sources of Disentanglement in Variational Autoencoders*, 2018.

$$L(\theta, \phi) = -E_{q(z|x) p(x)} \log p(x|z) + \alpha I_q(z; x) + \beta KL(q(z) \| \textstyle\prod_j q(z_j))
    + \gamma \sum_j KL(q(z_j) \| p(z_j))$$

Letters: z the codes, with p(z) = N(0, I); q(z|x) = N(mu, sigma^2) by the encoder; q(z) the mean of q(z|x) over the data. The
last three terms are the mutual information of a sample and its codes, the total correlation of the codes, and the KL of each
dimension's marginal from its prior; with alpha = beta = gamma = 1 they are the KL term of a VAE.
Reductions: the likelihood is summed over dimensions, mean over samples; the other terms are means over samples of one drawn z
each, with q(z) and q(z_j) estimated from the batch by minibatch stratified sampling (appendix C.2).

Deviations
- The authors' code puts the weight 1/N of a sample's own q(z|x), which belongs on the diagonal of the weights, into their first
  column; here it is where the paper has it.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from untwine.losses import gaussian, total_correlation
from untwine.method.fields import Weight
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import OneBlockVAE
from untwine.methods.shared.published_data import UNSUPERVISED, presets
from untwine.methods.shared.unsupervised_presets import ruiz_presets
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move

SHAPES = {
    "beta": 6.0,
    "n_latent": 10,
    "likelihood": "bernoulli",
    "batch": 64,
    "lr": 1e-4,
    "networks": "conv64",
}
# On AffectNet it is a baseline of *Towards Principled Objectives* (table 2), with the networks of Ruiz et al. 2018; beta is not
# stated.
PAPER = {
    **presets(SHAPES, UNSUPERVISED, ("dsprites", "dsprites_redrawn")),
    "affectnet": ruiz_presets(faces={"beta": 6.0})["affectnet"],
}


@dataclass(eq=False, kw_only=True)
class BetaTCVAE(OneBlockVAE):
    """VAE whose KL term is decomposed, with a larger weight on the total correlation: one latent block, no supervision.

    Parameters
    ----------
    alpha
        The weight of the mutual information of samples and codes; with alpha, beta and gamma 1 it is a VAE.
    beta
        The weight of the total correlation of the codes.
    gamma
        The weight of the KL of each dimension's marginal from its prior.
    """

    alpha: Weight = 1.0
    beta: Weight = 6.0
    gamma: Weight = 1.0
    name: ClassVar[str] = "beta_tcvae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
        nets, x = self.nets_["vae"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, batch.noise(self.n_latent))
        weights = (self.alpha, self.beta, self.gamma)
        kl_terms = self._kl_terms(z, mu, logvar)._asdict()
        terms = {"reconstruction": nets.reconstruction(x, z)}
        yield "vae", terms | {name: w * term for (name, term), w in zip(kl_terms.items(), weights, strict=True) if w}

    def _kl_terms(self, z: Tensor, mu: Tensor, logvar: Tensor) -> total_correlation.KLTerms:
        """Return the three terms, with q(z) at this process's codes estimated from the samples of all processes."""
        all_mu, all_logvar = distributed.gather(mu), distributed.gather(logvar)
        n = len(all_mu)
        log_weights = total_correlation.log_importance_weights(n, self.data_["rows"])[distributed.share(n)].to(z)
        return total_correlation.kl_decomposition(z, mu, logvar, all_mu, all_logvar, log_weights)
