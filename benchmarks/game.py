"""Double InfoGAN side by side with a straightforward loop, which generates and encodes everything anew for each player."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from untwine import DoubleInfoGAN, Samples
from untwine.networks import NETWORKS
from untwine.networks.critic import Critic, Generator
from untwine.training.stage import Stage

COMMON, SALIENT, WIDTH, NOISE = 32, 16, 16, 0.2
RATE, BETAS = 2e-4, (0.5, 0.999)


@dataclass(frozen=True)
class Game:
    """Epochs of the game over as many targets as backgrounds (n, C, H, W), bytes."""

    x: NDArray[np.uint8]
    batch: int
    epochs: int = 1

    @property
    def steps(self) -> int:
        """Steps taken in all epochs."""
        return len(self.x) // 2 // self.batch * self.epochs


class Clocked(DoubleInfoGAN):
    """Our method with a clock around its stages."""

    def stages(self) -> Iterator[Stage]:
        """Train as ever, and note the seconds."""
        start = perf_counter()
        yield from super().stages()
        self.spent = perf_counter() - start


def ours(game: Game) -> float:
    """Fit our method, and return the seconds that its epochs took."""
    half = len(game.x) // 2
    method = Clocked(
        n_common=COMMON,
        n_salient=SALIENT,
        width=WIDTH,
        noise=NOISE,
        epochs=game.epochs,
        batch=game.batch,
        lr=RATE,
        device="cpu",
    )
    method.fit(Samples.contrast(target=game.x[:half], background=game.x[half:]))
    return method.spent


def straight(game: Game) -> float:
    """Train the same networks as one writes it down: each player's loss in full, and one backward pass through everything."""
    torch.manual_seed(0)
    shape, pair = tuple(game.x.shape[1:]), NETWORKS["dcgan"]
    G: Any = Generator(pair, COMMON + SALIENT, shape, WIDTH)
    heads = {"logits": ("real", "target"), "codes": {"z": COMMON, "s": SALIENT}}
    D: Any = Critic(pair, shape, WIDTH, noise_std=NOISE, **heads)  # type: ignore[arg-type]
    for net in (G, D):
        net.to(memory_format=torch.channels_last)
    data = torch.from_numpy(game.x).contiguous(memory_format=torch.channels_last)
    half, start = len(data) // 2, perf_counter()
    optimizers = [torch.optim.Adam(net.parameters(), lr=RATE, betas=BETAS, fused=True) for net in (G, D)]
    for _ in range(game.epochs):
        orders = [torch.randperm(half), half + torch.randperm(half)]
        for index in zip(*(torch.split(order, game.batch) for order in orders), strict=True):
            x = data[torch.cat(index)].float().div_(127.5).sub_(1)
            for number, optimizer in enumerate(optimizers):
                loss = _loss(G, D, x, generator=number == 0)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
    return perf_counter() - start


def _loss(G: nn.Module, D: nn.Module, x: Tensor, generator: bool) -> Tensor:
    """Return one player's loss, with everything that it needs computed for it."""
    n = len(x) // 2
    z, s = torch.randn(2 * n, COMMON), torch.cat([torch.randn(n, SALIENT), torch.zeros(n, SALIENT)])
    fake = G(z, s)
    of_fake, of_real = (D(images, lambda *shape: torch.randn(2 * n, *shape)) for images in (fake, x))
    again = G(of_real["z"], torch.cat([of_real["s"][:n], torch.zeros(n, SALIENT)]))
    heads = of_fake if generator else of_real
    game = functional.softplus(-heads["real"]) + (0 if generator else functional.softplus(of_fake["real"]))
    side = torch.cat([functional.softplus(-heads["target"][:n]), functional.softplus(heads["target"][n:])])
    info = [(of_fake["z"] - z).abs().mean(1), (of_fake["s"] - s).abs().mean(1), (again - x).abs().mean((1, 2, 3))]
    losses: Tensor = 0.5 * game + 0.5 * side + sum(info)
    loss = losses[:n].mean() + 0.5 * losses[n:].mean()
    return loss if generator else loss + of_real["s"][n:].abs().mean()
