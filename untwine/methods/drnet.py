r"""DrNet: Denton and Birodkar, *Unsupervised Learning of Disentangled Representations from Video*, 2017.

For pairs x, x' of one class (Eq. 3 of Gabbay and Hoshen 2020),

$$\min_{E_s, G} \|G(E_s(x), E_c(x')) - x'\|^2 + \lambda_{similarity} \|E_s(x) - E_s(x')\|^2$$
$$\min_{E_c} \|G(E_s(x), E_c(x')) - x'\|^2 - \tfrac{\lambda_{game}}{2} E [\log D(c, c') + \log (1 - D(c, c'))]$$
$$\min_D -E_{same} \log D(c, c') - E_{other} \log (1 - D(c, c'))$$

Letters: s the class code, c the content code, D the discriminator, which classifies whether two content codes come from one
class. The content encoder pushes it to probability 1/2 on pairs of one class. A pair of two classes has the c' of the pair half
a batch away; pairs that happen to be of one class do not count. Autoencoder and discriminator are two players.
Reductions: means over elements and samples.

Deviations
- The authors pair frames of one video; here any two samples of one class are a pair.
- Both directions are in every step: x is reconstructed with the class code of x', and x' with that of x.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.method.fields import NonNegative, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.class_content import ClassContent, baseline_presets
from untwine.networks.class_content import build_generator
from untwine.networks.mlp import layers
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

HIDDEN = 128


@dataclass(eq=False, kw_only=True)
class DrNet(ClassContent):
    """Class and content from class labels: a discriminator keeps the class out of the content code.

    Parameters
    ----------
    lambda_similarity
        The weight of the distance between the class codes of two samples of one class.
    lambda_game
        The weight of the content encoder's adversarial loss; 0 trains no discriminator.
    lr_discriminator
        The learning rate of the discriminator.
    """

    lambda_similarity: Weight = 1.0
    lambda_game: Weight = 0.01
    lr_discriminator: NonNegative = 1e-3
    name: ClassVar[str] = "drnet"
    papers: ClassVar[Mapping[str, Preset]] = baseline_presets("vgg16")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, both encoders and the discriminator."""
        self.check_build(shape, own)
        encoders = self.encoders(shape, own)
        discriminator = layers(2 * self.n_content, HIDDEN, HIDDEN, 1)
        return nn.ModuleDict({"generator": build_generator(self, shape, own), **encoders, "discriminator": discriminator})

    def stages(self) -> Iterator[Stage]:
        """Update the autoencoder and the discriminator in turn, on pairs of one class."""
        reconstruction.load_loss(self.loss)
        autoencoder = [self.nets_[name] for name in ("generator", "class_encoder", "content_encoder")]
        players = {"autoencoder": Player(autoencoder, self.lr)}
        if self.lambda_game:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Update the autoencoder, then the discriminator."""
        nets, d, dtype = self.nets_, self.nets_["discriminator"], batch.x.dtype
        s, c = nets["class_encoder"](batch.x).to(dtype), nets["content_encoder"](batch.x).to(dtype)
        (s_a, s_b), (c_a, c_b) = batch.split_pairs(s), batch.split_pairs(c)
        terms = {
            "reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](torch.cat([s_b, s_a]), c), batch.x),
            "similarity": self.lambda_similarity * functional.mse_loss(s_a, s_b),
        }
        if not self.lambda_game:
            yield "autoencoder", terms
            return
        logits = d(torch.cat([c_a, c_b], 1))
        terms["game"] = 0.5 * self.lambda_game * (functional.softplus(-logits) + functional.softplus(logits)).mean()
        yield "autoencoder", terms
        yield "discriminator", {"discrimination": self._discrimination(c_a.detach(), c_b.detach(), batch)}

    def _discrimination(self, c_a: Tensor, c_b: Tensor, batch: Batch) -> Tensor:
        """Return the cross-entropy of pairs of one class against pairs of two, each a mean over the global batch."""
        labels = distributed.gather(batch.split_pairs(batch.labels)[0])
        c_a, c_b, half = distributed.gather(c_a), distributed.gather(c_b), len(labels) // 2
        other = (labels != labels.roll(half)).to(c_a.dtype)
        same = functional.softplus(-self.nets_["discriminator"](torch.cat([c_a, c_b], 1))).mean()
        apart = functional.softplus(self.nets_["discriminator"](torch.cat([c_a, c_b.roll(half, 0)], 1))).squeeze(1)
        return same + (other * apart).sum() / other.sum().clamp(min=1)
