"""What games with generated rows need besides their losses: draws that are functions of standard normal noise."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def kept(noise: Tensor, dropped: float) -> Tensor:
    r"""Return 0 with probability `dropped` and else 1, from standard normal noise: $[\Phi(\epsilon) \ge p]$."""
    share: Tensor = torch.special.ndtr(noise)
    return (share >= dropped).to(noise.dtype)


def laplace(noise: Tensor) -> Tensor:
    r"""Return standard normal noise as Laplace noise of scale 1: $-\mathrm{sign}(\epsilon) \log 2 \Phi(-|\epsilon|)$."""
    tail: Tensor = torch.special.log_ndtr(-noise.abs())
    return -noise.sign() * (math.log(2) + tail)
