r"""InfoGAN: Chen et al., *InfoGAN: Interpretable Representation Learning by Information Maximizing GANs*, 2016.

With the regulariser of Lin et al., *InfoGAN-CR and ModelCentrality*, 2020, by option (Eqs. 1 and 18 of paper 003):

$$\min_{G, Q, H} \max_D w_{adv} (\log D(x) + \log (1 - D(G(z, n)))) + w_{info} |Q(G(z, n)) - z|
    + w_{cr} CE(H(G(z^1, n), G(z^2, n)), k), \quad z^1_k = z^2_k$$

Letters: x a row; z the codes, n the nuisance, which nothing asks for; G the generator; D and Q the heads of one trunk, which
together are the discriminator; H the regulariser, which sees two images whose codes agree in one dimension and names it. Who
moves: the generator on all terms, the discriminator on the first two, H on the last. All are means over elements and rows.

Deviations
- Codes are continuous; the paper has discrete ones as well.
- The bound of the mutual information has Laplace codes of scale 1 by default, as in paper 003; the generator's loss is -log D.
- Decoding has n = 0, the middle of its prior.
- Networks, noise and optimizer are those of paper 003, so that the two differ only in what they have for supervision.
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
from untwine.method.kinds import Trained
from untwine.methods.shared.generative_game import BETAS, drawn, error, framed, imaged, only_ours
from untwine.networks.critic import Critic, Generator, select_gan_networks
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.loop import Move, Player, Stage

_SPRITES = {"n_latent": 5, "nuisance": 5, "prior_latent": "uniform", "w_cr": 1.0, "epochs": 28, "batch": 64}
_SPRITES |= {"networks": "dcgan", "width": 64}


@dataclass(eq=False, kw_only=True)
class InfoGAN(Trained):
    """A game whose generator must make its codes readable: one block of codes, no supervision.

    Parameters
    ----------
    n_latent
        The number of codes.
    nuisance
        How many further numbers the generator gets, which nobody reads from its rows.
    w_adv, w_info
        The weights of the adversarial and the info term.
    w_cr
        The weight of the contrastive regulariser; 0 leaves it out.
    posterior
        What is said of codes: `laplace` (absolute errors) or `gaussian` (squared ones).
    prior_latent
        What codes are drawn from: `normal`, or `uniform` on [-1, 1].
    noise
        The deviation of the noise before every layer of the discriminator.
    loop_g, loop_d, loop_cr
        How often the generator, the discriminator and the regulariser move in a step.
    """

    n_latent: int = 10
    nuisance: int = 0
    w_adv: float = 0.5
    w_info: float = 1.0
    w_cr: float = 0.0
    posterior: str = "laplace"
    prior_latent: str = "normal"
    noise: float = 0.2
    loop_g: int = 1
    loop_d: int = 1
    loop_cr: int = 1
    lr: float = 2e-4
    name: ClassVar[str] = "infogan"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(("dsprites", "dsprites_redrawn"), _SPRITES)

    @property
    def blocks(self) -> dict[str, int]:
        """One block, z."""
        return {"z": self.n_latent}

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, the discriminator with its heads and, where it has a weight, the regulariser."""
        only_ours(self, own)
        pair = select_gan_networks(self.networks, shape)
        width, codes = self.width or pair.default_width, {"z": self.n_latent}
        nets = nn.ModuleDict({"generator": Generator(pair, self.n_latent + self.nuisance, shape, width)})
        nets["discriminator"] = Critic(pair, shape, width, logits=("real",), codes=codes, noise_std=self.noise)
        if self.w_cr:
            nets["cr"] = Critic(pair, (2 * shape[0], *shape[1:]), width, codes={"k": self.n_latent}, noise_std=self.noise)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Let generator, discriminator and regulariser move in turn."""
        nets, discriminator = self.nets_, self.nets_["discriminator"]
        owned = [discriminator.trunk, discriminator.heads["real"], *([discriminator.heads["z"]] if self.w_info else [])]
        players = {"generator": Player(nets["generator"], self.lr, BETAS), "discriminator": Player(owned, self.lr, BETAS)}
        if self.w_cr:
            players["cr"] = Player(nets["cr"], self.lr, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch)

    def step(self, batch: Batch, t: int) -> Moves[Move]:
        """Move G, then D with Q, then H."""
        D, x = self.nets_["discriminator"], framed(batch.x)
        unread = () if self.w_info else ("z",)
        for _ in range(self.loop_g):
            z, fake, other, k = self._fakes(batch)
            with freeze_running_stats(*(net for name, net in self.nets_.items() if name != "generator")):
                seen = D(fake, batch.noise, unread)
                terms = {"adversarial": self.w_adv * bce_real(seen["real"]).mean()}
                terms |= {"info": self.w_info * error(seen["z"], z, self.posterior).mean()} if self.w_info else {}
                terms |= {"cr": self.w_cr * self._cr(batch, fake, other, k)} if self.w_cr else {}
            yield "generator", terms
        fake, other = fake.detach(), other.detach()
        for _ in range(self.loop_d):
            real = D(x, batch.noise, unread)
            with freeze_running_stats(D):
                seen = D(fake, batch.noise, unread)
            terms = {"adversarial": self.w_adv * (bce_real(real["real"]) + bce_fake(seen["real"])).mean()}
            terms |= {"info": self.w_info * error(seen["z"], z, self.posterior).mean()} if self.w_info else {}
            yield "discriminator", terms
        for _ in range(self.loop_cr if self.w_cr else 0):
            yield "cr", {"cr": self.w_cr * self._cr(batch, fake, other, k)}

    def _fakes(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return codes and rows made from them; for the regulariser other rows, and where their codes agree."""
        G, n = self.nets_["generator"], batch.noise(self.nuisance)
        z = drawn(batch.noise(self.n_latent), self.prior_latent, -1.0)
        if not self.w_cr:
            fake = G(z, n)
            return z, fake, fake[:0], z.new_zeros(0, dtype=torch.long)
        k = adversarial.uniform_index(batch.noise(), self.n_latent)
        other = adversarial.share_dimension(k, z, drawn(batch.noise(self.n_latent), self.prior_latent, -1.0))
        rows, others = G(torch.cat([z, other]), torch.cat([n, n])).chunk(2)
        return z, rows, others, k

    def _cr(self, batch: Batch, x: Tensor, other: Tensor, k: Tensor) -> Tensor:
        """Return the cross-entropy of the dimension in which two rows agree."""
        return functional.cross_entropy(self.nets_["cr"](torch.cat([x, other], 1), batch.noise)["k"], k)

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return Q."""
        return {"z": self.nets_["discriminator"](framed(x))["z"]}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(z, 0)."""
        return imaged(self.nets_["generator"](codes["z"], codes["z"].new_zeros(len(codes["z"]), self.nuisance)))

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes."""
        return {"z": drawn(torch.randn((n, self.n_latent), generator=generator), self.prior_latent, -1.0)}
