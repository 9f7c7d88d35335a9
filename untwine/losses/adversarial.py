r"""Terms of adversarial training, and random draws as deterministic functions of standard normal noise.

The draws apply the inverse of the target's distribution function to $u = \Phi(\epsilon)$, which is uniform on (0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional


def dropout_mask(noise: Tensor, p: float) -> Tensor:
    r"""Transform standard normal noise to a mask that is 0 with probability p and else 1: $[\Phi(\epsilon) \ge p]$."""
    u: Tensor = torch.special.ndtr(noise)
    return (u >= p).to(noise.dtype)


def laplace(noise: Tensor) -> Tensor:
    r"""Transform standard normal noise to Laplace(0, 1): $-\mathrm{sign}(\epsilon) \log 2 \Phi(-|\epsilon|)$."""
    tail: Tensor = torch.special.log_ndtr(-noise.abs())
    return -noise.sign() * (math.log(2) + tail)


def uniform(noise: Tensor, low: float, high: float) -> Tensor:
    r"""Transform standard normal noise to Uniform(low, high): $l + (h - l) \Phi(\epsilon)$."""
    u: Tensor = torch.special.ndtr(noise)
    return low + (high - low) * u


def uniform_index(noise: Tensor, n: int) -> Tensor:
    r"""Transform standard normal noise to a uniform integer in {0, ..., n - 1}: $\lfloor n \Phi(\epsilon) \rfloor$."""
    u: Tensor = torch.special.ndtr(noise)
    return (n * u).long().clamp(max=n - 1)  # for large noise u rounds to 1


def bce_real(logits: Tensor) -> Tensor:
    r"""Binary cross-entropy of logits whose true class is 1 (real), elementwise: $-\log \sigma(l)$."""
    return functional.softplus(-logits)


def bce_fake(logits: Tensor) -> Tensor:
    r"""Binary cross-entropy of logits whose true class is 0 (fake), elementwise: $-\log (1 - \sigma(l))$."""
    return functional.softplus(logits)


def share_dimension(k: Tensor, s: Tensor, other: Tensor) -> Tensor:
    """Return `other` (n, d) with dimension k[i] of sample i copied from `s` (n, d); k is (n,)."""
    shared = torch.arange(s.shape[1], device=s.device) == k[:, None]
    return torch.where(shared, s, other)


def weighted_terms(terms: Mapping[str, tuple[float, Callable[[], Tensor]]]) -> dict[str, Tensor]:
    """Return weight * term() by name; a term with weight 0 is left out and never computed."""
    return {name: weight * term() for name, (weight, term) in terms.items() if weight}


def gradient_penalty(critic: Callable[[Tensor], Tensor], x: Tensor, generated: Tensor, alpha: Tensor) -> Tensor:
    r"""Gradient penalty of a Wasserstein critic (Gulrajani et al. 2017): $E (\|\nabla D(\hat x)\|_2 - 1)^2$.

    Taken at interpolates $\hat x = \alpha x + (1 - \alpha) \tilde x$ of real samples x (n, *shape) and generated samples
    (n, *shape), with alpha (n,) in [0, 1]; mean over samples. The gradient reaches the critic's parameters only.
    """
    a = alpha.view(-1, *(1 for _ in x.shape[1:]))
    with torch.enable_grad():
        x_hat = (a * x + (1 - a) * generated).detach().requires_grad_()
        (gradient,) = torch.autograd.grad(critic(x_hat).sum(), x_hat, create_graph=True)
    norm: Tensor = torch.linalg.vector_norm(gradient.flatten(1), dim=1)
    return (norm - 1).square().mean()
