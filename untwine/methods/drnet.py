r"""DrNet: Denton and Birodkar, *Unsupervised Learning of Disentangled Representations from Video*, 2017 (Eq. 3 of paper 004).

For pairs x, x' of one class,

$$\min_{E_s, G} \|G(E_s(x), E_c(x')) - x'\|^2 + \lambda_{similarity} \|E_s(x) - E_s(x')\|^2$$
$$\min_{E_c} \|G(E_s(x), E_c(x')) - x'\|^2 - \tfrac{\lambda_{game}}{2} E [\log D(c, c') + \log (1 - D(c, c'))]$$
$$\min_D -E_{same} \log D(c, c') - E_{other} \log (1 - D(c, c'))$$

Letters: s the class code, c the content code, D the discriminator, which tells whether two content codes come from one class.
The content encoder makes it undecided on pairs of one class. A pair of two classes has the c' of the pair half a batch away;
pairs that are of one class by chance do not count. Autoencoder and discriminator are two players.
Reductions: means over elements and rows.

Deviations
- The authors pair frames of one video; here any two rows of one class are a pair.
- Both reconstruct each other in every step: x from the class of x' and x' from that of x.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.class_content import MODULE_NAMES, build_encoder, build_generator
from untwine.networks.custom import check_module_names
from untwine.networks.mlp import layers
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

HIDDEN = 128


@dataclass(eq=False, kw_only=True)
class DrNet(Trained):
    """Class and content from class labels: a game keeps the class out of the content code.

    Parameters
    ----------
    n_class, n_content
        The widths of the two parts.
    lambda_similarity
        The weight of the distance between the class codes of two rows of one class.
    lambda_game
        The weight of the content encoder's part in the game; 0 plays no game.
    lr_discriminator
        The discriminator's own learning rate.
    loss
        Of reconstruction: `l2`, `l1`, or `vgg16` or `squeezenet` for the features of that network, whose weights must be there.
    """

    n_class: int = 16
    n_content: int = 16
    lambda_similarity: float = 1.0
    lambda_game: float = 0.01
    lr_discriminator: float = 1e-3
    loss: str = "l2"
    name: ClassVar[str] = "drnet"
    needs: ClassVar[Needs] = "labels"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, both encoders and the discriminator."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)
        encoders = {f"{part}_encoder": build_encoder(part, width, self, shape, own) for part, width in self.blocks.items()}
        game = {"discriminator": layers(2 * self.n_content, HIDDEN, HIDDEN, 1)}
        return nn.ModuleDict({"generator": build_generator(self, shape, own), **encoders, **game})

    def stages(self) -> Iterator[Stage]:
        """Train the autoencoder and the discriminator in turn, on pairs of one class."""
        reconstruction.load_loss(self.loss)
        owned = [self.nets_[name] for name in ("generator", "class_encoder", "content_encoder")]
        players = {"autoencoder": Player(owned, self.lr)}
        if self.lambda_game:
            players["discriminator"] = Player(self.nets_["discriminator"], self.lr_discriminator)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="classes")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Move the autoencoder, then the discriminator."""
        nets, d, dtype = self.nets_, self.nets_["discriminator"], batch.x.dtype
        s, c = nets["class_encoder"](batch.x).to(dtype), nets["content_encoder"](batch.x).to(dtype)
        (s_a, s_b), (c_a, c_b) = batch.split(s), batch.split(c)
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
        """Cross-entropy of telling pairs of one class from pairs of two, each kind by its mean over the whole batch."""
        labels = distributed.gather(batch.split(batch.labels)[0])
        c_a, c_b, half = distributed.gather(c_a), distributed.gather(c_b), len(labels) // 2
        other = (labels != labels.roll(half)).to(c_a.dtype)
        same = functional.softplus(-self.nets_["discriminator"](torch.cat([c_a, c_b], 1))).mean()
        apart = functional.softplus(self.nets_["discriminator"](torch.cat([c_a, c_b.roll(half, 0)], 1))).squeeze(1)
        return same + (other * apart).sum() / other.sum().clamp(min=1)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return both codes."""
        return {part: self.nets_[f"{part}_encoder"](x) for part in self.blocks}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(s, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]
