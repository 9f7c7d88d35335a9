"""Our training and a loop written by hand: each does the work once and returns the seconds of its epochs."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from benchmarks.work import BATCH, LATENT, Work
from untwine import VAE
from untwine.training.stage import Stage

RATE = 1e-3


class Clocked(VAE):
    """Our VAE with a clock around its stages: everything that `fit` does from the first optimizer to the last epoch."""

    def stages(self) -> Iterator[Stage]:
        """Train as ever, and note the seconds."""
        start = perf_counter()
        yield from super().stages()
        self.spent = perf_counter() - start


def ours(work: Work) -> float:
    """Fit our VAE with the given networks."""
    encoder, decoder = work.fresh()
    method = Clocked(
        n_latent=LATENT, epochs=work.epochs, batch=BATCH, lr=RATE, likelihood="gaussian", scale=work.scale, device="cpu"
    )
    method.fit(work.x, networks={"encoder": encoder, "decoder": decoder})
    return method.spent


def bare(work: Work) -> float:
    """Train by hand as one would for speed: the same model and optimizer, the fastest layout, no checks and no history."""
    encoder, decoder = work.fresh()
    nets: Any = nn.ModuleList([encoder, decoder])
    # Convolutions are faster with the channels last; fully connected layers would only pay for the copy.
    convolves = any(isinstance(module, nn.Conv2d) for module in nets.modules())
    layout = torch.channels_last if convolves else torch.contiguous_format
    if convolves:
        nets.to(memory_format=layout)
    data = torch.from_numpy(work.x).contiguous(memory_format=layout)
    is_image = data.ndim == 4
    start = perf_counter()
    optimizer = torch.optim.Adam(nets.parameters(), lr=RATE, fused=True)
    for _ in range(work.epochs):
        for index in torch.split(torch.randperm(len(data)), BATCH):
            x = data[index]
            x = x.float().div_(255) if x.dtype == torch.uint8 else x
            mu, logvar = encoder(x).chunk(2, 1)
            logvar = 10 * torch.tanh(logvar / 10)
            z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
            mean = torch.sigmoid(decoder(z)) if is_image else decoder(z)
            reconstruction = functional.mse_loss(mean, x, reduction="sum") / (2 * work.scale**2 * len(x))
            kl = 0.5 * (mu.square() + logvar.exp() - 1 - logvar).sum(1).mean()
            optimizer.zero_grad()
            (reconstruction + kl).backward()
            optimizer.step()
    return perf_counter() - start
