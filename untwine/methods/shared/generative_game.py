"""What the InfoGANs share: how rows and codes are seen, drawn and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from torch import Tensor, nn

from untwine.losses import adversarial
from untwine.method.contract import Method

BETAS = (0.5, 0.999)  # of Adam, as in paper 003
Prior = Literal["normal", "uniform"]
CodePosterior = Literal["laplace", "gaussian"]


def refuse_own_networks(method: Method, own: Mapping[str, nn.Module]) -> None:
    """Refuse modules of the user's own."""
    if own:
        names = ", ".join(sorted(own))
        raise ValueError(
            f"{type(method).__name__} takes no networks of your own; got {names}; name some by networks."
        )


def check_regulariser(method: Method, field: str, width: int | str, w_cr: float) -> None:
    """Refuse the contrastive regulariser for a block of one dimension: there is none to choose among."""
    if w_cr and width == 1:
        raise ValueError(
            f"{type(method).__name__}: w_cr must be 0 where {field} is 1, for two images share one dimension of at least 2; "
            f"got {w_cr}; set w_cr=0, or raise {field}."
        )


def framed(x: Tensor) -> Tensor:
    """Return images in [0, 1] as the networks see them, in [-1, 1]; vectors as they are."""
    return 2 * x - 1 if x.ndim == 4 else x


def imaged(x: Tensor) -> Tensor:
    """Return the networks' images in [0, 1]; vectors as they are."""
    return (x + 1) / 2 if x.ndim == 4 else x


def drawn(noise: Tensor, prior: str, low: float) -> Tensor:
    """Return standard normal noise as draws from a prior: itself, or uniform from `low` to 1."""
    return noise if prior == "normal" else adversarial.uniform(noise, low, 1.0)


def error(said: Tensor, truth: Tensor, posterior: str) -> Tensor:
    """Return -log q of each number, up to a constant: the absolute error of a Laplace code, half the square of a Gaussian."""
    return (said - truth).abs() if posterior == "laplace" else 0.5 * (said - truth).square()
