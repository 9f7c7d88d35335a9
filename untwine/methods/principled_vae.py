r"""Principled contrastive VAE: *Towards Principled Objectives for Contrastive Disentanglement* (paper 000), Eqs. 7 and 8.

$$L = \underbrace{E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]}_{\text{Eq. 3}}
    + \lambda_s E_b[\|\mu_s(y)\|^2 + \|\sigma_s(y)\|^2] + \lambda_z W_2^2(q_t(z), q_b(z))$$

Letters: x target, y background; z common, s salient; N the standard normal; W2 the exact distance between the batch's codes.
The third term is Eq. 7's, the fourth Eq. 8's: `lambda_z=0` gives Eq. 7.
Reductions: likelihood, divergences and the silence of the background are summed over dimensions, mean over the rows of their
group. W2^2 is Eq. 9's: summed over dimensions, mean over the plan.

Deviations
- The two divergences are weighted apart. The paper has one beta = 2 for both; then z keeps what s should hold, for equal
  marginals do not forbid z to know s. Information goes where it is cheap: a dear z holds only what the background needs too.
- W2 is taken between the means of q(z|x) and q(z|y). Between samples, as small batches have them, most of it is the distance
  of noise to noise (14 between two sets of 128 rows from one N(0, I) in 16 dimensions), and it stays as it is when the
  target's z goes empty. Between means it is the term that keeps what both groups share in z, whatever s costs; it wants a
  larger weight than the paper's 1.
- The learning rate follows a cosine down to 0: at a constant rate Adam's noise leaves traces of s in unused dimensions of z.
- The scale of the likelihood, which the paper does not state, is a field.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import nn

from untwine.losses import gaussian
from untwine.losses.transport import w2_squared
from untwine.methods.shared.contrastive_bound import PAPER_000, TwoBlockVAE, both, bound, by_group, infer
from untwine.networks.autoencoder import Autoencoder
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage, cosine

PAPER = {data: {**setting, "lambda_s": 10.0, "lambda_z": 1.0} for data, setting in PAPER_000.items()}


@dataclass(eq=False, kw_only=True)
class PrincipledVAE(TwoBlockVAE):
    """Common and salient parts of a target against a background, with the objective of paper 000.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts; `n_salient="auto"` asks the data.
    beta_common, beta_salient
        The weights of their divergences.
    lambda_s
        How strongly the background's salient part is held at 0 (Eq. 7).
    lambda_z
        The weight of the Wasserstein term between the common parts of both groups (Eq. 8); 0 leaves it out.
    likelihood, scale
        What is said of x given both parts: `auto`, `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`.
    """

    beta_salient: float = 0.2
    lambda_s: float = 2.5
    lambda_z: float = 5.0
    scale: float = 0.32
    name: ClassVar[str] = "principled_vae"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = PAPER

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return encoder and decoder."""
        return nn.ModuleDict({"vae": Autoencoder(self, shape, own)})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together, both groups in every step."""
        players = {"vae": Player(self.nets_["vae"], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups", schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 8."""
        nets = self.nets_["vae"]
        z, s = infer(nets, batch)
        s_t, s_b = by_group(batch, s)
        terms = bound(nets, batch.x, z, s_t, beta_common=self.beta_common, beta_salient=self.beta_salient)  # Eq. 3
        if self.lambda_s:
            terms["silence"] = self.lambda_s * gaussian.second_moment(s_b.mu, s_b.logvar)
        if self.lambda_z:
            terms["w2"] = self.lambda_z * w2_squared(*both(batch, z.mu))
        yield "vae", terms
