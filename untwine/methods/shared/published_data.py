"""How the papers use their data sets: the data options of the presets, by paper and name of the data set.

What a paper leaves open is not in the options, so that the data set's own default applies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from untwine.method.presets import DataSetting, Preset

_GRASS = DataSetting({"n_per_class": 4986, "n_background": 4986, "rho": 0.5}, (3, 28, 28), 54_846)
_FACES = {"size": 64, "n_per_class": 5000, "n_background": 10_000}

# *Towards Principled Objectives* (appendix A.1). It holds nothing out: the test split is the data set's.
PRINCIPLED: Mapping[str, DataSetting] = {
    "grassy_mnist": _GRASS,
    "grassy_mnist_nonlinear": _GRASS,
    "celeba_accessories": DataSetting(_FACES, (3, 64, 64), 20_000),
    "affectnet": DataSetting({"size": 96, "n_per_class": 5000}, (3, 96, 96)),
}

# Ruiz et al. 2018 (sections 5.1 and 5.3, appendix C). Its 150,000 unlabelled faces are a subset that is not described.
REFERENCE: Mapping[str, DataSetting] = {
    "digit_style": DataSetting(
        {"digits": "mnist", "size": 64, "n_background": 30_000, "n_target": 60_000, "n_test": 10_000}, (3, 64, 64), 90_000
    ),
    "affectnet": DataSetting({"size": 96, "n_background": 10_000, "n_test": 500}, (3, 96, 96)),
}

# Kumar et al. 2018 (section 4). How many sprites are held out is not stated.
_SHAPES = DataSetting({"size": 64}, (1, 64, 64))
UNSUPERVISED: Mapping[str, DataSetting] = {
    "dsprites": _SHAPES,
    "dsprites_redrawn": _SHAPES,
    "celeba": DataSetting({"size": 64, "test": 0.1}, (3, 64, 64)),
    "chairs3d": DataSetting({"size": 64}, (1, 64, 64)),
}

# Carton et al. 2024 (section 4). The numbers of slices of BraTS and of images of dSprites-MNIST are not stated.
INFOGAN: Mapping[str, DataSetting] = {
    "celeba_accessories": DataSetting({**_FACES, "n_test": 5000}, (3, 64, 64), 20_000),
    "cifar_mnist": DataSetting({"size": 64, "n_target": 25_000, "n_background": 25_000, "n_test": 10_000}, (3, 64, 64), 50_000),
    "dsprites_mnist": DataSetting({"size": 64}, (1, 64, 64)),
    "brats": DataSetting({"size": 128}, (1, 128, 128)),
}
# Their code: half of each image, and digits at half their brightness; about 73,700 images with a sprite and without.
INFOGAN_CODE: Mapping[str, DataSetting] = {
    **INFOGAN,
    "cifar_mnist": DataSetting({**INFOGAN["cifar_mnist"].options, "mix": "authors"}, (3, 64, 64), 50_000),
    "dsprites_mnist": DataSetting(
        {"size": 64, "n_target": 73_700, "n_background": 73_700, "mix": "authors"}, (1, 64, 64), 147_400
    ),
    "brats": DataSetting({"size": 128, "every": 1}, (1, 128, 128)),
}

# Gabbay and Hoshen 2020 (appendix A.2). Cars3D: 163 models for training and 20 held out. SmallNorb: a class is one of the fifty
# toys at one elevation in one lighting, 25 toys for training; in SmallNorb-Poses a toy in one lighting, all for training. RaFD
# is cropped to 128 x 128 as in StarGAN.
CLASS_CONTENT: Mapping[str, DataSetting] = {
    "cars3d": DataSetting({"size": 64, "held_out": "models", "n_test": 20}, (3, 64, 64), 163 * 96),
    "smallnorb": DataSetting({"size": 64, "held_out": "instances", "content": "azimuth"}, (1, 64, 64), 24_300),
    "smallnorb_poses": DataSetting({"size": 64, "n_test": 4860}, (1, 64, 64), 43_740),
    "celeba_identity": DataSetting({"size": 64, "n_test": 1000, "least": 1}, (3, 64, 64)),
    "kth": DataSetting({"size": 64, "test": 0.1}, (1, 64, 64)),
    "rafd": DataSetting({"size": 128, "test": 0.1}, (3, 128, 128), 4_342),
    "edges2shoes": DataSetting({"size": 64}, (3, 64, 64)),
}


def presets(fields: Mapping[str, Any], data: Mapping[str, DataSetting], names: Iterable[str]) -> dict[str, Preset]:
    """Return presets with the same fields for several data sets of a paper."""
    return {name: Preset(fields, data[name]) for name in names}
