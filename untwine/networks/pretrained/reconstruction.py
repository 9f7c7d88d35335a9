"""Reconstruction losses by name: `l1`, `l2`, or a perceptual loss in the features of a frozen network."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from untwine.networks.pretrained import weights
from untwine.networks.pretrained.perceptual import LOSS_NETWORKS
from untwine.registry.checks import check_choice

LOSSES = ("l1", "l2", *LOSS_NETWORKS)


def check_loss(loss: str, shape: tuple[int, ...]) -> None:
    """Refuse an unknown loss, and a perceptual loss for samples that are not images."""
    check_choice("loss", loss, LOSSES)
    if loss in LOSS_NETWORKS and (len(shape) != 3 or shape[0] not in (1, 3)):
        raise ValueError(f"loss={loss!r} needs images (C, H, W) with 1 or 3 channels; got shape {shape}; use loss='l1'.")


def load_loss(loss: str) -> None:
    """Load the weights of a perceptual loss, so that missing files are reported before training begins."""
    if loss in LOSS_NETWORKS:
        weights.load_perceptual_loss(loss)


def mean_loss(loss: str, generated: Tensor, x: Tensor) -> Tensor:
    """Return the loss of generated samples (n, *shape) given x: mean over elements and samples.

    A perceptual loss is the sum of such means over layers (see `untwine.networks.pretrained.perceptual`).
    """
    if loss == "l1":
        return functional.l1_loss(generated, x)
    if loss == "l2":
        return functional.mse_loss(generated, x)
    return sample_losses(loss, generated, x).mean()


def sample_losses(loss: str, generated: Tensor, x: Tensor) -> Tensor:
    """Return the loss of each sample, (n,)."""
    if loss in LOSS_NETWORKS:
        return weights.load_perceptual_loss(loss).to(x.device, x.dtype)(generated, x)  # type: ignore[no-any-return]
    difference = generated - x
    return (difference.abs() if loss == "l1" else difference.square()).flatten(1).mean(1)
