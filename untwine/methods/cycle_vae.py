r"""Cycle-VAE: Jha, Anand, Singh and Veeravasarapu, *Disentangling Factors of Variation with Cycle-Consistent VAEs*, 2018.

Forward, for pairs x, x' of one class:

$$\min_{E, G} w_x \|G(E_s(x'), c) - x\|^2 + w_{kl} KL(q(c|x) \| N), \quad c \sim q(c|x)$$

Reverse, for rows x, x'' of any classes and one drawn content c ~ N:

$$\min_{E} w_{cycle} \|E_c(G(E_s(x), c)) - E_c(G(E_s(x''), c))\|_1$$

Letters: s the class code, c the content code with its mean and log-variance, N the standard normal. The forward cycle moves
encoders and generator, the reverse cycle the encoders alone. Each row of the batch is x once in the forward cycle; in the
reverse cycle the first rows of the pairs get a partner half a batch away.
Reductions: means over elements and rows; the divergence is summed over dimensions and divided by the elements of a row, as in
the authors' code.

Deviations
- One Adam for the encoders in both cycles; the authors' code has a second one for the reverse cycle.
- Log-variances are bounded; vectors are standardised. The networks are those of `LORD`, as in paper 004.
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
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.class_content import MODULE_NAMES, build_encoder, build_generator
from untwine.networks.custom import check_module_names
from untwine.networks.norm import freeze_running_stats
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class CycleVAE(Trained):
    """Class and content from class labels: rows of one class swap class codes, and drawn contents must be found again.

    Parameters
    ----------
    n_class, n_content
        The widths of the two parts.
    w_reconstruction, w_kl, w_cycle
        The weights of the forward cycle's two terms and of the reverse cycle; 0 leaves the last out.
    loss
        Of reconstruction: `l2`, `l1`, or `vgg16` or `squeezenet` for the features of that network, whose weights must be there.
    """

    n_class: int = 16
    n_content: int = 16
    w_reconstruction: float = 2.0
    w_kl: float = 3.0
    w_cycle: float = 10.0
    loss: str = "l2"
    name: ClassVar[str] = "cycle_vae"
    needs: ClassVar[Needs] = "labels"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator and both encoders, that of content with log-variances."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)
        widths = {"class": self.n_class, "content": 2 * self.n_content}
        encoders = {f"{part}_encoder": build_encoder(part, width, self, shape, own) for part, width in widths.items()}
        return nn.ModuleDict({"generator": build_generator(self, shape, own), **encoders})

    def stages(self) -> Iterator[Stage]:
        """Go both cycles in every step, on pairs of one class."""
        reconstruction.load_loss(self.loss)
        encoders = [self.nets_["class_encoder"], self.nets_["content_encoder"]]
        players = {"generator": Player(self.nets_["generator"], self.lr), "encoders": Player(encoders, self.lr)}
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move all by the forward cycle, then the encoders by the reverse one."""
        nets, x = self.nets_, batch.x
        s, (mu, logvar) = nets["class_encoder"](x).to(x.dtype), self._content(x)
        first, second = batch.split(s)
        decoded = nets["generator"](torch.cat([second, first]), gaussian.sample(mu, logvar, batch.noise(self.n_content)))
        terms = {"reconstruction": self.w_reconstruction * reconstruction.mean_loss(self.loss, decoded, x)}
        if self.w_kl:
            terms["kl"] = self.w_kl * gaussian.kl(mu, logvar) / math.prod(x.shape[1:])
        yield ("generator", "encoders"), terms
        if self.w_cycle:
            yield "encoders", {"cycle": self.w_cycle * self._cycle(batch)}

    def _cycle(self, batch: Batch) -> Tensor:
        """Return how far apart the contents are that are found again in two rows of different classes with one content."""
        rows, _ = batch.split(batch.x)
        c, _ = batch.split(batch.noise(self.n_content))
        s = self.nets_["class_encoder"](rows).to(rows.dtype)
        # The partner half a batch away may be another process's row.
        every = distributed.gather(s)
        partner = every.roll(len(every) // 2, 0)[distributed.share(len(every))]
        with freeze_running_stats(self.nets_):  # these rows are generated
            one, other = (self._content(self.nets_["generator"](code, c))[0] for code in (s, partner))
        return functional.l1_loss(one, other)

    def _content(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mu, logvar = self.nets_["content_encoder"](x).to(x.dtype).chunk(2, 1)
        return mu, gaussian.clamp_logvar(logvar)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the class code and the mean of q(c|x)."""
        return {"class": self.nets_["class_encoder"](x), "content": self._content(x)[0]}

    def spreads(self, x: Tensor) -> dict[str, Tensor]:
        """Return the deviations of q(c|x)."""
        return {"content": torch.exp(0.5 * self._content(x)[1])}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(s, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]
