"""The closed table of methods, and how a saved one is read back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from torch import nn

from untwine.entry import own_modules
from untwine.method import Method
from untwine.methods.beta_vae import BetaVAE
from untwine.methods.contrastive_pca import ContrastivePCA
from untwine.methods.contrastive_vae import ContrastiveVAE
from untwine.methods.generalised_contrastive_pca import GeneralisedContrastivePCA
from untwine.methods.pca import PCA
from untwine.methods.principled_vae import PrincipledVAE
from untwine.methods.probabilistic_contrastive_pca import ProbabilisticContrastivePCA
from untwine.methods.vae import VAE
from untwine.run_folder import read_card

__all__ = [
    "METHODS",
    "PCA",
    "VAE",
    "BetaVAE",
    "ContrastivePCA",
    "ContrastiveVAE",
    "GeneralisedContrastivePCA",
    "PrincipledVAE",
    "ProbabilisticContrastivePCA",
    "find_method",
    "load_method",
]

METHODS: Mapping[str, type[Method]] = {
    method.name: method
    for method in (  # the first is the default
        PrincipledVAE,
        ContrastiveVAE,
        ContrastivePCA,
        GeneralisedContrastivePCA,
        ProbabilisticContrastivePCA,
        VAE,
        BetaVAE,
        PCA,
    )
}


def find_method(name: str) -> type[Method]:
    """Return a method of the catalogue by its name."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(METHODS)}."
        raise ValueError(f"the method expected a name from the catalogue, but got {name!r}; {hint}")
    return METHODS[name]


def load_method(path: str | os.PathLike[str], *, networks: Mapping[str, nn.Module] | None = None) -> Method:
    """Read a run folder back as a fitted method.

    Parameters
    ----------
    path
        The folder that `save`, or `untwine fit --out`, wrote.
    networks
        The user's own modules, if it was fitted with some.
    """
    folder = Path(path)
    card = read_card(folder)
    try:
        method = find_method(card["method"])().set_params(**card["params"])
        method.check()
    except (TypeError, ValueError) as error:
        raise ValueError(f"{folder}/method.json expected a method and options that this version knows, but: {error}") from None
    return method.restore(card, folder, own_modules(networks))
