r"""Mixing autoencoder: Szabo et al., *Challenges in Disentangling Independent Factors of Variation*, 2018.

For pairs x, x' of one class and a row x'' of any,

$$\min_{E, G} \|G(E_s(x), E_c(x)) - x\|^2 + \|G(E_s(x), E_c(x')) - x'\|^2 - \lambda_{game} \log D(x, m)
    + w_{again} \|E_c(m) - E_c(x'')\|^2, \quad m = G(E_s(x), E_c(x''))$$
$$\min_D -\log D(x, x') - \log (1 - D(x, m))$$

Letters: s the class code, c the content code, m the mixed row; D tells a real pair of one class from a row with a mixed one. A
mixed row is encoded again: its content must be that of x'', a constant in that term. x'' is the first row of the pair half a
batch away.
Reductions: means over elements and rows.

Deviations
- The generator's part of the game is the non-saturating one.
- Networks are those of `LORD`, as in paper 004; D has their encoder as its trunk, on the two rows stacked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

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
class MixingAE(Trained):
    """Class and content from class labels: mixed rows must look like another row of the class they were given.

    Parameters
    ----------
    n_class, n_content
        The widths of the two parts.
    lambda_game
        The weight of the autoencoder's part in the game; 0 plays no game.
    w_again
        The weight of the distance between a mixed row's content, encoded again, and the one it was made with.
    lr_discriminator
        The discriminator's own learning rate.
    loss
        Of reconstruction: `l2`, `l1`, or `vgg16` or `squeezenet` for the features of that network, whose weights must be there.
    """

    n_class: int = 16
    n_content: int = 16
    lambda_game: float = 0.01
    w_again: float = 0.1
    lr_discriminator: float = 1e-3
    loss: str = "l2"
    name: ClassVar[str] = "mixing_ae"
    needs: ClassVar[Needs] = "labels"

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, both encoders and the discriminator of pairs."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)
        encoders = {f"{part}_encoder": build_encoder(part, width, self, shape, own) for part, width in self.blocks.items()}
        pair = (2 * shape[0], *shape[1:])
        # The trunk of a discriminator is not normalised: real and mixed pairs would share their statistics.
        networks = "conv" if self.networks == "conv_norm" else self.networks
        judge = build_encoder("pair", 1, replace(self, networks=networks), pair, {})
        return nn.ModuleDict({"generator": build_generator(self, shape, own), **encoders, "discriminator": judge})

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
        nets, dtype = self.nets_, batch.x.dtype
        s, c = nets["class_encoder"](batch.x).to(dtype), nets["content_encoder"](batch.x).to(dtype)
        (x, _), (s_a, s_b), (c_a, _) = map(batch.split, (batch.x, s, c))
        terms = {
            "reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](s, c), batch.x),
            "swap": reconstruction.mean_loss(self.loss, nets["generator"](torch.cat([s_b, s_a]), c), batch.x),
        }
        every = distributed.gather(c_a)
        other = every.roll(len(every) // 2, 0)[distributed.share(len(every))]
        with freeze_running_stats(self.nets_):
            mixed = nets["generator"](s_a, other)
            if self.w_again:
                again = nets["content_encoder"](mixed).to(dtype)
                terms["again"] = self.w_again * functional.mse_loss(again, other.detach())
        if not self.lambda_game:
            yield "autoencoder", terms
            return
        terms["game"] = self.lambda_game * functional.softplus(-self._judge(x, mixed)).mean()
        yield "autoencoder", terms
        real, fake = self._judge(*batch.split(batch.x)), self._judge(x, mixed.detach())
        yield "discriminator", {"real": functional.softplus(-real).mean(), "mixed": functional.softplus(fake).mean()}

    def _judge(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logit (n,) of two rows being real ones of one class."""
        return self.nets_["discriminator"](torch.cat([x, y], 1)).squeeze(1)  # type: ignore[no-any-return]

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return both codes."""
        return {part: self.nets_[f"{part}_encoder"](x) for part in self.blocks}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(s, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]
