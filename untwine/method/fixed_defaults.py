"""The settings of methods that do not depend on the data: the defaults before there were automatic ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

# Of every method that has the field, and chooses it from the data by default.
OF_ALL: Mapping[str, Any] = {
    "epochs": 50,
    "batch": 64,
    "networks": "standard",
    "n_latent": 10,
    "n_common": 8,
    "n_salient": 8,
    "scale": 0.16,
}
# Of single methods, by name.
OF_METHODS: Mapping[str, Mapping[str, Any]] = {
    "principled_vae": {"scale": 0.32},
    "contrastive_vae": {"scale": 0.32},
    "sep_vae": {"scale": 0.32},
    "lord": {"epochs": 100, "batch": 128, "epochs_encoders": 20},
    "stargan": {"batch": 16},
    "mm_cvae": {"scale": 0.2},
    "rb_vae": {"scale": 0.1},
    "symmetric_rb_vae": {"scale": 0.1},
}


def fixed_defaults(kind: type, name: str) -> dict[str, Any]:
    """Return the fixed value of every field of a method whose default is "auto", as far as it had one."""
    known = {**OF_ALL, **OF_METHODS.get(name, {})}
    automatic = (field.name for field in dataclasses.fields(kind) if field.default == "auto")
    return {field: known[field] for field in automatic if field in known}
