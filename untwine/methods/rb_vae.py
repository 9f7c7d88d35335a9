r"""Rb-VAE: Ruiz et al., *Learning Disentangled Representations with Reference-Based VAEs*, 2018 (paper 001).

$$\min_{\theta, \psi, e^r} E_u[KL(q(z|x) \| N) + KL(q(e|x) \| N) - \log p(x|z, e)]
    + E_r[KL(q(z|x) \| N) - \log p(x|z, e^r)] \quad \text{(Eq. 3)}$$

Letters: u the target, r the background (the paper's unlabelled and reference rows); z common, e salient; N the standard normal;
e^r the learned reference vector, which every background is decoded with; psi the encoder, theta the decoder. p(x|z, e) is a
Laplace distribution with a fixed scale (Sec. 4.1). All is one player, for all minimise one sum.
Reductions: likelihood and divergences are summed over dimensions, mean over the rows of their group.

Deviations
- The two divergences are weighted apart; the paper has 1 for both. Equal weights leave it open which part holds what is the
  target's own; with a cheaper e it goes there.
- One encoder has both heads; the paper has one network for each part.
- Vectors have a Gaussian likelihood with learned variance by default, for which no scale must be known.
- Images are in [0, 1], not in [-1, 1]: the paper's scale 0.01 is 0.005 here. The default is larger: the less a pixel must
  be explained, the less of the target stays in z.
- The reference vector starts at 0, the centre of p(e); the paper does not say where.
- Log-variances are bounded; vectors are standardised.
"""

from __future__ import annotations

import copy
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.losses import gaussian
from untwine.method.fields import Count, Likelihood, Positive, Weight, Width
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.autoencoder import Autoencoder
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

BETAS = (0.5, 0.99)  # of Adam, as in the paper
PAPER = {
    "n_common": 32,
    "n_salient": 32,
    "beta_salient": 1.0,
    "likelihood": "laplace",
    "scale": 0.005,
    "batch": 36,
    "lr": 1e-4,
    "networks": "karras",
    "width": 32,
}


@dataclass(eq=False, kw_only=True)
class RbVAE(Trained):
    """Common and salient parts of a target against a background that has one learned salient code.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts; `n_salient="auto"` finds the second in the data.
    beta_common, beta_salient
        The weights of their divergences; the paper has 1 for both.
    likelihood, scale
        What is said of x given both parts: `gaussian_learned`, `gaussian` or `laplace` with a fixed scale, `bernoulli`. `auto`
        is `gaussian_learned` for vectors and, as in the paper, `laplace` for images.
    """

    n_common: Count = 8
    n_salient: Width = 8
    beta_common: Weight = 1.0
    beta_salient: Weight = 0.2
    likelihood: Likelihood = "auto"
    scale: Positive = 0.1
    name: ClassVar[str] = "rb_vae"
    needs: ClassVar[Needs] = "groups"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "digit_style": {**PAPER, "epochs": 30},
        "affectnet": {**PAPER, "epochs": 20},
    }

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.n_common, "salient": self.chosen("n_salient")}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder and the reference vector."""
        asks = copy.copy(self)
        if self.likelihood == "auto" and len(shape) == 3:
            asks.likelihood = "laplace"
        reference = nn.ParameterDict({"e": nn.Parameter(torch.zeros(self.blocks["salient"]))})
        return nn.ModuleDict({"vae": Autoencoder(asks, shape, own), "reference": reference})

    def stages(self) -> Iterator[Stage]:
        """Train all of it together, both groups in every step."""
        players = {"vae": Player([self.nets_["vae"], self.nets_["reference"]], self.lr, BETAS)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 3."""
        nets, e_r, x = self.nets_["vae"], self.nets_["reference"]["e"], batch.x
        (z_mu, z_logvar), (e_mu, e_logvar) = nets.encode(x).values()
        z = gaussian.sample(z_mu, z_logvar, batch.noise(self.blocks["common"]))
        e = gaussian.sample(e_mu, e_logvar, batch.noise(self.blocks["salient"]))
        (e_u, _), (mu_u, _), (logvar_u, _) = map(batch.split, (e, e_mu, e_logvar))
        e = torch.cat([e_u, e_r.expand_as(e_u)])  # p(x | z, e^r)
        # Both groups are equally many, so the sum of their two means is twice the mean over all rows.
        terms = {
            "reconstruction": 2 * nets.reconstruction(x, z, e),
            "kl_common": self.beta_common * 2 * gaussian.kl(z_mu, z_logvar),
            "kl_salient": self.beta_salient * gaussian.kl(mu_u, logvar_u),
        }
        yield "vae", terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the means of q(z|x) and q(e|x)."""
        return {name: code.mu for name, code in self.nets_["vae"].encode(x).items()}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|z, e)."""
        return self.nets_["vae"].mean(codes["common"], codes["salient"])  # type: ignore[no-any-return]

    def neutral(self) -> dict[str, Array]:
        """Return the reference vector: the salient part of every background."""
        return {"salient": self.nets_["reference"]["e"].detach().float().cpu().numpy()}
