"""The networks and the inference of the reference-based VAEs (Ruiz et al. 2018); objectives are in the methods' own files."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from untwine._typing import Array
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import TwoBlockVAE
from untwine.methods.shared.inferred import refuse_per_target
from untwine.methods.shared.published_data import REFERENCE
from untwine.methods.shared.unsupervised_presets import EPOCHS, NETWORKS
from untwine.networks.autoencoder import Autoencoder

BETAS = (0.5, 0.99)  # of Adam, as in Ruiz et al. 2018


def paper_presets(**changes: Any) -> Mapping[str, Preset]:
    """Return the paper's presets by data set, with the changes of one method."""
    setting = {"n_common": 32, "n_salient": 32, "trunks": "separate", **NETWORKS, **changes}
    return {data: Preset({**setting, "epochs": EPOCHS[data]}, REFERENCE[data]) for data in EPOCHS}


@dataclass(eq=False, kw_only=True)
class ReferenceVAE(TwoBlockVAE):
    """A VAE whose backgrounds are all decoded with one learned salient code, the reference vector, but for its objective.

    Parameters
    ----------
    likelihood
        The likelihood p(x | codes): `gaussian_learned` learns a variance for each column or channel, `gaussian` and `laplace`
        have one `scale`, `bernoulli` is for images; `negative_binomial` and `zero_inflated` are for vectors of raw counts,
        with a learned dispersion for each feature. `auto` is `gaussian_learned` for vectors and, as in the paper, `laplace` for
        images.
    trunks
        The encoder: `shared` has one trunk with the heads of both blocks, `separate` is a network for each block, the paper's.
    """

    trunks: Literal["shared", "separate"] = "shared"

    def check(self) -> None:
        """Refuse a salient block for each target."""
        super().check()
        refuse_per_target(type(self).__name__, self.salient, "its objective leaves e of all samples but the target's open")

    def autoencoder(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> Autoencoder:
        """Return encoder and decoder, with a Laplace likelihood for images unless another is chosen."""
        spec = copy.copy(self)
        if self.likelihood == "auto" and len(shape) > 1:
            spec.likelihood = "laplace"
        return Autoencoder(spec, shape, own, separate=self.trunks == "separate")

    def reference(self) -> nn.ParameterDict:
        """Return the reference vector e^r, which starts at 0."""
        return nn.ParameterDict({"e": nn.Parameter(torch.zeros(self.blocks["salient"]))})

    def neutral(self) -> dict[str, Array]:
        """Return the reference vector: the salient code of every background."""
        return {"salient": self.nets_["reference"]["e"].detach().float().cpu().numpy()}
