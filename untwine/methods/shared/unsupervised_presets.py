"""The settings that the unsupervised VAEs share in the papers that compare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from untwine.method.presets import Preset
from untwine.methods.shared.published_data import REFERENCE, UNSUPERVISED, presets

# Ruiz et al. 2018 (section 5.2) have the same networks and the same training for all methods. Their Laplace scale of 0.01 is
# for images in [-1, 1].
NETWORKS = {"likelihood": "laplace", "scale": 0.005, "batch": 36, "lr": 1e-4, "networks": "karras", "width": 32}
EPOCHS = {"digit_style": 30, "affectnet": 20}

# Kumar et al. 2018 (section 4): the networks and widths of Higgins et al. 2017 for all methods. Neither states epochs and rate.
SHAPES = {"n_latent": 10, "likelihood": "bernoulli", "batch": 400, "lr": 1e-4, "networks": "conv64"}
FACES = {"n_latent": 32, "likelihood": "gaussian", "batch": 100, "lr": 1e-4, "networks": "conv64"}
CHAIRS = {**FACES, "likelihood": "bernoulli"}  # binary masks; the batch is not stated


def kumar_presets(shapes: Mapping[str, Any], faces: Mapping[str, Any]) -> dict[str, Preset]:
    """Return the presets of table 1 of Kumar et al. 2018, with a method's own fields for sprites and for faces."""
    sprites = presets({**SHAPES, **shapes}, UNSUPERVISED, ("dsprites", "dsprites_redrawn"))
    return {**sprites, "celeba": Preset({**FACES, **faces}, UNSUPERVISED["celeba"])}


def ruiz_presets(digits: Mapping[str, Any] | None = None, faces: Mapping[str, Any] | None = None) -> dict[str, Preset]:
    """Return the presets of table 1 of Ruiz et al. 2018, with a method's own fields for digits and for faces."""
    own = {"digit_style": digits or {}, "affectnet": faces or {}}
    return {
        data: Preset({"n_latent": 32, **NETWORKS, "epochs": epochs, **own[data]}, REFERENCE[data])
        for data, epochs in EPOCHS.items()
    }
