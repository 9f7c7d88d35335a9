"""What moves each failure of a contrastive method: the options to raise or to lower, in the order in which to try them."""

from __future__ import annotations

Rule = tuple[str, str]  # raise or lower, and a field; one that a method does not have is passed over

EPOCHS: Rule = ("raise", "epochs")

# The betas, lambda_s, lambda_z, alpha and a raised gamma were seen to move what they stand for in that direction on
# `toy_contrast`, whose truth is known; `scale`, which only images have, on `grassy_digits`. What only one method has is as
# its page says. The widths count where the test found another one than the run has.
COLLAPSED: tuple[Rule, ...] = (
    ("lower", "beta_salient"),
    ("lower", "alpha"),
    ("lower", "gamma"),
    ("raise", "lambda_class"),
    ("raise", "w_info_s"),
    ("lower", "scale"),
    ("raise", "beta_common"),
    ("raise", "n_salient"),
)
SILENT: tuple[Rule, ...] = (
    ("lower", "lambda_z"),
    ("lower", "beta_common"),
    ("raise", "w_info_z"),
    ("lower", "scale"),
    ("lower", "n_salient"),
)
PRESENT_IN_BACKGROUND: tuple[Rule, ...] = (
    ("raise", "lambda_s"),
    ("lower", "variance"),
    ("raise", "w_info_real"),
    ("raise", "beta_salient"),
    ("raise", "alpha"),
    ("raise", "gamma"),
    EPOCHS,
)
SALIENT_LEAKS: tuple[Rule, ...] = (("lower", "n_salient"), *PRESENT_IN_BACKGROUND)
# Information goes where it is cheap: the betas come first. Equal distributions of the common codes do not forbid them to know
# what is salient, so lambda_z comes later, and not at all where it is large.
COMMON_LEAKS: tuple[Rule, ...] = (
    ("raise", "beta_common"),
    ("lower", "beta_salient"),
    ("raise", "n_salient"),
    ("raise", "lambda_tc"),
    ("raise", "lambda_mi"),
    ("raise", "lambda_z"),
    ("raise", "alpha"),
    ("raise", "gamma"),
    ("lower", "n_common"),
    EPOCHS,
)
WEAK: tuple[Rule, ...] = (
    ("lower", "beta_salient"),
    ("raise", "n_salient"),
    ("raise", "alpha"),
    ("raise", "gamma"),
    ("raise", "lambda_class"),
    ("raise", "w_info_s"),
    ("lower", "scale"),
    EPOCHS,
)
LARGE = {"lambda_z": 5.0}  # from here on more silences the common part

MEANINGS = {
    "alpha": "what the background's variance costs",
    "beta_common": "what codes of the common part cost",
    "beta_salient": "what codes of the salient part cost",
    "epochs": "how long it learns",
    "gamma": "the weight of the background",
    "lambda_class": "how strongly the salient part is asked to tell targets from backgrounds",
    "lambda_mi": "how strongly the two parts are made independent",
    "lambda_s": "how strongly the background's salient codes are held at 0",
    "lambda_tc": "how strongly the two parts are made independent",
    "lambda_z": "how strongly the common codes of both groups are made alike",
    "n_common": "the number of common dimensions",
    "n_salient": "the number of salient dimensions",
    "scale": "the error that is let pass as noise",
    "variance": "how far the background's salient codes may be from 0",
    "w_info_real": "how strongly the background's salient codes are held at 0",
    "w_info_s": "how strongly salient codes are asked to be read back from what is made of them",
    "w_info_z": "how strongly common codes are asked to be read back from what is made of them",
}
