r"""DIP-VAE: Kumar et al., *Variational Inference of Disentangled Latent Concepts from Unlabeled Observations*, 2018.

Equations have the numbers of paper 002.

$$\max ELBO - \lambda_{od} \sum_{i \ne j} C_{ij}^2 - \lambda_d \sum_i (C_{ii} - 1)^2 - \lambda_3 \sum_{ijk} T_{ijk}^2$$
$$C = Cov_{p(x)}[\mu(x)] \quad \text{(I, Eq. 6)}, \qquad
  C = Cov_{q(z)}[z] = E_{p(x)}[\Sigma(x)] + Cov_{p(x)}[\mu(x)] \quad \text{(II, Eqs. 5 and 7)}$$

Letters: z the codes, with p(z) = N(0, I); q(z|x) = N(mu, Sigma), Sigma diagonal; q(z) the mean of q(z|x) over p(x); T the
third central moments of the same distribution as C: of the means (I), of q(z) (II).
Reductions: likelihood and divergence are summed over dimensions, mean over rows; C and T are means over all rows of the batch
(divided by their number), their penalties sums over all entries.

Deviations
- The paper penalises the l2 norm of third central moments and leaves open whether it is squared and which moments count: here
  it is squared, as for the covariances, and every (i, j, k) counts, so T_112 three times. T is a closed form of mu and Sigma.
- With `start` above 1, which the paper does not have, all three weights begin that many times as strong: they stay so for a
  third of training, fall by the same factor in every step of the second third, and are as given in the last.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from untwine.losses import gaussian, latent_moments
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

VARIANTS = ("i", "ii")
SHAPES = {  # the row of table 1 with the highest SAP; its other II has 5 for 500, I has lambda_od=10, lambda_d=100
    "variant": "ii",
    "lambda_od": 500.0,
    "lambda_d": 500.0,
    "lambda_third": 200.0,
    "n_latent": 10,
    "likelihood": "bernoulli",
    "batch": 400,
    "lr": 1e-4,
    "networks": "conv64",
}
FACES = {  # I, which the paper expects to suit real images; its IIs have lambda_od 1 and 80, lambda_d half of it
    "variant": "i",
    "lambda_od": 2.0,
    "lambda_d": 100.0,
    "n_latent": 32,
    "likelihood": "gaussian",
    "batch": 100,
    "lr": 1e-4,
    "networks": "conv64",
}


@dataclass(eq=False, kw_only=True)
class DIPVAE(Trained):
    """VAE whose codes have the covariance of independent ones: one block of codes, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    variant
        `i` asks it of the means of the codes, which keeps every code in use; `ii` of the codes themselves, noise included,
        which lets codes that are not needed go silent.
    lambda_od, lambda_d
        The weights of the covariances, which should be 0, and of the variances, which should be 1.
    lambda_third
        The weight of the third central moments, which should be 0 as well.
    start
        How many times as strong these weights are at first; 1 keeps them as they are, as the paper does.
    likelihood, scale
        What is said of x given z: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    n_latent: int = 10
    variant: str = "ii"
    lambda_od: float = 10.0
    lambda_d: float = 10.0
    lambda_third: float = 0.0
    start: float = 1.0
    likelihood: str = "auto"
    scale: float = 0.16
    name: ClassVar[str] = "dip_vae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "dsprites": SHAPES,
        "dsprites_redrawn": SHAPES,
        "celeba": FACES,
    }

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        if self.variant not in VARIANTS:
            raise ValueError(
                f"variant expected 'i' (covariance of the means) or 'ii' (of the codes); got {self.variant!r}; choose one."
            )
        if self.start < 1:
            raise ValueError(f"start must be a number of at least 1 (1 keeps all weights as they are); got {self.start!r}.")
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together."""
        yield Stage("training", self.epochs, {"vae": Player(self.nets_["vae"], self.lr)}, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 6 or Eq. 7."""
        nets, x = self.nets_["vae"], batch.x
        mu, logvar = nets.encode(x)["z"]
        z = gaussian.sample(mu, logvar, batch.noise(self.n_latent))
        terms = {"reconstruction": nets.reconstruction(x, z), "kl": gaussian.kl(mu, logvar)}
        factor = self.start ** min(1.0, max(0.0, 2.0 - 3.0 * batch.done))
        yield "vae", terms | {name: factor * penalty for name, penalty in self.penalties(mu, logvar).items()}

    def penalties(self, mu: Tensor, logvar: Tensor) -> dict[str, Tensor]:
        """Return the weighted penalties on the moments of all codes of the batch; one whose weight is 0 is left out."""
        mu, terms = distributed.gather(mu), {}
        logvar = logvar if self.variant == "i" else distributed.gather(logvar)
        c = latent_moments.covariance_of_means(mu) if self.variant == "i" else latent_moments.covariance_of_samples(mu, logvar)
        if self.lambda_od:
            terms["off_diagonal"] = self.lambda_od * latent_moments.off_diagonal_penalty(c)
        if self.lambda_d:
            terms["diagonal"] = self.lambda_d * latent_moments.diagonal_penalty(c)
        if self.lambda_third:
            third = (
                latent_moments.third_moments_of_means(mu)
                if self.variant == "i"
                else latent_moments.third_moments_of_samples(mu, logvar)
            )
            terms["third_moments"] = self.lambda_third * third.square().sum()
        return terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the mean of q(z|x)."""
        return {"z": self.nets_["vae"].encode(x)["z"].mu}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z)."""
        return self.nets_["vae"].mean(codes["z"])  # type: ignore[no-any-return]
