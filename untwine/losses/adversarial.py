"""What games with generated rows need: draws that are functions of standard normal noise, and the losses of logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional


def kept(noise: Tensor, dropped: float) -> Tensor:
    r"""Return 0 with probability `dropped` and else 1, from standard normal noise: $[\Phi(\epsilon) \ge p]$."""
    share: Tensor = torch.special.ndtr(noise)
    return (share >= dropped).to(noise.dtype)


def laplace(noise: Tensor) -> Tensor:
    r"""Return standard normal noise as Laplace noise of scale 1: $-\mathrm{sign}(\epsilon) \log 2 \Phi(-|\epsilon|)$."""
    tail: Tensor = torch.special.log_ndtr(-noise.abs())
    return -noise.sign() * (math.log(2) + tail)


def uniform(noise: Tensor, low: float, high: float) -> Tensor:
    r"""Return standard normal noise as uniform noise: $l + (h - l) \Phi(\epsilon)$."""
    share: Tensor = torch.special.ndtr(noise)
    return low + (high - low) * share


def index(noise: Tensor, n: int) -> Tensor:
    r"""Return a number from 0 to n - 1, all equally likely, from standard normal noise: $\lfloor n \Phi(\epsilon) \rfloor$."""
    share: Tensor = torch.special.ndtr(noise)
    return (n * share).long().clamp(max=n - 1)  # far out the share is 1 to the last digit


def yes(logits: Tensor) -> Tensor:
    r"""$-\log \sigma(l)$: the cross-entropy of a logit whose answer is yes."""
    return functional.softplus(-logits)


def no(logits: Tensor) -> Tensor:
    r"""$-\log (1 - \sigma(l))$: the cross-entropy of a logit whose answer is no."""
    return functional.softplus(logits)


def shared_at(k: Tensor, s: Tensor, other: Tensor) -> Tensor:
    """Return `other` (n, d) with the numbers of `s` where k (n,) points: two codes with one dimension in common."""
    here = torch.arange(s.shape[1], device=s.device) == k[:, None]
    return torch.where(here, s, other)


def weighted(terms: Mapping[str, tuple[float, Callable[[], Tensor]]]) -> dict[str, Tensor]:
    """Return each term times its weight; one at weight 0 is left out and not computed."""
    return {name: weight * term() for name, (weight, term) in terms.items() if weight}


def gradient_penalty(critic: Callable[[Tensor], Tensor], x: Tensor, made: Tensor, share: Tensor) -> Tensor:
    r"""$E (\|\nabla D(\hat x)\| - 1)^2$ at $\hat x = a x + (1 - a) \tilde x$ between real and made rows; a = share (n,)."""
    a = share.view(-1, *(1 for _ in x.shape[1:]))
    with torch.enable_grad():
        between = (a * x + (1 - a) * made).detach().requires_grad_()
        (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    length: Tensor = torch.linalg.vector_norm(slope.flatten(1), dim=1)
    return (length - 1).square().mean()
