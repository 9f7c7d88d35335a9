r"""Double InfoGAN: Carton, Louiset and Gori, *Double InfoGAN for Contrastive Analysis*, 2024.

$$w_{adv} L_{adv} + w_{class} L_{class} + L_{info} + w_{image} L_{image} + w_{cr} L_{cr} \quad \text{(Eq. 14)}$$
$$L_{adv} = w_b (-\log D(x) - \log (1 - D(G(z, 0)))) + w_t (-\log D(y) - \log (1 - D(G(z, s)))) \quad \text{(Eqs. 4 and 15)}$$
$$L_{class} = w_b B(C(x), 0) + w_t B(C(y), 1) \text{ for C on real samples, for G on generated ones} \quad \text{(Eq. 5)}$$
$$L_{info} = w_b (w_z |Q_z(G(z, 0)) - z| + w_s |Q_s(G(z, 0))|) + w_t (w_z |Q_z(G(z, s)) - z| + w_s |Q_s(G(z, s)) - s|)
    + w_{real} |Q_s(x)| \quad \text{(Eqs. 6 and 16)}$$
$$L_{image} = w_b |G(Q_z(x), 0) - x| + w_t |G(Q_z(y), Q_s(y)) - y| \quad \text{(Eqs. 8 and 17)}$$
$$L_{cr} = CE(H(G(z, s^1), G(z, s^2)), k), \quad s^1_k = s^2_k \quad \text{(Eq. 18)}$$

Letters: x background, y target; z common, s salient; G the generator; D, C, Q_z and Q_s the heads of one trunk, which together
are the discriminator; H the contrastive regulariser; B the binary cross-entropy. Updates: the generator on all but the last
term of the info loss, the discriminator on all but the regulariser's, H on its own; so two players share `info` and `image`.
The order is G, D, H. Each player minimises its own terms, L_adv as written being D's. All terms are means over elements and
over the samples of their group.

Deviations
- Eq. 14 has D maximise L_adv, which Eqs. 4 and 15 write as the loss that it minimises.
- The generator's adversarial loss is -log D of its samples: the text says non-saturating, Eq. 15 has the saturating form.
- The class loss is weighted by w_b and w_t as all others are, as in the authors' code; Eq. 5 has no weights.
- The discriminator sees the samples of the generator's last update, not new ones; the first image of a pair for H is the
  generated target of that update. With more than one loop, D and H see the same samples again. Both groups pass a network
  together.
- A uniform prior of s is on (0, 1] and of z on [-1, 1], as tried in the paper.
- Encoding is in evaluation mode, without noise and batch statistics; the authors' code stays in training mode.
- Vectors are supported too, standardised, with fully connected networks without a tanh.
"""

from __future__ import annotations

from collections.abc import Generator as Moves
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.losses import adversarial
from untwine.losses.adversarial import bce_fake, bce_real, weighted_terms
from untwine.method.fields import AutoCount, Positive, Weight, Width
from untwine.method.inputs import Needs
from untwine.method.presets import Preset
from untwine.methods.shared.gan import BETAS, InfoGANOptions, Prior, code_error, sample_prior, to_tanh_range, to_unit_range
from untwine.methods.shared.inferred import Salient, common_width, refuse_per_target, salient_width
from untwine.methods.shared.own_networks import refuse_own_networks
from untwine.methods.shared.published_data import INFOGAN, INFOGAN_CODE
from untwine.networks.critic import Critic, Generator, select_gan_networks
from untwine.networks.norm import freeze_running_stats
from untwine.samples import Samples
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

# Tables 4 to 6. Weights are the defaults. The paper gives no latent sizes for dSprites-MNIST and BraTS, and no epochs for
# BraTS: those of CelebA are used.
_FACES: dict[str, Any] = {
    "n_common": 64,
    "n_salient": 64,
    "epochs": 500,
    "batch": 128,
    "lr": 2e-4,
    "networks": "dcgan",
    "width": 64,
}
_FIELDS: Mapping[str, dict[str, Any]] = {
    "celeba_accessories": _FACES,
    "cifar_mnist": _FACES,
    "dsprites_mnist": {**_FACES, "epochs": 700, "lr": 5e-5, "loop_g": 2, "w_cr": 1.0},
    "brats": {**_FACES, "batch": 32, "lr": 1e-4, "networks": "dcgan_attention"},
}
# In the authors' code a batch is of both groups together, so half of it is of each; the attention network's code heads are
# linear.
_CODE: Mapping[str, dict[str, Any]] = {
    "celeba_accessories": {"n_common": 95, "n_salient": 5, "batch": 64},
    "cifar_mnist": {"batch": 64},
    "dsprites_mnist": {"n_common": 95, "n_salient": 15, "batch": 64},
    "brats": {"n_common": 95, "n_salient": 15, "batch": 16, "epochs": 2000, "networks": "dcgan_attention_linear"},
}
PAPER = {data: Preset(fields, INFOGAN[data]) for data, fields in _FIELDS.items()}
AUTHORS = {data: Preset({**_FIELDS[data], **fields}, INFOGAN_CODE[data]) for data, fields in _CODE.items()}


class Fakes(NamedTuple):
    """Generated samples (targets first) with their codes; for the regulariser other targets, and the dimension in common."""

    x: Tensor
    z: Tensor
    s: Tensor
    other: Tensor
    k: Tensor


@dataclass(eq=False, kw_only=True)
class DoubleInfoGAN(InfoGANOptions):
    """Common and salient blocks of target and background, by a GAN with an encoder: sharp images.

    Parameters
    ----------
    n_common
        The number of dimensions of the common block.
    n_salient
        The number of dimensions of the salient block; `auto` takes as many as `contrast_test` finds.
    salient
        The salient block: `shared` by all targets; this method refuses `per_target`.
    w_background
        The weight of the background in every term.
    w_target
        The weight of the target in every term.
    w_class
        The weight of the group classification loss; 0 leaves it out.
    w_info_z
        The weight of the error of the common codes predicted from generated samples; 0 leaves it out.
    w_info_s
        The weight of the error of the salient codes predicted from generated samples; 0 leaves it out.
    w_info_real
        The weight of the background salient penalty: the salient codes of real backgrounds are pulled to 0.
    w_image
        The weight of the reconstruction error of real samples.
    prior_common
        The prior of common codes: `normal`, or `uniform` on [-1, 1].
    prior_salient
        The prior of salient codes: `normal`, or `uniform` on (0, 1].
    """

    n_common: AutoCount = "auto"
    n_salient: Width = "auto"
    salient: Salient = "shared"
    w_background: Positive = 0.5
    w_target: Positive = 1.0
    w_class: Weight = 0.5
    w_info_z: Weight = 1.0
    w_info_s: Weight = 1.0
    w_info_real: Weight = 1.0
    w_image: Weight = 1.0
    prior_common: Prior = "normal"
    prior_salient: Prior = "normal"
    name: ClassVar[str] = "double_infogan"
    needs: ClassVar[Needs] = "groups"
    papers: ClassVar[Mapping[str, Preset]] = PAPER
    public_code: ClassVar[Mapping[str, Preset]] = AUTHORS

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.resolve("n_common"), "salient": self.resolve("n_salient")}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return the number of salient dimensions where it is left to the data."""
        return {**common_width(self.n_common, samples), **salient_width(self.n_salient, samples)}

    def check(self) -> None:
        """Refuse a salient block for each target, and a regulariser that would have nothing to predict."""
        super().check()
        refuse_per_target("DoubleInfoGAN", self.salient, "its class loss (Eq. 5) does not tell one target from another")
        self.check_regulariser("n_salient", self.n_salient)

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, the discriminator with its heads and, where it has a weight, the regulariser."""
        refuse_own_networks(self, own, "choose some by name with networks=...")
        (common, salient), pair = self.blocks.values(), select_gan_networks(self.networks, shape)
        self.check_regulariser("n_salient", salient)  # n_salient="auto" is known only now
        width, codes = self.width or pair.default_width, {"z": common, "s": salient}
        nets = nn.ModuleDict({"generator": Generator(pair, common + salient, shape, width, self.n_covariates)})
        logits = [name for name, weight in (("real", self.w_adv), ("target", self.w_class)) if weight]
        k = self.n_covariates
        nets["discriminator"] = Critic(pair, shape, width, logits=logits, codes=codes, noise_std=self.noise, n_covariates=k)
        if self.w_cr:
            nets["cr"] = Critic(pair, (2 * shape[0], *shape[1:]), width, codes={"k": salient}, noise_std=self.noise)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Update generator, discriminator and regulariser in turn, with both groups in every step."""
        nets, heads = self.nets_, self.nets_["discriminator"].heads
        trained = {"z": self.w_info_z or self.w_image, "s": self.w_info_s or self.w_info_real or self.w_image}
        # A head without a term keeps its initial weights, on the features of the trained trunk.
        discriminator = [nets["discriminator"].trunk, *(head for name, head in heads.items() if trained.get(name, True))]
        players = {
            "generator": Player(nets["generator"], self.lr, BETAS),
            "discriminator": Player(discriminator, self.lr, BETAS),
        }
        if self.w_cr:
            players["cr"] = Player(nets["cr"], self.lr, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Moves[Move]:
        """Update G, then D with its heads, then H. Real samples are encoded once, for both G and D."""
        x = to_tanh_range(batch.x)
        real = self._heads_of_real(batch, x)
        for _ in range(self.loop_g):
            fakes = self._fakes(batch)
            yield "generator", self._generator_terms(batch, x, real, fakes)
        for number in range(self.loop_d):
            real = self._heads_of_real(batch, x) if number else real
            yield "discriminator", self._discriminator_terms(batch, x, real, fakes)
        for _ in range(self.loop_cr if self.w_cr else 0):
            yield "cr", {"cr": self.w_cr * self._cr(batch, fakes.x.detach(), fakes.other.detach(), fakes.k)}

    def _fakes(self, batch: Batch) -> Fakes:
        """Generate G(z, s) and G(z, 0), and G(z, s^2) for the regulariser."""
        z = sample_prior(batch.noise(self.n_common), self.prior_common, -1.0)
        s, zero = batch.split_groups(sample_prior(batch.noise(self.blocks["salient"]), self.prior_salient, 0.0))
        s, k = torch.cat([s, torch.zeros_like(zero)]), z.new_zeros(0, dtype=torch.long)
        if not self.w_cr:
            x = self.nets_["generator"](z, s)
            return Fakes(x, z, s, x[:0], k)
        (z_t, _), (s_t, _) = batch.split_groups(z), batch.split_groups(s)
        k = adversarial.uniform_index(batch.split_groups(batch.noise())[0], s.shape[1])
        other = sample_prior(batch.split_groups(batch.noise(s.shape[1]))[0], self.prior_salient, 0.0)
        again = self.given(batch.conditions.map(lambda known: torch.cat([known, batch.split_groups(known)[0]])))
        x = again.nets_["generator"](torch.cat([z, z_t]), torch.cat([s, adversarial.share_dimension(k, s_t, other)]))
        return Fakes(x[: len(z)], z, s, x[len(z) :], k)

    def _generator_terms(self, batch: Batch, x: Tensor, real: Mapping[str, Tensor], fakes: Fakes) -> dict[str, Tensor]:
        with freeze_running_stats(*(net for name, net in self.nets_.items() if name != "generator")):
            fake = self._heads_of_generated(batch, fakes.x)
            terms = {
                "adversarial": (self.w_adv, lambda: self._sum(batch, bce_real(fake["real"]))),
                "class": (self.w_class, lambda: self._class(batch, fake["target"])),
                "info_common": (self.w_info_z, lambda: self._sum(batch, code_error(fake["z"], fakes.z, self.posterior))),
                "info_salient": (self.w_info_s, lambda: self._sum(batch, code_error(fake["s"], fakes.s, self.posterior))),
                "image": (self.w_image, lambda: self._image(batch, x, real["z"].detach(), real["s"].detach())),
                "cr": (self.w_cr, lambda: self._cr(batch, fakes.x, fakes.other, fakes.k)),
            }
            return weighted_terms(terms)

    def _discriminator_terms(self, batch: Batch, x: Tensor, real: Mapping[str, Tensor], fakes: Fakes) -> dict[str, Tensor]:
        # The generator was updated since: no gradient may go through the samples that it generated before.
        with freeze_running_stats(self.nets_["discriminator"], self.nets_["generator"]):
            fake = self._heads_of_generated(batch, fakes.x.detach())
            terms = {
                "adversarial": (self.w_adv, lambda: self._sum(batch, bce_real(real["real"]) + bce_fake(fake["real"]))),
                "class": (self.w_class, lambda: self._class(batch, real["target"])),
                "info_common": (self.w_info_z, lambda: self._sum(batch, code_error(fake["z"], fakes.z, self.posterior))),
                "info_salient": (self.w_info_s, lambda: self._sum(batch, code_error(fake["s"], fakes.s, self.posterior))),
                "salient_penalty": (self.w_info_real, lambda: self._salient_penalty(batch, real["s"])),
                "image": (self.w_image, lambda: self._image(batch, x, real["z"], real["s"])),
            }
            return weighted_terms(terms)

    def _heads_of_real(self, batch: Batch, x: Tensor) -> dict[str, Tensor]:
        return self._heads(batch, x, z=self.w_image, s=self.w_image or self.w_info_real)

    def _heads_of_generated(self, batch: Batch, x: Tensor) -> dict[str, Tensor]:
        return self._heads(batch, x, z=self.w_info_z, s=self.w_info_s)

    def _heads(self, batch: Batch, x: Tensor, **weights: float) -> dict[str, Tensor]:
        """Return the outputs of the discriminator's heads; those of codes that no term with a weight needs are left out."""
        without = [name for name, weight in weights.items() if not weight]
        return self.nets_["discriminator"](x, batch.noise, without)  # type: ignore[no-any-return]

    def _sum(self, batch: Batch, losses: Tensor) -> Tensor:
        """Return w_t times the mean over targets, plus w_b times that over backgrounds."""
        target, background = batch.split_groups(losses)
        return self.w_target * target.mean() + self.w_background * background.mean()

    def _class(self, batch: Batch, logits: Tensor) -> Tensor:
        target, background = batch.split_groups(logits)
        return self._sum(batch, torch.cat([bce_real(target), bce_fake(background)]))

    def _salient_penalty(self, batch: Batch, s: Tensor) -> Tensor:
        """Return |Q_s(x)| of real backgrounds."""
        _, background = batch.split_groups(s)
        return code_error(background, torch.zeros_like(background), self.posterior).mean()

    def _image(self, batch: Batch, x: Tensor, z: Tensor, s: Tensor) -> Tensor:
        """Return the absolute error of reconstructions, of backgrounds with s = 0."""
        target, background = batch.split_groups(s)
        reconstructed = self.nets_["generator"](z, torch.cat([target, torch.zeros_like(background)]))
        return self._sum(batch, (reconstructed - x).abs())

    def _cr(self, batch: Batch, x: Tensor, other: Tensor, k: Tensor) -> Tensor:
        """Return the cross-entropy of the predicted dimension that two targets have in common."""
        pairs = torch.cat([batch.split_groups(x)[0], other], 1)
        fake = self.nets_["cr"](pairs, lambda *shape: batch.split_groups(batch.noise(*shape))[0])
        return functional.cross_entropy(fake["k"], k)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return Q_z and Q_s."""
        real = self.nets_["discriminator"](to_tanh_range(x))
        return {"common": real["z"], "salient": real["s"]}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(z, s)."""
        return to_unit_range(self.nets_["generator"](codes["common"], codes["salient"]))

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw z and s, as for targets."""
        priors = {"common": (self.prior_common, -1.0), "salient": (self.prior_salient, 0.0)}
        noise = {name: torch.randn((n, width), generator=generator) for name, width in self.blocks.items()}
        return {name: sample_prior(noise[name], *prior) for name, prior in priors.items()}
