"""The catalogue of methods: ours, those that a script registers and those of installed packages; and how a run is loaded."""

from __future__ import annotations

import dataclasses
import inspect
import os
from collections.abc import Mapping
from pathlib import Path

from torch import nn

from untwine.method.contract import Method
from untwine.method.features import Features
from untwine.method.inputs import check_networks
from untwine.registry.catalogue import Catalogue
from untwine.registry.checks import suggestion
from untwine.runs.saving import read_sealed_card, unknown_method

# One line for each method, in the order of the catalogue; the first is the default.
# isort: off
from untwine.methods.principled_vae import PrincipledVAE as PrincipledVAE
from untwine.methods.recombining_vae import RecombiningVAE as RecombiningVAE
from untwine.methods.contrastive_vae import ContrastiveVAE as ContrastiveVAE
from untwine.methods.mm_cvae import MMcVAE as MMcVAE
from untwine.methods.sep_vae import SepVAE as SepVAE
from untwine.methods.rb_vae import RbVAE as RbVAE
from untwine.methods.symmetric_rb_vae import SymmetricRbVAE as SymmetricRbVAE
from untwine.methods.double_infogan import DoubleInfoGAN as DoubleInfoGAN
from untwine.methods.contrastive_pca import ContrastivePCA as ContrastivePCA
from untwine.methods.generalised_contrastive_pca import GeneralisedContrastivePCA as GeneralisedContrastivePCA
from untwine.methods.probabilistic_contrastive_pca import ProbabilisticContrastivePCA as ProbabilisticContrastivePCA
from untwine.methods.lord import LORD as LORD
from untwine.methods.mlvae import MLVAE as MLVAE
from untwine.methods.drnet import DrNet as DrNet
from untwine.methods.cycle_vae import CycleVAE as CycleVAE
from untwine.methods.mixing_ae import MixingAE as MixingAE
from untwine.methods.stargan import StarGAN as StarGAN
from untwine.methods.vae import VAE as VAE
from untwine.methods.beta_vae import BetaVAE as BetaVAE
from untwine.methods.dip_vae import DIPVAE as DIPVAE
from untwine.methods.factor_vae import FactorVAE as FactorVAE
from untwine.methods.beta_tcvae import BetaTCVAE as BetaTCVAE
from untwine.methods.symmetric_vae import SymmetricVAE as SymmetricVAE
from untwine.methods.infogan import InfoGAN as InfoGAN
from untwine.methods.pca import PCA as PCA
# isort: on

CLASSES: dict[str, type[Method]] = {
    kind.__name__: kind
    for kind in list(globals().values())
    if inspect.isclass(kind) and issubclass(kind, Method) and "name" in vars(kind)
}


def _check(name: str, kind: object) -> None:
    """Refuse what is no method, or has another name."""
    if not inspect.isclass(kind) or not issubclass(kind, Method):
        raise TypeError(f"a method must be a subclass of Method; got {kind!r} for {name!r}.")
    if inspect.isabstract(kind) or not dataclasses.is_dataclass(kind):
        missing = ", ".join(sorted(getattr(kind, "__abstractmethods__", ()))) or "the decorator @dataclass"
        raise TypeError(
            f"a method must be a dataclass that implements all abstract methods of Method; {kind.__name__} lacks {missing}."
        )
    if getattr(kind, "name", None) != name:
        raise ValueError(
            f"the method {kind.__name__} must be registered under its own name; got {name!r}; set {kind.__name__}.name."
        )


METHODS: Catalogue[type[Method]] = Catalogue(
    "method", "untwine.methods", lambda: {kind.name: kind for kind in CLASSES.values()}, _check
)


def find_method(name: str) -> type[Method]:
    """Return a method of the catalogue by its name."""
    return METHODS.find(name)


def load_method(
    path: str | os.PathLike[str], *, networks: Mapping[str, nn.Module] | None = None, features: Features | None = None
) -> Method:
    """Load a run folder as a fitted method.

    Parameters
    ----------
    path
        The folder that `save`, or `untwine fit --out`, wrote.
    networks
        The user's own modules, if it was fitted with some.
    features
        The user's own frozen network, if it was fitted on the features that it makes of images.
    """
    folder = Path(path)
    card = read_sealed_card(folder)
    if card["method"] not in METHODS:
        raise ValueError(
            f"{folder} is a run of the method {card['method']!r}, which is not known here; install the package that has it, or "
            f"call un.register with its class first; {suggestion(card['method'], METHODS)}"
        )
    try:
        method = find_method(card["method"])().set_params(**card["params"])
        method.check()
    except (TypeError, ValueError) as error:
        raise unknown_method(folder, error) from None
    method = method.restore(card, folder, check_networks(networks))
    if features is not None:
        method.use_features(features)
    return method
