r"""beta-TCVAE: Chen et al., *Isolating Sources of Disentanglement in Variational Autoencoders*, 2018.

$$L(\theta, \phi) = -E_{q(z|x) p(x)} \log p(x|z) + \alpha I_q(z; x) + \beta KL(q(z) \| \textstyle\prod_j q(z_j))
    + \gamma \sum_j KL(q(z_j) \| p(z_j))$$

Letters: z the codes, with p(z) = N(0, I); q(z|x) = N(mu, sigma^2) by the encoder; q(z) the mean of q(z|x) over the data. The
last three terms are the mutual information of a row and its codes, the total correlation of the codes, and the divergence of
each code's distribution from its prior; with alpha = beta = gamma = 1 they are the divergence of a VAE.
Reductions: the likelihood is summed over dimensions, mean over rows; the other terms are means over rows of one drawn z each,
with q(z) and q(z_j) estimated from the batch by minibatch stratified sampling (appendix C.2).

Deviations
- The authors' code puts the weight 1/N of a row's own q(z|x), which belongs on the diagonal of the weights, into their first
  column; here it is where the paper has it.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from untwine.losses import gaussian, total_correlation
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

SHAPES = {
    "beta": 6.0,
    "n_latent": 10,
    "likelihood": "bernoulli",
    "batch": 64,
    "lr": 1e-4,
    "networks": "conv64",
}


@dataclass(eq=False, kw_only=True)
class BetaTCVAE(Trained):
    """VAE whose divergence is taken apart, so that dependence between codes alone counts more: one block, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    alpha, beta, gamma
        The weights of the mutual information of rows and codes, of the total correlation of the codes, and of the divergence of
        each code from its prior; all 1 is a VAE.
    likelihood, scale
        What is said of x given z: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_latent: int = 10
    alpha: float = 1.0
    beta: float = 6.0
    gamma: float = 1.0
    likelihood: str = "auto"
    scale: float = 0.16
    name: ClassVar[str] = "beta_tcvae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(("dsprites", "dsprites_redrawn"), SHAPES)

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together."""
        yield Stage("training", self.epochs, {"vae": Player(self.nets_["vae"], self.lr)}, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the objective."""
        nets, x = self.nets_["vae"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, batch.noise(self.n_latent))
        weights = (self.alpha, self.beta, self.gamma)
        parts = self._parts(z, mu, logvar)._asdict()
        terms = {"reconstruction": nets.reconstruction(x, z)}
        yield "vae", terms | {name: w * part for (name, part), w in zip(parts.items(), weights, strict=True) if w}

    def _parts(self, z: Tensor, mu: Tensor, logvar: Tensor) -> total_correlation.KLTerms:
        """Estimate q(z) at this process's codes from the rows of all processes."""
        all_mu, all_logvar = distributed.gather(mu), distributed.gather(logvar)
        rows = len(all_mu)
        log_weights = total_correlation.log_importance_weights(rows, self.data_["rows"])[distributed.share(rows)].to(z)
        return total_correlation.kl_decomposition(z, mu, logvar, all_mu, all_logvar, log_weights)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the mean of q(z|x)."""
        return {"z": self.nets_["vae"].encode(x)["z"].mu}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z)."""
        return self.nets_["vae"].mean(codes["z"])  # type: ignore[no-any-return]
