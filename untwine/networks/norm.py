"""Batch norm over the global batch of all processes (`torch.nn.SyncBatchNorm` runs on GPUs only)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.training import distributed


class BatchNorm(nn.Module):
    """Normalise each channel over the global batch; in evaluation mode by the running statistics.

    The sums over processes are differentiable, so two processes with half the batch each take the step of one.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, channels: int, momentum: float = 0.1, eps: float = 1e-5) -> None:
        super().__init__()
        self.momentum, self.eps, self.track_running_stats = momentum, eps, True
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (n, C) or (n, C, H, W)."""
        if not self.training:
            return functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps)
        if distributed.world() == 1:
            mean, var = (self.running_mean, self.running_var) if self.track_running_stats else (None, None)
            return functional.batch_norm(x, mean, var, self.weight, self.bias, True, self.momentum, self.eps)
        return self._over_processes(x)

    def _over_processes(self, x: Tensor) -> Tensor:
        axes = [0, *range(2, x.ndim)]
        view = (1, -1, *(1 for _ in axes[1:]))
        count = x.numel() // x.shape[1] * distributed.world()
        mean = distributed.total(x.sum(axes)) / count
        centred = x - mean.view(view)
        var = distributed.total(centred.square().sum(axes)) / count
        if self.track_running_stats:
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_var.lerp_(var * count / max(count - 1, 1), self.momentum)
        return centred * (torch.rsqrt(var + self.eps) * self.weight).view(view) + self.bias.view(view)


@contextmanager
def freeze_running_stats(*modules: nn.Module) -> Iterator[None]:
    """Do not update running statistics inside: for generated samples, or in another player's step."""
    norms = [layer for module in modules for layer in module.modules() if isinstance(layer, BatchNorm)]
    before = [norm.track_running_stats for norm in norms]
    for norm in norms:
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm, tracked in zip(norms, before, strict=True):
            norm.track_running_stats = tracked
