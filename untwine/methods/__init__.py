"""The closed table of methods, and how a saved one is read back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from torch import nn

from untwine.method.contract import Method
from untwine.method.inputs import check_networks
from untwine.methods.beta_tcvae import BetaTCVAE
from untwine.methods.beta_vae import BetaVAE
from untwine.methods.contrastive_pca import ContrastivePCA
from untwine.methods.contrastive_vae import ContrastiveVAE
from untwine.methods.cycle_vae import CycleVAE
from untwine.methods.dip_vae import DIPVAE
from untwine.methods.double_infogan import DoubleInfoGAN
from untwine.methods.drnet import DrNet
from untwine.methods.factor_vae import FactorVAE
from untwine.methods.generalised_contrastive_pca import GeneralisedContrastivePCA
from untwine.methods.infogan import InfoGAN
from untwine.methods.lord import LORD
from untwine.methods.mixing_ae import MixingAE
from untwine.methods.mlvae import MLVAE
from untwine.methods.mm_cvae import MMcVAE
from untwine.methods.pca import PCA
from untwine.methods.principled_vae import PrincipledVAE
from untwine.methods.probabilistic_contrastive_pca import ProbabilisticContrastivePCA
from untwine.methods.rb_vae import RbVAE
from untwine.methods.sep_vae import SepVAE
from untwine.methods.stargan import StarGAN
from untwine.methods.symmetric_rb_vae import SymmetricRbVAE
from untwine.methods.symmetric_vae import SymmetricVAE
from untwine.methods.vae import VAE
from untwine.runs.saving import read_sealed_card, unknown_method

__all__ = [
    "DIPVAE",
    "LORD",
    "METHODS",
    "MLVAE",
    "PCA",
    "VAE",
    "BetaTCVAE",
    "BetaVAE",
    "ContrastivePCA",
    "ContrastiveVAE",
    "CycleVAE",
    "DoubleInfoGAN",
    "DrNet",
    "FactorVAE",
    "GeneralisedContrastivePCA",
    "InfoGAN",
    "MMcVAE",
    "MixingAE",
    "PrincipledVAE",
    "ProbabilisticContrastivePCA",
    "RbVAE",
    "SepVAE",
    "StarGAN",
    "SymmetricRbVAE",
    "SymmetricVAE",
    "find_method",
    "load_method",
]

METHODS: Mapping[str, type[Method]] = {
    method.name: method
    for method in (  # the first is the default
        PrincipledVAE,
        ContrastiveVAE,
        MMcVAE,
        SepVAE,
        RbVAE,
        SymmetricRbVAE,
        DoubleInfoGAN,
        ContrastivePCA,
        GeneralisedContrastivePCA,
        ProbabilisticContrastivePCA,
        LORD,
        MLVAE,
        DrNet,
        CycleVAE,
        MixingAE,
        StarGAN,
        VAE,
        BetaVAE,
        DIPVAE,
        FactorVAE,
        BetaTCVAE,
        SymmetricVAE,
        InfoGAN,
        PCA,
    )
}


def find_method(name: str) -> type[Method]:
    """Return a method of the catalogue by its name."""
    if name not in METHODS:
        near = get_close_matches(name, METHODS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(METHODS)}."
        raise ValueError(f"the method must be a name from the catalogue; got {name!r}; {hint}")
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
    card = read_sealed_card(folder)
    try:
        method = find_method(card["method"])().set_params(**card["params"])
        method.check()
    except (TypeError, ValueError) as error:
        raise unknown_method(folder, error) from None
    return method.restore(card, folder, check_networks(networks))
