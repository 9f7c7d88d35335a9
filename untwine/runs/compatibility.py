"""Options that were renamed or added since: run folders and finished cells of studies written before stay valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# (option of a data set, its value today) -> the value that was written before
RENAMED: Mapping[tuple[str, str], str] = {("held_out", "images"): "pictures"}
TODAY = {(option, former): value for (option, value), former in RENAMED.items()}
# The methods whose likelihood may be one of counts.
LIKELIHOODS_OF_COUNTS = (
    "beta_tcvae",
    "beta_vae",
    "contrastive_vae",
    "dip_vae",
    "factor_vae",
    "mm_cvae",
    "principled_vae",
    "rb_vae",
    "recombining_vae",
    "sep_vae",
    "symmetric_rb_vae",
    "symmetric_vae",
    "vae",
)
# (data set or method, option that it did not have at first) -> the value that gives what it did then
ADDED: Mapping[tuple[str, str], Any] = {
    ("simulated_cells", "silent"): 0.0,
    ("celeba_accessories", "n_test"): None,
    ("cifar_mnist", "mix"): "opaque",
    ("dsprites_mnist", "mix"): "opaque",
    **{(method, "library"): "observed" for method in LIKELIHOODS_OF_COUNTS},
    ("contrastive_vae", "lambda_s"): "auto",
    ("contrastive_vae", "salient"): "shared",
    ("dip_vae", "running"): 0.0,
    ("double_infogan", "salient"): "shared",
    ("lord", "alpha_class"): None,
    ("lord", "alpha_content"): None,
    ("lord", "code_updates"): "sparse",
    ("lord", "stage_two"): "plain",
    ("mm_cvae", "mmd"): "unbiased",
    ("mm_cvae", "salient"): "shared",
    ("principled_vae", "pairs"): False,
    ("principled_vae", "salient"): "shared",
    ("principled_vae", "schedule"): "cosine",
    ("principled_vae", "w2_of"): "means",
    ("rb_vae", "salient"): "shared",
    ("rb_vae", "trunks"): "shared",
    ("sep_vae", "salient"): "shared",
    ("symmetric_rb_vae", "drop"): "blocks",
    ("symmetric_rb_vae", "salient"): "shared",
    ("symmetric_rb_vae", "trunks"): "shared",
}

# (field of a method, its value today) -> the value that fingerprints are taken of: "auto" was what "standard" is
FIELDS: Mapping[tuple[str, str], str] = {("networks", "standard"): "auto", ("networks", "auto"): "by the data"}


def settle(params: Mapping[str, Any], inferred: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a run with what was chosen from its data in place of "auto": the options that repeat it.

    In runs from before networks were chosen from the data, "auto" was what "standard" is.
    """
    chosen = {"networks": "standard", **inferred}
    return {name: chosen.get(name, value) if value in ("auto", None) else value for name, value in params.items()}


def to_today(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a data set as they are spelled today."""
    return {key: TODAY.get((key, str(value)), value) for key, value in options.items()}


def to_former(owner: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a data set or fields of a method as they were at first, which fingerprints are taken of.

    What was added since is left out as long as it has the value that changes nothing.
    """
    return {
        key: FIELDS.get((key, str(value)), RENAMED.get((key, str(value)), value))
        for key, value in options.items()
        if (owner, key) not in ADDED or value != ADDED[owner, key]
    }
