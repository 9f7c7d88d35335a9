r"""ML-VAE: Bouchacourt, Tomioka and Nowozin, *Multi-Level Variational Autoencoder*, 2018 (Eq. 4 of Gabbay and Hoshen 2020).

For a group M of samples of one class,

$$L_M = \sum_{i \in M} \left[ -E \log p(x_i | s, c_i) + KL(q(c_i | x_i) \| N) \right] + KL(q(s | x_M) \| N), \quad
    q(s | x_M) \propto \prod_{i \in M} N(s; \mu(x_i), \sigma^2(x_i))$$

Letters: s the class code that a group shares, c the content code of a sample, N the standard normal. The precision of the
product is the sum of the precisions. A group is a set of `together` samples of one class; another set of the same class in the
batch is another group. One class code is drawn for a group. All networks are one player, as all minimise one sum.
Reductions: likelihood and KL terms are summed over dimensions; the sum over groups is divided by the number of samples.

Deviations
- At test time each sample is encoded on its own, as a set of one; its code is the posterior mean.
- Log-variances are bounded; vectors are standardised. The networks are those of `LORD`, as in Gabbay and Hoshen 2020.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from untwine.losses import gaussian, likelihood
from untwine.losses.classes import product_of_gaussians
from untwine.method.fields import Count, Positive
from untwine.method.presets import Preset
from untwine.methods.shared.class_content import ClassContent, baseline_presets
from untwine.networks.class_content import build_generator
from untwine.networks.pretrained import reconstruction
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class MLVAE(ClassContent):
    """Class and content from class labels: a VAE in which samples of one class share a code, by a product of posteriors.

    Parameters
    ----------
    together
        The number of samples of one class that share a class code in a step.
    scale
        The standard deviation of the Gaussian likelihood; images are in [0, 1], vectors standardised.
    loss
        The reconstruction loss: `l2` is the Gaussian likelihood, `l1` a Laplace likelihood of the same scale; `vgg16` and
        `squeezenet` replace its absolute errors by a distance between features of that network, whose weights must be in the
        data folder.
    """

    together: Count = 4
    scale: Positive = 0.16
    name: ClassVar[str] = "mlvae"
    papers: ClassVar[Mapping[str, Preset]] = baseline_presets("vgg16")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator and an encoder for each block, with log-variances."""
        self.check_build(shape, own)
        networks = {"generator": build_generator(self, shape, own)}
        widths = {block: 2 * width for block, width in self.blocks.items()}
        return nn.ModuleDict({**networks, **self.encoders(shape, own, widths)})

    def stages(self) -> Iterator[Stage]:
        """Train all networks together, on sets of samples of one class."""
        reconstruction.load_loss(self.loss)
        players = {"vae": Player([self.nets_[name] for name in ("generator", "class_encoder", "content_encoder")], self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes", together=self.together)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on the sum of L_M."""
        (s_mu, s_logvar), (c_mu, c_logvar) = self._infer(batch.x, "class"), self._infer(batch.x, "content")
        mu, logvar = product_of_gaussians(batch.sets(s_mu), batch.sets(s_logvar))
        # Every group needs one draw: of the noise of its samples the first is used.
        shared = gaussian.sample(mu, logvar, batch.sets(batch.noise(self.n_class))[0])
        s = shared.repeat(self.together, 1)
        c = gaussian.sample(c_mu, c_logvar, batch.noise(self.n_content))
        terms = {
            "reconstruction": self._nll(batch.x, self.nets_["generator"](s, c)),
            "kl_class": gaussian.kl(mu, logvar) / self.together,
            "kl_content": gaussian.kl(c_mu, c_logvar),
        }
        yield "vae", terms

    def _nll(self, x: Tensor, mean: Tensor) -> Tensor:
        """Return -log p(x|s, c); a feature distance replaces the absolute errors of a Laplace likelihood."""
        if self.loss == "l2":
            return likelihood.gaussian(x, mean, self.scale)
        if self.loss == "l1":
            return likelihood.laplace(x, mean, self.scale)
        return reconstruction.mean_loss(self.loss, mean, x) * x[0].numel() / self.scale

    def _infer(self, x: Tensor, block: str) -> tuple[Tensor, Tensor]:
        mu, logvar = self.nets_[f"{block}_encoder"](x).to(x.dtype).chunk(2, 1)
        return mu, gaussian.clamp_logvar(logvar)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the means of q(s|x) and q(c|x)."""
        return {block: self._infer(x, block)[0] for block in self.blocks}

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the standard deviations of q(s|x) and q(c|x)."""
        return {block: torch.exp(0.5 * self._infer(x, block)[1]) for block in self.blocks}
