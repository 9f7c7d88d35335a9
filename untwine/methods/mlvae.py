r"""ML-VAE: Bouchacourt, Tomioka and Nowozin, *Multi-Level Variational Autoencoder*, 2018 (Eq. 4 of paper 004).

For a group M of rows of one class,

$$L_M = \sum_{i \in M} \left[ -E \log p(x_i | s, c_i) + KL(q(c_i | x_i) \| N) \right] + KL(q(s | x_M) \| N), \quad
    q(s | x_M) \propto \prod_{i \in M} N(s; \mu(x_i), \sigma^2(x_i))$$

Letters: s the class code that a group shares, c the content code of a row, N the standard normal. The precision of the product
is the sum of the precisions. A group is a set of `together` rows of one class; another set of the same class in the batch is
another group. One code is drawn for a group. All is one player, for all minimise one sum.
Reductions: likelihood and divergences are summed over dimensions; the sum over groups is divided by the number of rows.

Deviations
- A single row is encoded by itself, as a group of one; its code is the mean.
- Log-variances are bounded; vectors are standardised. The networks are those of `LORD`, as in paper 004.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import gaussian, likelihood
from untwine.losses.classes import product_of_gaussians
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.class_content import MODULE_NAMES, build_encoder, build_generator
from untwine.networks.custom import check_module_names
from untwine.networks.pretrained import reconstruction
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class MLVAE(Trained):
    """Class and content from class labels: a VAE in which rows of one class share a code, the product of what each says.

    Parameters
    ----------
    n_class, n_content
        The widths of the two parts.
    together
        How many rows of one class share a code in a step.
    scale
        The deviation of the Gaussian likelihood; images are in [0, 1], vectors standardised.
    loss
        `l2` is that likelihood, `l1` a Laplace of the same scale; `vgg16` or `squeezenet` put the features of that
        network, whose weights must be there, in place of its absolute errors.
    """

    n_class: int = 16
    n_content: int = 16
    together: int = 4
    scale: float = 0.16
    loss: str = "l2"
    name: ClassVar[str] = "mlvae"
    needs: ClassVar[Needs] = "labels"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def check(self) -> None:
        """Refuse groups of no rows."""
        super().check()
        if self.together < 1:
            raise ValueError(f"together must be a whole number of at least 1; got {self.together}.")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator and an encoder for each part, with log-variances."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)
        nets = nn.ModuleDict({"generator": build_generator(self, shape, own)})
        for part, width in self.blocks.items():
            nets[f"{part}_encoder"] = build_encoder(part, 2 * width, self, shape, own)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Train all of it together, on sets of rows of one class."""
        reconstruction.load_loss(self.loss)
        players = {"vae": Player([self.nets_[name] for name in ("generator", "class_encoder", "content_encoder")], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes", together=self.together)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the sum of L_M."""
        (s_mu, s_logvar), (c_mu, c_logvar) = self._infer(batch.x, "class"), self._infer(batch.x, "content")
        mu, logvar = product_of_gaussians(batch.sets(s_mu), batch.sets(s_logvar))
        # Every group needs one draw; the rows' noise is there for all of them, and the first row's is taken.
        shared = gaussian.sample(mu, logvar, batch.sets(batch.noise(self.n_class))[0])
        s = shared.repeat(self.together, 1)
        c = gaussian.sample(c_mu, c_logvar, batch.noise(self.n_content))
        terms = {
            "reconstruction": self._unlikely(batch.x, self.nets_["generator"](s, c)),
            "kl_class": gaussian.kl(mu, logvar) / self.together,
            "kl_content": gaussian.kl(c_mu, c_logvar),
        }
        yield "vae", terms

    def _unlikely(self, x: Tensor, mean: Tensor) -> Tensor:
        """Return -log p(x|s, c); features stand in place of the absolute errors of a Laplace likelihood."""
        if self.loss == "l2":
            return likelihood.gaussian(x, mean, self.scale)
        if self.loss == "l1":
            return likelihood.laplace(x, mean, self.scale)
        return reconstruction.mean_loss(self.loss, mean, x) * x[0].numel() / self.scale

    def _infer(self, x: Tensor, part: str) -> tuple[Tensor, Tensor]:
        mu, logvar = self.nets_[f"{part}_encoder"](x).to(x.dtype).chunk(2, 1)
        return mu, gaussian.clamp_logvar(logvar)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the means of q(s|x) and q(c|x)."""
        return {part: self._infer(x, part)[0] for part in self.blocks}

    def spreads(self, x: Tensor) -> dict[str, Tensor]:
        """Return the deviations of q(s|x) and q(c|x)."""
        return {part: torch.exp(0.5 * self._infer(x, part)[1]) for part in self.blocks}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return the mean of p(x|s, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]
