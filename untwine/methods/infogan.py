r"""InfoGAN: Chen et al., *InfoGAN: Interpretable Representation Learning by Information Maximizing GANs*, 2016.

With the regulariser of Lin et al., *InfoGAN-CR and ModelCentrality*, 2020, as an option (Eqs. 1 and 18 of Carton et al. 2024):

$$\min_{G, Q, H} \max_D w_{adv} (\log D(x) + \log (1 - D(G(z, n)))) + w_{info} |Q(G(z, n)) - z|
    + w_{cr} CE(H(G(z^1, n), G(z^2, n)), k), \quad z^1_k = z^2_k$$

Letters: x a sample; z the codes, n the nuisance noise, which nothing predicts; G the generator; D and Q the heads of one trunk,
which together are the discriminator; H the regulariser, which sees two images whose codes have one dimension in common and
predicts it. Updates: the generator on all terms, the discriminator on the first two, H on the last. All are means over elements
and samples.

Deviations
- Codes are continuous; the paper has discrete ones as well.
- The bound of the mutual information has Laplace codes of scale 1 by default, as in Carton et al. 2024; the generator's loss
  is -log D.
- Decoding sets n = 0, the centre of its prior.
- Networks, noise and optimizer are those of Carton et al. 2024, so that `DoubleInfoGAN` differs only in its supervision.
"""

from __future__ import annotations

from collections.abc import Generator as Moves
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.losses import adversarial
from untwine.losses.adversarial import bce_fake, bce_real
from untwine.method.fields import Count, CountOrZero, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.gan import BETAS, InfoGANOptions, Prior, code_error, sample_prior, to_tanh_range, to_unit_range
from untwine.methods.shared.own_networks import refuse_own_networks
from untwine.methods.shared.published_data import UNSUPERVISED, presets
from untwine.networks.critic import Critic, Generator, select_gan_networks
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

_SPRITES: dict[str, Any] = {"n_latent": 5, "nuisance": 5, "prior_latent": "uniform", "w_cr": 1.0, "epochs": 28, "batch": 64}
_SPRITES |= {"networks": "dcgan", "width": 64}


@dataclass(eq=False, kw_only=True)
class InfoGAN(InfoGANOptions):
    """GAN whose codes can be predicted from its samples: one latent block, no supervision.

    Parameters
    ----------
    n_latent
        The number of latent dimensions.
    nuisance
        The number of further noise dimensions of the generator, standard normal in training, which are not predicted from its
        samples: they are in no block, and `decode` and `sample` set them to 0.
    w_info
        The weight of the error of the codes predicted from generated samples.
    prior_latent
        The prior of the codes: `normal`, or `uniform` on [-1, 1].
    """

    n_latent: Count = 10
    nuisance: CountOrZero = 0
    w_info: Weight = 1.0
    prior_latent: Prior = "normal"
    name: ClassVar[str] = "infogan"
    papers: ClassVar[Mapping[str, Preset]] = presets(_SPRITES, UNSUPERVISED, ("dsprites", "dsprites_redrawn"))

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def check(self) -> None:
        """Refuse a regulariser that would have nothing to predict."""
        super().check()
        self.check_regulariser("n_latent", self.n_latent)

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, the discriminator with its heads and, where it has a weight, the regulariser."""
        refuse_own_networks(self, own, "choose some by name with networks=...")
        pair = select_gan_networks(self.networks, shape)
        width, codes = self.width or pair.default_width, {"z": self.n_latent}
        nets = nn.ModuleDict({"generator": Generator(pair, self.n_latent + self.nuisance, shape, width, self.n_covariates)})
        k = self.n_covariates
        nets["discriminator"] = Critic(pair, shape, width, logits=("real",), codes=codes, noise_std=self.noise, n_covariates=k)
        if self.w_cr:
            nets["cr"] = Critic(pair, (2 * shape[0], *shape[1:]), width, codes={"k": self.n_latent}, noise_std=self.noise)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Update generator, discriminator and regulariser in turn."""
        nets, discriminator = self.nets_, self.nets_["discriminator"]
        trained = [discriminator.trunk, discriminator.heads["real"], *([discriminator.heads["z"]] if self.w_info else [])]
        players = {"generator": Player(nets["generator"], self.lr, BETAS), "discriminator": Player(trained, self.lr, BETAS)}
        if self.w_cr:
            players["cr"] = Player(nets["cr"], self.lr, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Moves[Move]:
        """Update G, then D with Q, then H."""
        D, x = self.nets_["discriminator"], to_tanh_range(batch.x)
        without = () if self.w_info else ("z",)
        for _ in range(self.loop_g):
            z, fake, other, k = self._fakes(batch)
            with freeze_running_stats(*(net for name, net in self.nets_.items() if name != "generator")):
                heads = D(fake, batch.noise, without)
                terms = {"adversarial": self.w_adv * bce_real(heads["real"]).mean()}
                terms |= {"info": self.w_info * code_error(heads["z"], z, self.posterior).mean()} if self.w_info else {}
                terms |= {"cr": self.w_cr * self._cr(batch, fake, other, k)} if self.w_cr else {}
            yield "generator", terms
        fake, other = fake.detach(), other.detach()
        for _ in range(self.loop_d):
            real = D(x, batch.noise, without)
            with freeze_running_stats(D):
                heads = D(fake, batch.noise, without)
            terms = {"adversarial": self.w_adv * (bce_real(real["real"]) + bce_fake(heads["real"])).mean()}
            terms |= {"info": self.w_info * code_error(heads["z"], z, self.posterior).mean()} if self.w_info else {}
            yield "discriminator", terms
        for _ in range(self.loop_cr if self.w_cr else 0):
            yield "cr", {"cr": self.w_cr * self._cr(batch, fake, other, k)}

    def _fakes(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return codes and samples generated from them; for the regulariser other samples, and the dimension in common."""
        G, n = self.nets_["generator"], batch.noise(self.nuisance)
        z = sample_prior(batch.noise(self.n_latent), self.prior_latent, -1.0)
        if not self.w_cr:
            fake = G(z, n)
            return z, fake, fake[:0], z.new_zeros(0, dtype=torch.long)
        k = adversarial.uniform_index(batch.noise(), self.n_latent)
        other = adversarial.share_dimension(k, z, sample_prior(batch.noise(self.n_latent), self.prior_latent, -1.0))
        G = self.given(batch.conditions.map(lambda known: known.repeat(2, 1))).nets_["generator"]
        x, others = G(torch.cat([z, other]), torch.cat([n, n])).chunk(2)
        return z, x, others, k

    def _cr(self, batch: Batch, x: Tensor, other: Tensor, k: Tensor) -> Tensor:
        """Return the cross-entropy of the predicted dimension that two samples have in common."""
        return functional.cross_entropy(self.nets_["cr"](torch.cat([x, other], 1), batch.noise)["k"], k)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return Q."""
        return {"z": self.nets_["discriminator"](to_tanh_range(x))["z"]}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(z, 0)."""
        z = codes["z"]
        return to_unit_range(self.nets_["generator"](z, z.new_zeros(z.shape[0], self.nuisance)))  # len would fix n in a graph

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes."""
        return {"z": sample_prior(torch.randn((n, self.n_latent), generator=generator), self.prior_latent, -1.0)}
