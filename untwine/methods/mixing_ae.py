r"""Mixing autoencoder: Szabo et al., *Challenges in Disentangling Independent Factors of Variation*, 2018.

For pairs x, x' of one class and a sample x'' of any,

$$\min_{E, G} \|G(E_s(x), E_c(x)) - x\|^2 + \|G(E_s(x), E_c(x')) - x'\|^2 - \lambda_{game} \log D(x, m)
    + w_{again} \|E_c(m) - E_c(x'')\|^2, \quad m = G(E_s(x), E_c(x''))$$
$$\min_D -\log D(x, x') - \log (1 - D(x, m))$$

Letters: s the class code, c the content code, m the mixed sample; D discriminates real pairs of one class from pairs
with a mixed sample. A mixed sample is encoded again: its content must be that of x'', a constant in that term. x'' is the first
sample of the pair half a batch away.
Reductions: means over elements and samples.

Deviations
- The generator's adversarial loss is the non-saturating one.
- Networks are those of `LORD`, as in Gabbay and Hoshen 2020; D has their encoder as its trunk, on the two samples stacked.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.method.fields import NonNegative, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.class_content import ClassContent, baseline_presets
from untwine.networks.class_content import build_encoder, build_generator
from untwine.networks.conditional import ConditionalEncoder
from untwine.networks.norm import freeze_running_stats
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage


@dataclass(eq=False, kw_only=True)
class MixingAE(ClassContent):
    """Class and content from class labels: samples with mixed codes must look like other samples of their class.

    Parameters
    ----------
    lambda_game
        The weight of the autoencoder's adversarial loss; 0 trains no discriminator.
    w_again
        The weight of the distance between the content code of a mixed sample, encoded again, and the one it was generated from.
    lr_discriminator
        The learning rate of the discriminator.
    """

    lambda_game: Weight = 0.01
    w_again: Weight = 0.1
    lr_discriminator: NonNegative = 1e-3
    name: ClassVar[str] = "mixing_ae"
    papers: ClassVar[Mapping[str, Preset]] = baseline_presets("l1")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, both encoders and the discriminator of pairs."""
        self.check_build(shape, own)
        encoders, k = self.encoders(shape, own), 2 * self.n_covariates  # D is given the covariates of both samples
        pair = (2 * shape[0] + k, *shape[1:])
        # The trunk of a discriminator is not normalised: real and mixed pairs would share their statistics.
        networks = "conv" if self.networks == "conv_norm" else self.networks
        discriminator = build_encoder("pair", 1, replace(self, networks=networks), pair, {})
        discriminator = ConditionalEncoder(discriminator, k) if k else discriminator
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
        nets, dtype = self.nets_, batch.x.dtype
        s, c = nets["class_encoder"](batch.x).to(dtype), nets["content_encoder"](batch.x).to(dtype)
        (x, _), (s_a, s_b), (c_a, _) = map(batch.split_pairs, (batch.x, s, c))
        terms = {
            "reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](s, c), batch.x),
            "swap": reconstruction.mean_loss(self.loss, nets["generator"](torch.cat([s_b, s_a]), c), batch.x),
        }
        all_c = distributed.gather(c_a)
        other = all_c.roll(len(all_c) // 2, 0)[distributed.share(len(all_c))]
        # A mixed sample stands in for the second of its pair, and has the covariates of that one.
        first, second = batch.pair_conditions()
        mixing, pairs = self.given(second).nets_, self.given(first.beside(second))
        with freeze_running_stats(self.nets_):
            mixed = mixing["generator"](s_a, other)
            if self.w_again:
                again = mixing["content_encoder"](mixed).to(dtype)
                terms["again"] = self.w_again * functional.mse_loss(again, other.detach())
        if not self.lambda_game:
            yield "autoencoder", terms
            return
        terms["game"] = self.lambda_game * functional.softplus(-pairs._pair_logit(x, mixed)).mean()
        yield "autoencoder", terms
        real, fake = pairs._pair_logit(*batch.split_pairs(batch.x)), pairs._pair_logit(x, mixed.detach())
        yield "discriminator", {"real": functional.softplus(-real).mean(), "mixed": functional.softplus(fake).mean()}

    def _pair_logit(self, x: Tensor, y: Tensor) -> Tensor:
        """Return the logit (n,) of two samples being a real pair of one class."""
        return self.nets_["discriminator"](torch.cat([x, y], 1)).squeeze(1)  # type: ignore[no-any-return]
