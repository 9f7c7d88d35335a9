"""Checks of what a method is given: samples with their supervision, the user's own modules, a device."""

from __future__ import annotations

import typing
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from untwine._typing import Array
from untwine.registry.sparse_vectors import is_sparse
from untwine.samples import BACKGROUND, Samples

Needs = Literal["nothing", "groups", "labels"]
FOR_VOLUMES = (  # the names of all methods that take volumes
    "principled_vae",
    "recombining_vae",
    "contrastive_vae",
    "mm_cvae",
    "sep_vae",
    "rb_vae",
    "symmetric_rb_vae",
    "contrastive_pca",
    "generalised_contrastive_pca",
    "probabilistic_contrastive_pca",
    "vae",
    "beta_vae",
    "dip_vae",
    "factor_vae",
    "beta_tcvae",
    "symmetric_vae",
    "pca",
)
SAMPLES_AT_ONCE, VOLUMES_AT_ONCE = 1024, 32
COUNT_ZEROS, COUNT_MAX = 0.3, 50  # the share of zeros and the largest value from which integers look like counts


def as_samples(x: Samples | ArrayLike, y: ArrayLike | None, needs: Needs) -> Samples:
    """Return what `fit` was given as samples, with `y` as the supervision that the method needs."""
    if isinstance(x, Samples) and y is None:
        return x
    if isinstance(x, Samples):
        raise TypeError("fit takes Samples alone, or an array with y; got Samples and y; put y into the Samples.")
    array = typing.cast(Array, x)  # Samples converts what is no array yet, or refuses it
    if y is None or needs == "nothing":
        return Samples(array)
    if needs == "groups":
        groups = np.asarray(y)
        if groups.ndim == 1 and groups.dtype.kind in "USO":
            raise ValueError("y must be groups as integers; got names; write 0 for the background and 1 or more for targets.")
        return Samples(array, groups=groups)
    return Samples(array, labels=np.asarray(y))


def warn_of_counts(samples: Samples) -> None:
    """Warn of vectors that look like raw counts.

    All values are non-negative integers, the share `COUNT_ZEROS` of them or more is 0, and the largest is at least `COUNT_MAX`.
    """
    x = samples.x
    if x.ndim > 2 or x.min() < 0 or x.max() < COUNT_MAX:
        return
    values = x.data if is_sparse(x) else x  # of a sparse x those that are not 0
    zeros = 1 - np.count_nonzero(values) / (len(samples) * x.shape[1])
    if zeros >= COUNT_ZEROS and np.equal(values, np.rint(values)).all():
        warnings.warn(
            f"x looks like raw counts: non-negative integers up to {x.max():.0f}, {100 * zeros:.0f} % of them 0; they are "
            "taken as real numbers; choose likelihood='negative_binomial' where the method has it, or normalise each sample "
            "to the same total and take np.log1p first.",
            stacklevel=4,
        )


def check_counts(x: Array) -> None:
    """Refuse what is no vector of counts."""
    if x.ndim != 2:
        raise ValueError(f"a likelihood of counts needs vectors (n, d); got images of shape {x.shape}; choose another one.")
    values: Any = x.data if is_sparse(x) else x  # of a sparse x those that are not 0
    wrong = (values < 0) | (values != np.rint(values))
    if wrong.any():
        size = x.shape[0] * x.shape[1]
        raise ValueError(
            f"a likelihood of counts needs x of non-negative integers; {int(wrong.sum())} of {size} values are not, such as "
            f"{values[wrong][0]:g}; pass the raw counts, or choose another likelihood."
        )


def require(samples: Samples, needs: Needs, title: str, takes_volumes: bool) -> None:
    """Refuse samples without the supervision that the method needs, and volumes where it has no networks for them."""
    if samples.is_volume and not takes_volumes:
        raise ValueError(
            f"{title} needs images or vectors; got volumes of shape {samples.shape}; take slices of them, or fit one of "
            f"{', '.join(FOR_VOLUMES)}."
        )
    if needs == "groups":
        if samples.groups is None:
            raise ValueError(
                f"{title} needs samples of target and background; got samples without groups; create them with "
                "Samples.contrast(target=..., background=...), or pass groups as y."
            )
        for side, count in (
            ("target", int((samples.groups != BACKGROUND).sum())),
            ("background", int((samples.groups == BACKGROUND).sum())),
        ):
            if count < 2:
                raise ValueError(
                    f"{title} needs at least 2 samples of {side}; got {count} sample{'s' * (count != 1)}; "
                    "add some, or use an unsupervised method."
                )
    if len(samples) < 2:
        raise ValueError(f"{title} needs at least 2 samples; got {len(samples)} sample; add some.")
    if needs == "labels":
        _require_classes(samples, title)


def samples_at_once(shape: tuple[int, ...]) -> int:
    """Return how many samples of a shape are encoded or decoded at a time."""
    return VOLUMES_AT_ONCE if len(shape) == 4 else SAMPLES_AT_ONCE


def _require_classes(samples: Samples, title: str) -> None:
    if samples.labels is None:
        raise ValueError(f"{title} needs the class of every sample; got no labels; pass Samples(x, labels=...) or y.")
    if unknown := int((samples.labels < 0).sum()):
        raise ValueError(
            f"{title} needs the class of every sample; {unknown} of {len(samples)} are unknown (-1); leave those samples out."
        )
    if len(np.unique(samples.labels)) < 2:
        raise ValueError(f"{title} needs at least 2 classes; all {len(samples)} samples are of one; add samples of others.")


def choose_device(name: str) -> torch.device:
    """Return the device of that name, if it is available."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        device = None
    if device is None or device.type not in ("cpu", "cuda", "mps"):
        raise ValueError(f"device must be auto, cpu, cuda or mps, and available on this machine; got {name!r}; use 'auto'.")
    return device


def check_networks(networks: Mapping[str, nn.Module] | None) -> dict[str, nn.Module]:
    """Return the user's own modules by name, or refuse what is no module."""
    if networks is None:
        return {}
    if not isinstance(networks, Mapping) or not all(isinstance(module, nn.Module) for module in networks.values()):
        raise TypeError(
            f"networks must be your own modules by name, such as {{'encoder': module}}; got {describe_type(networks)}."
        )
    return dict(networks)


def describe_type(value: object) -> str:
    """Describe a value for an error message."""
    return f"{value!r}" if isinstance(value, str) else f"a {type(value).__name__}"
