"""What the InfoGANs share: how rows and codes are seen, drawn and compared."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn

from untwine.losses import adversarial
from untwine.method.contract import Method

BETAS = (0.5, 0.999)  # of Adam, as in paper 003
ERRORS = ("laplace", "gaussian")
PRIORS = ("normal", "uniform")


def only_ours(method: Method, own: Mapping[str, nn.Module]) -> None:
    """Refuse own networks, and options that mean nothing, in one sentence."""
    if own:
        names = ", ".join(sorted(own))
        raise ValueError(f"{type(method).__name__} expected no networks of your own; got {names}; name some by networks.")
    for field, value in method.get_params().items():
        kinds = ERRORS if field == "posterior" else PRIORS if field.startswith("prior_") else ()
        if kinds and value not in kinds:
            raise ValueError(f"{field} must be one of {', '.join(kinds)}; got {value!r}.")
    if not method.get_params()["w_adv"]:
        raise ValueError(
            "w_adv must be a number above 0, for without the game nothing tells the generator what rows look like."
        )
    *_, (block, width) = method.blocks.items()
    if method.get_params()["w_cr"] and width < 2:
        raise ValueError(f"w_cr expected at least 2 codes in {block}, to say which of them two rows share; got 1; set w_cr=0.")


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
