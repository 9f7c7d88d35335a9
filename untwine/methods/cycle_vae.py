r"""Cycle-VAE: Jha, Anand, Singh and Veeravasarapu, *Disentangling Factors of Variation with Cycle-Consistent VAEs*, 2018.

Forward, for pairs x, x' of one class:

$$\min_{E, G} w_x \|G(E_s(x'), c) - x\|^2 + w_{kl} KL(q(c|x) \| N), \quad c \sim q(c|x)$$

Reverse, for samples x, x'' of any classes and one drawn content c ~ N:

$$\min_{E} w_{cycle} \|E_c(G(E_s(x), c)) - E_c(G(E_s(x''), c))\|_1$$

Letters: s the class code, c the content code with its mean and log-variance, N the standard normal. The forward cycle updates
encoders and generator, the reverse cycle the encoders alone. Each sample of the batch is x once in the forward cycle; in the
reverse cycle the first samples of the pairs get a partner half a batch away.
Reductions: means over elements and samples; the KL is summed over dimensions and divided by the elements of a sample, as in the
authors' code.

Deviations
- One Adam for the encoders in both cycles; the authors' code has a second one for the reverse cycle.
- Log-variances are bounded; vectors are standardised. The networks are those of `LORD`, as in Gabbay and Hoshen 2020.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.losses import gaussian
from untwine.method.fields import Weight
from untwine.method.presets import Preset
from untwine.methods.shared.class_content import ClassContent, baseline_presets
from untwine.networks.class_content import build_generator
from untwine.networks.norm import freeze_running_stats
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class CycleVAE(ClassContent):
    """Class and content from class labels: samples of one class swap class codes, and drawn contents are recovered.

    Parameters
    ----------
    w_reconstruction
        The weight of the forward cycle's reconstruction loss.
    w_kl
        The weight of the forward cycle's KL term.
    w_cycle
        The weight of the reverse cycle; 0 leaves it out.
    """

    w_reconstruction: Weight = 2.0
    w_kl: Weight = 3.0
    w_cycle: Weight = 10.0
    name: ClassVar[str] = "cycle_vae"
    papers: ClassVar[Mapping[str, Preset]] = baseline_presets("vgg16")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator and both encoders, that of content with log-variances."""
        self.check_build(shape, own)
        encoders = self.encoders(shape, own, {"class": self.n_class, "content": 2 * self.n_content})
        return nn.ModuleDict({"generator": build_generator(self, shape, own), **encoders})

    def stages(self) -> Iterator[Stage]:
        """Take both cycles in every step, on pairs of one class."""
        reconstruction.load_loss(self.loss)
        encoders = [self.nets_["class_encoder"], self.nets_["content_encoder"]]
        players = {"generator": Player(self.nets_["generator"], self.lr), "encoders": Player(encoders, self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update all players on the forward cycle, then the encoders on the reverse one."""
        nets, x = self.nets_, batch.x
        s, (mu, logvar) = nets["class_encoder"](x).to(x.dtype), self._content(x)
        first, second = batch.split_pairs(s)
        decoded = nets["generator"](torch.cat([second, first]), gaussian.sample(mu, logvar, batch.noise(self.n_content)))
        terms = {"reconstruction": self.w_reconstruction * reconstruction.mean_loss(self.loss, decoded, x)}
        if self.w_kl:
            terms["kl"] = self.w_kl * gaussian.kl(mu, logvar) / math.prod(x.shape[1:])
        yield ("generator", "encoders"), terms
        if self.w_cycle:
            yield "encoders", {"cycle": self.w_cycle * self._cycle(batch)}

    def _cycle(self, batch: Batch) -> Tensor:
        """Return the L1 distance between the content codes of two samples generated from one content and different classes."""
        x, _ = batch.split_pairs(batch.x)
        c, _ = batch.split_pairs(batch.noise(self.n_content))
        first = self.given(batch.pair_conditions()[0])
        s = first.nets_["class_encoder"](x).to(x.dtype)
        # The partner half a batch away may be a sample of another process.
        all_s = distributed.gather(s)
        partner = all_s.roll(len(all_s) // 2, 0)[distributed.share(len(all_s))]
        with freeze_running_stats(self.nets_):  # these samples are generated
            one, other = (first._content(first.nets_["generator"](code, c))[0] for code in (s, partner))
        return functional.l1_loss(one, other)

    def _content(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mu, logvar = self.nets_["content_encoder"](x).to(x.dtype).chunk(2, 1)
        return mu, gaussian.clamp_logvar(logvar)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the class code and the mean of q(c|x)."""
        return {"class": self.nets_["class_encoder"](x), "content": self._content(x)[0]}

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the standard deviations of q(c|x)."""
        return {"content": torch.exp(0.5 * self._content(x)[1])}
