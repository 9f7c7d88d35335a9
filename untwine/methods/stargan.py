r"""StarGAN: Choi et al., *StarGAN: Unified Generative Adversarial Networks for Multi-Domain Image-to-Image Translation*, 2018.

The translation baseline of paper 004 (table 4). For a row x of class y and a drawn class c,

$$\min_D -E\, D(x) + E\, D(G(x, c)) + w_{penalty} E (\|\nabla D(\hat x)\| - 1)^2 + w_{class} E\, CE(D_{cls}(x), y)$$
$$\min_G -E\, D(G(x, c)) + w_{class} E\, CE(D_{cls}(G(x, c)), c) + w_{reconstruction} E \|x - G(G(x, c), y)\|_1$$

Letters: G the translator, D the critic with its classifier D_cls on one trunk, and the point between x and G(x, c), at a share
drawn uniformly, where the slope of D should be 1 (Eqs. 1 to 6 of that paper, with the Wasserstein loss of its Eq. 8). The
critic moves in every step, the translator in the first of every `n_critic`.
Reductions: means over elements and rows.

There is no content code: the block `content` is the row itself, and `class` what D_cls says of it, a share for every class. To
decode is to translate the row to that class.

Deviations
- The default rate is for some thousand steps; the paper's 1e-4, for 200,000, is in its setting (`paper`).
- Classes are drawn uniformly, not by a permutation of the batch's.
- D(x) is the mean over patches also in the penalty, where the authors' code has their sum.
- Instance norm takes the statistics of each image in evaluation too.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.losses import adversarial
from untwine.method.contract import NotFittedError
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.methods.shared.generative_game import BETAS, framed, imaged
from untwine.networks.norm import freeze_running_stats
from untwine.networks.translator import build_critic, build_translator
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage


def falling(done: float) -> float:
    """Return the share of the rate: whole for half of the training, then down a line to 0."""
    return min(1.0, 2 * (1 - done))


@dataclass(eq=False, kw_only=True)
class StarGAN(Trained):
    """Move rows between classes by a game: no content code, the row itself is translated.

    Parameters
    ----------
    w_class, w_reconstruction, w_penalty
        The weights of the classes, of the way back to the row, and of the penalty on the critic's slope.
    n_critic
        How many moves of the critic there are for one of the translator.
    """

    batch: int = 16
    lr: float = 2e-3
    w_class: float = 1.0
    w_reconstruction: float = 10.0
    w_penalty: float = 10.0
    n_critic: int = 5
    name: ClassVar[str] = "stargan"
    needs: ClassVar[Needs] = "labels"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "rafd": {"batch": 16, "lr": 1e-4, "epochs": 738, "networks": "residual", "width": 64}  # 200,000 steps
    }

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks: class, a share for every class, and content, the row itself."""
        if "found_" not in self.__dict__ or "shape_" not in self.__dict__:
            raise NotFittedError("the blocks of StarGAN expected it to be fitted first, for the data decides them; call fit.")
        return {"class": self.found_["classes"], "content": math.prod(self.shape_)}

    def check(self) -> None:
        """Refuse a game without classes."""
        super().check()
        if not self.w_class:
            raise ValueError("w_class must be a number above 0, for it alone tells what a class looks like; got 0.")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the translator and the critic."""
        if own:
            names = ", ".join(sorted(own))
            raise ValueError(f"StarGAN expected no networks of your own; got {names}; name some by networks.")
        asked = (self.networks, shape, self.found_["classes"], self.width)
        return nn.ModuleDict({"generator": build_translator(*asked), "discriminator": build_critic(*asked)})

    def stages(self) -> Iterator[Stage]:
        """Let the critic move in every step, and the translator now and then."""
        players = {name: Player(self.nets_[name], self.lr, BETAS) for name in ("discriminator", "generator")}
        yield Stage("training", self.epochs, players, self.step, self.batch, schedule=falling)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move D, then in the first of every `n_critic` steps G."""
        G, D, x, classes = self.nets_["generator"], self.nets_["discriminator"], framed(batch.x), self.blocks["class"]
        c = adversarial.uniform_index(batch.noise(), classes)
        wanted, own = (functional.one_hot(which, classes).to(x.dtype) for which in (c, batch.labels))
        with torch.no_grad(), freeze_running_stats(G):
            made = G(x, wanted)
        (real, said), (fake, _) = D(x), D(made)
        terms = {
            "real": -real.mean(),
            "made": fake.mean(),
            "class": self.w_class * functional.cross_entropy(said, batch.labels),
        }
        if self.w_penalty:
            share = adversarial.uniform(batch.noise(), 0.0, 1.0)
            terms["penalty"] = self.w_penalty * adversarial.gradient_penalty(lambda rows: D(rows)[0], x, made, share)
        yield "discriminator", terms
        if t % self.n_critic:
            return
        made = G(x, wanted)
        fake, said = D(made)
        terms = {"adversarial": -fake.mean(), "class": self.w_class * functional.cross_entropy(said, c)}
        if self.w_reconstruction:
            with freeze_running_stats(G):  # these rows are made
                terms["reconstruction"] = self.w_reconstruction * functional.l1_loss(G(made, own), x)
        yield "generator", terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return what D_cls says of rows, and the rows themselves."""
        return {"class": torch.softmax(self.nets_["discriminator"](framed(x))[1], 1), "content": x.flatten(1)}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(x, c)."""
        x = codes["content"].view(-1, *self.shape_)
        return imaged(self.nets_["generator"](framed(x), codes["class"]))

    def known_classes(self) -> Tensor:
        """Return a share of 1 for each class."""
        return torch.eye(self.blocks["class"])

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw classes, and rows of noise: there is no prior of rows."""
        drawn, classes = super().prior(n, generator), self.blocks["class"]
        if len(self.shape_) == 3:
            drawn["content"] = adversarial.uniform(drawn["content"], 0.0, 1.0)
        drawn["class"] = functional.one_hot(torch.randint(classes, (n,), generator=generator), classes).float()
        return drawn
