r"""StarGAN: Choi et al., *StarGAN: Unified Generative Adversarial Networks for Multi-Domain Image-to-Image Translation*, 2018.

The translation baseline of Gabbay and Hoshen 2020 (table 4). For a sample x of class y and a drawn class c,

$$\min_D -E\, D(x) + E\, D(G(x, c)) + w_{penalty} E (\|\nabla D(\hat x)\| - 1)^2 + w_{class} E\, CE(D_{cls}(x), y)$$
$$\min_G -E\, D(G(x, c)) + w_{class} E\, CE(D_{cls}(G(x, c)), c) + w_{reconstruction} E \|x - G(G(x, c), y)\|_1$$

Letters: G the translator, D the critic with its classifier D_cls on one trunk; hat x an interpolation of x and G(x, c) at a
uniform position, where the gradient norm of D should be 1 (Eqs. 1 to 6 of that paper, with the Wasserstein loss of its Eq. 8).
The critic is updated in every step, the translator in the first of every `n_critic`.
Reductions: means over elements and samples.

There is no content code: the block `content` is the sample itself, and `class` the class probabilities by D_cls. To decode is
to translate the sample to that class.

Deviations
- The default learning rate is for some thousand steps; the paper's 1e-4, for 200,000, is in its setting (`paper`).
- Classes are drawn uniformly, not by a permutation of the batch's.
- D(x) is the mean over patches in the gradient penalty too, where the authors' code has their sum.
- Instance norm uses the statistics of each image in evaluation too.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.losses import adversarial
from untwine.method.automatic import Length
from untwine.method.contract import NotFittedError
from untwine.method.fields import Count, Positive, TranslatorNetworks, Weight
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.method.presets import Preset
from untwine.methods.shared.gan import BETAS, to_tanh_range, to_unit_range
from untwine.methods.shared.inferred import class_counts
from untwine.methods.shared.own_networks import refuse_own_networks
from untwine.methods.shared.published_data import CLASS_CONTENT
from untwine.networks.norm import freeze_running_stats
from untwine.networks.translator import build_critic, build_translator
from untwine.samples import Samples
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

_EXPRESSIONS = {"batch": 16, "lr": 1e-4, "epochs": 738, "networks": "residual", "width": 64}  # 200,000 steps


def linear_decay(done: float) -> float:
    """Return the factor on the learning rate: 1 for the first half of training, then linear down to 0."""
    return min(1.0, 2 * (1 - done))


@dataclass(eq=False, kw_only=True)
class StarGAN(Trained):
    """Translate samples between classes by a GAN: there is no content code.

    Parameters
    ----------
    w_class
        The weight of the classification loss.
    w_reconstruction
        The weight of the cycle reconstruction loss.
    w_penalty
        The weight of the critic's gradient penalty.
    n_critic
        The number of updates of the critic for each update of the translator.
    networks
        The architecture of translator and critic by name; `auto` is `residual` (the paper's) for images and `mlp` for vectors.
    """

    lr: Positive = 2e-3
    w_class: Positive = 1.0
    w_reconstruction: Weight = 10.0
    w_penalty: Weight = 10.0
    n_critic: Count = 5
    networks: TranslatorNetworks = "auto"  # type: ignore[assignment]  # more names than elsewhere
    name: ClassVar[str] = "stargan"
    needs: ClassVar[Needs] = "labels"
    takes_covariates: ClassVar[bool] = True
    length: ClassVar[Length] = Length(image_networks=("residual", 1), passes=4)
    papers: ClassVar[Mapping[str, Preset]] = {"rafd": Preset(_EXPRESSIONS, CLASS_CONTENT["rafd"])}

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks: class, a probability for every class, and content, the sample itself."""
        if "inferred_" not in self.__dict__ or "shape_" not in self.__dict__:
            raise NotFittedError("the blocks of StarGAN depend on the data and are known once it is fitted; call fit first.")
        return {"class": self.inferred_["classes"], "content": math.prod(self.shape_)}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return how many samples and classes there are."""
        return class_counts(samples)

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the translator and the critic."""
        refuse_own_networks(self, own, "choose some by name with networks=...")
        spec = (self.networks, shape, self.inferred_["classes"], self.width, self.n_covariates)
        return nn.ModuleDict({"generator": build_translator(*spec), "discriminator": build_critic(*spec)})

    def stages(self) -> Iterator[Stage]:
        """Update the critic in every step, and the translator in some."""
        players = {name: Player(self.nets_[name], self.lr, BETAS) for name in ("discriminator", "generator")}
        yield Stage("training", self.epochs, players, self.step, self.batch, schedule=linear_decay)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update D, then in the first of every `n_critic` steps G."""
        G, D, x, classes = self.nets_["generator"], self.nets_["discriminator"], to_tanh_range(batch.x), self.blocks["class"]
        c = adversarial.uniform_index(batch.noise(), classes)
        target, source = (functional.one_hot(which, classes).to(x.dtype) for which in (c, batch.labels))
        with torch.no_grad(), freeze_running_stats(G):
            generated = G(x, target)
        (real, logits), (fake, _) = D(x), D(generated)
        terms = {
            "real": -real.mean(),
            "generated": fake.mean(),
            "class": self.w_class * functional.cross_entropy(logits, batch.labels),
        }
        if self.w_penalty:
            share = adversarial.uniform(batch.noise(), 0.0, 1.0)
            terms["penalty"] = self.w_penalty * adversarial.gradient_penalty(lambda x: D(x)[0], x, generated, share)
        yield "discriminator", terms
        if t % self.n_critic:
            return
        generated = G(x, target)
        fake, logits = D(generated)
        terms = {"adversarial": -fake.mean(), "class": self.w_class * functional.cross_entropy(logits, c)}
        if self.w_reconstruction:
            with freeze_running_stats(G):  # these samples are generated
                terms["reconstruction"] = self.w_reconstruction * functional.l1_loss(G(generated, source), x)
        yield "generator", terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the class probabilities by D_cls, and the samples themselves."""
        return {"class": torch.softmax(self.nets_["discriminator"](to_tanh_range(x))[1], 1), "content": x.flatten(1)}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(x, c)."""
        x = codes["content"].view(-1, *self.shape_)
        return to_unit_range(self.nets_["generator"](to_tanh_range(x), codes["class"]))

    def known_classes(self) -> Tensor:
        """Return the one-hot vector of each class."""
        return torch.eye(self.blocks["class"])

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw classes, and noise for content: there is no prior of samples."""
        codes, classes = super().prior(n, generator), self.blocks["class"]
        if len(self.shape_) == 3:
            codes["content"] = adversarial.uniform(codes["content"], 0.0, 1.0)
        codes["class"] = functional.one_hot(torch.randint(classes, (n,), generator=generator), classes).float()
        return codes
