"""The closed table of methods, and how a saved one is read back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from torch import nn

from untwine import files
from untwine.method import FORMAT_VERSION, Method, seal
from untwine.methods.beta_vae import BetaVAE
from untwine.methods.contrastive_vae import ContrastiveVAE
from untwine.methods.pca import PCA
from untwine.methods.principled_vae import PrincipledVAE
from untwine.methods.vae import VAE

__all__ = ["METHODS", "PCA", "VAE", "BetaVAE", "ContrastiveVAE", "PrincipledVAE", "find_method", "load_method"]

METHODS: Mapping[str, type[Method]] = {
    method.name: method
    for method in (PrincipledVAE, ContrastiveVAE, VAE, BetaVAE, PCA)  # the first is the default
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
    if not (folder / "method.json").is_file():
        reason = "there is no method.json in it" if folder.is_dir() else "there is no such folder"
        raise ValueError(
            f"{folder} expected a run folder of untwine, but {reason}; make one with method.save or `untwine fit --out`."
        )
    card = files.read_json(folder / "method.json")
    version = card.get("format_version")
    if not isinstance(version, int):
        raise ValueError(
            f"{folder} expected a run folder of untwine, but its method.json has no format_version; it is not ours."
        )
    if version > FORMAT_VERSION:
        raise ValueError(f"{folder} expected format {FORMAT_VERSION} or older, but has {version}; update untwine to read it.")
    if card.pop("sha256", None) != seal(card):
        raise ValueError(f"{folder}/method.json expected to be as it was saved, but it was changed; restore it or fit again.")
    return _configured(card, folder).restore(card, folder, dict(networks or {}))


def _configured(card: Mapping[str, Any], folder: Path) -> Method:
    try:
        method = find_method(card["method"])(**card["params"])
        method.check()
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{folder}/method.json expected a method and options that this version knows, but: {error}") from None
    return method
