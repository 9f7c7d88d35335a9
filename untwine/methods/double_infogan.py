r"""Double InfoGAN: Carton, Louiset and Gori, *Double InfoGAN for Contrastive Analysis*, 2024 (paper 003).

$$w_{adv} L_{adv} + w_{class} L_{class} + L_{info} + w_{image} L_{image} + w_{cr} L_{cr} \quad \text{(Eq. 14)}$$
$$L_{adv} = w_b (-\log D(x) - \log (1 - D(G(z, 0)))) + w_t (-\log D(y) - \log (1 - D(G(z, s)))) \quad \text{(Eqs. 4 and 15)}$$
$$L_{class} = w_b B(C(x), 0) + w_t B(C(y), 1) \text{ for C on real rows, for G on generated ones} \quad \text{(Eq. 5)}$$
$$L_{info} = w_b (w_z |Q_z(G(z, 0)) - z| + w_s |Q_s(G(z, 0))|) + w_t (w_z |Q_z(G(z, s)) - z| + w_s |Q_s(G(z, s)) - s|)
    + w_{real} |Q_s(x)| \quad \text{(Eqs. 6 and 16)}$$
$$L_{image} = w_b |G(Q_z(x), 0) - x| + w_t |G(Q_z(y), Q_s(y)) - y| \quad \text{(Eqs. 8 and 17)}$$
$$L_{cr} = CE(H(G(z, s^1), G(z, s^2)), k), \quad s^1_k = s^2_k \quad \text{(Eq. 18)}$$

Letters: x background, y target; z common, s salient; G the generator; D, C, Q_z and Q_s the heads of one trunk, which together
are the discriminator; H the contrastive regulariser; B the binary cross-entropy. Who moves: the generator on all but the last
term of the info loss, the discriminator on all but the regulariser's, H on its own; so `info` and `image` go to two. The
order is G, D, H. Everyone makes its own terms small, L_adv as written being D's. All terms are means over elements and over the
rows of their group.

Deviations
- Eq. 14 has D maximise L_adv, which Eqs. 4 and 15 write as the loss that it makes small.
- The generator's adversarial loss is -log D of its rows: the text says non-saturating, Eq. 15 has the saturating form.
- The class loss is weighted by w_b and w_t as all others are, as in the authors' code; Eq. 5 has no weights.
- The discriminator sees the rows that the generator has just been judged by, not new ones; the first image of a pair for H is
  the target row that was generated anyway. With more than one loop, D and H see the same rows again. Both groups pass a
  network together.
- A uniform prior of s is on (0, 1] and of z on [-1, 1], as tried in the paper.
- Encoding has neither noise nor the statistics of a batch; the authors' code never leaves the training mode.
- Vectors are taken too, standardised, by fully connected networks without a hyperbolic tangent.
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
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.methods.shared.generative_game import BETAS, drawn, error, framed, imaged, only_ours
from untwine.networks.critic import Critic, Generator, select_gan_networks
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

# Tables 4 to 6. Weights are the defaults. The paper gives no widths of codes for dSprites-MNIST and BraTS, and no epochs for
# BraTS: theirs are those of CelebA.
_FACES = {"n_common": 64, "n_salient": 64, "epochs": 500, "batch": 128, "lr": 2e-4, "networks": "dcgan", "width": 64}


class Fakes(NamedTuple):
    """Generated rows (targets first) with their codes; for the regulariser other targets, and where their codes agree."""

    x: Tensor
    z: Tensor
    s: Tensor
    other: Tensor
    k: Tensor


@dataclass(eq=False, kw_only=True)
class DoubleInfoGAN(Trained):
    """Common and salient parts of a target against a background, by a game that also makes sharp images.

    Parameters
    ----------
    n_common, n_salient
        The widths of the two parts; `n_salient="auto"` asks the data.
    w_background, w_target
        The weights of the two groups in every term.
    w_adv, w_class, w_info_z, w_info_s, w_info_real, w_image
        The weights of the adversarial, class, info and image terms; one at 0 is not computed.
    w_cr
        The weight of the contrastive regulariser; 0 leaves it out.
    posterior
        What is said of codes: `laplace` (absolute errors) or `gaussian` (squared ones).
    prior_common, prior_salient
        What codes are drawn from: `normal` or `uniform`.
    noise
        The deviation of the noise before every layer of the discriminator.
    loop_g, loop_d, loop_cr
        How often the generator, the discriminator and the regulariser move in a step.
    """

    n_common: int = 8
    n_salient: int | str = 8
    w_background: float = 0.5
    w_target: float = 1.0
    w_adv: float = 0.5
    w_class: float = 0.5
    w_info_z: float = 1.0
    w_info_s: float = 1.0
    w_info_real: float = 1.0
    w_image: float = 1.0
    w_cr: float = 0.0
    posterior: str = "laplace"
    prior_common: str = "normal"
    prior_salient: str = "normal"
    noise: float = 0.2
    loop_g: int = 1
    loop_d: int = 1
    loop_cr: int = 1
    lr: float = 2e-4
    name: ClassVar[str] = "double_infogan"
    needs: ClassVar[Needs] = "groups"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "celeba_accessories": _FACES,
        "cifar_mnist": _FACES,
        "dsprites_mnist": {**_FACES, "epochs": 700, "lr": 5e-5, "loop_g": 2, "w_cr": 1.0},
        "brats": {**_FACES, "batch": 32, "lr": 1e-4, "networks": "dcgan_attention"},
    }

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient."""
        return {"common": self.n_common, "salient": self.chosen("n_salient")}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, the discriminator with its heads and, where it has a weight, the regulariser."""
        only_ours(self, own)
        (common, salient), pair = self.blocks.values(), select_gan_networks(self.networks, shape)
        width, codes = self.width or pair.default_width, {"z": common, "s": salient}
        nets = nn.ModuleDict({"generator": Generator(pair, common + salient, shape, width)})
        logits = [name for name, weight in (("real", self.w_adv), ("target", self.w_class)) if weight]
        nets["discriminator"] = Critic(pair, shape, width, logits=logits, codes=codes, noise_std=self.noise)
        if self.w_cr:
            nets["cr"] = Critic(pair, (2 * shape[0], *shape[1:]), width, codes={"k": salient}, noise_std=self.noise)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Let generator, discriminator and regulariser move in turn; both groups are in every step."""
        nets, heads = self.nets_, self.nets_["discriminator"].heads
        learnt = {"z": self.w_info_z or self.w_image, "s": self.w_info_s or self.w_info_real or self.w_image}
        # A head that no term asks for stays as it was made, and reads what the trunk has learnt.
        owned = [nets["discriminator"].trunk, *(head for name, head in heads.items() if learnt.get(name, True))]
        players = {
            "generator": Player(nets["generator"], self.lr, BETAS),
            "discriminator": Player(owned, self.lr, BETAS),
        }
        if self.w_cr:
            players["cr"] = Player(nets["cr"], self.lr, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Moves[Move]:
        """Move G, then D with its heads, then H. What real rows say is asked once, for both G and D."""
        x = framed(batch.x)
        said = self._ask_real(batch, x)
        for _ in range(self.loop_g):
            fakes = self._fakes(batch)
            yield "generator", self._generator_terms(batch, x, said, fakes)
        for number in range(self.loop_d):
            said = self._ask_real(batch, x) if number else said
            yield "discriminator", self._discriminator_terms(batch, x, said, fakes)
        for _ in range(self.loop_cr if self.w_cr else 0):
            yield "cr", {"cr": self.w_cr * self._cr(batch, fakes.x.detach(), fakes.other.detach(), fakes.k)}

    def _fakes(self, batch: Batch) -> Fakes:
        """Generate G(z, s) and G(z, 0), and G(z, s^2) for the regulariser."""
        z = drawn(batch.noise(self.n_common), self.prior_common, -1.0)
        s, zero = batch.split(drawn(batch.noise(self.blocks["salient"]), self.prior_salient, 0.0))
        s, k = torch.cat([s, torch.zeros_like(zero)]), z.new_zeros(0, dtype=torch.long)
        if not self.w_cr:
            x = self.nets_["generator"](z, s)
            return Fakes(x, z, s, x[:0], k)
        (z_t, _), (s_t, _) = batch.split(z), batch.split(s)
        k = adversarial.uniform_index(batch.split(batch.noise())[0], s.shape[1])
        other = drawn(batch.split(batch.noise(s.shape[1]))[0], self.prior_salient, 0.0)
        rows = self.nets_["generator"](torch.cat([z, z_t]), torch.cat([s, adversarial.share_dimension(k, s_t, other)]))
        return Fakes(rows[: len(z)], z, s, rows[len(z) :], k)

    def _generator_terms(self, batch: Batch, x: Tensor, said: Mapping[str, Tensor], fakes: Fakes) -> dict[str, Tensor]:
        with freeze_running_stats(*(net for name, net in self.nets_.items() if name != "generator")):
            seen = self._ask_made(batch, fakes.x)
            terms = {
                "adversarial": (self.w_adv, lambda: self._sum(batch, bce_real(seen["real"]))),
                "class": (self.w_class, lambda: self._class(batch, seen["target"])),
                "info_common": (self.w_info_z, lambda: self._sum(batch, error(seen["z"], fakes.z, self.posterior))),
                "info_salient": (self.w_info_s, lambda: self._sum(batch, error(seen["s"], fakes.s, self.posterior))),
                "image": (self.w_image, lambda: self._image(batch, x, said["z"].detach(), said["s"].detach())),
                "cr": (self.w_cr, lambda: self._cr(batch, fakes.x, fakes.other, fakes.k)),
            }
            return weighted_terms(terms)

    def _discriminator_terms(self, batch: Batch, x: Tensor, said: Mapping[str, Tensor], fakes: Fakes) -> dict[str, Tensor]:
        # The generator has moved, so its rows and what it makes of codes may not lead back to it.
        with freeze_running_stats(self.nets_["discriminator"], self.nets_["generator"]):
            seen = self._ask_made(batch, fakes.x.detach())
            terms = {
                "adversarial": (self.w_adv, lambda: self._sum(batch, bce_real(said["real"]) + bce_fake(seen["real"]))),
                "class": (self.w_class, lambda: self._class(batch, said["target"])),
                "info_common": (self.w_info_z, lambda: self._sum(batch, error(seen["z"], fakes.z, self.posterior))),
                "info_salient": (self.w_info_s, lambda: self._sum(batch, error(seen["s"], fakes.s, self.posterior))),
                "silence": (self.w_info_real, lambda: self._silence(batch, said["s"])),
                "image": (self.w_image, lambda: self._image(batch, x, said["z"], said["s"])),
            }
            return weighted_terms(terms)

    def _ask_real(self, batch: Batch, x: Tensor) -> dict[str, Tensor]:
        return self._ask(batch, x, z=self.w_image, s=self.w_image or self.w_info_real)

    def _ask_made(self, batch: Batch, x: Tensor) -> dict[str, Tensor]:
        return self._ask(batch, x, z=self.w_info_z, s=self.w_info_s)

    def _ask(self, batch: Batch, x: Tensor, **weights: float) -> dict[str, Tensor]:
        """Return what the discriminator's heads say of rows; codes that no term with a weight needs are not asked for."""
        without = [name for name, weight in weights.items() if not weight]
        return self.nets_["discriminator"](x, batch.noise, without)  # type: ignore[no-any-return]

    def _sum(self, batch: Batch, rows: Tensor) -> Tensor:
        """Return w_t times the mean over targets, plus w_b times that over backgrounds."""
        target, background = batch.split(rows)
        return self.w_target * target.mean() + self.w_background * background.mean()

    def _class(self, batch: Batch, logits: Tensor) -> Tensor:
        target, background = batch.split(logits)
        return self._sum(batch, torch.cat([bce_real(target), bce_fake(background)]))

    def _silence(self, batch: Batch, s: Tensor) -> Tensor:
        """Return |Q_s(x)| of real backgrounds."""
        _, background = batch.split(s)
        return error(background, torch.zeros_like(background), self.posterior).mean()

    def _image(self, batch: Batch, x: Tensor, z: Tensor, s: Tensor) -> Tensor:
        """Return the absolute error of rows made again from their codes, of backgrounds with s = 0."""
        target, background = batch.split(s)
        again = self.nets_["generator"](z, torch.cat([target, torch.zeros_like(background)]))
        return self._sum(batch, (again - x).abs())

    def _cr(self, batch: Batch, x: Tensor, other: Tensor, k: Tensor) -> Tensor:
        """Return the cross-entropy of the dimension in which two targets agree."""
        both = torch.cat([batch.split(x)[0], other], 1)
        seen = self.nets_["cr"](both, lambda *shape: batch.split(batch.noise(*shape))[0])
        return functional.cross_entropy(seen["k"], k)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return Q_z and Q_s."""
        said = self.nets_["discriminator"](framed(x))
        return {"common": said["z"], "salient": said["s"]}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(z, s)."""
        return imaged(self.nets_["generator"](codes["common"], codes["salient"]))

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw z and s, as for targets."""
        kinds = {"common": (self.prior_common, -1.0), "salient": (self.prior_salient, 0.0)}
        return {name: drawn(torch.randn((n, width), generator=generator), *kinds[name]) for name, width in self.blocks.items()}
