"""What to try against each failure of a contrastive method: the options to raise or to lower, in the order to try them."""

from __future__ import annotations

Rule = tuple[str, str]  # raise or lower, and a field; fields that a method does not have are skipped

EPOCHS: Rule = ("raise", "epochs")

# The directions of the betas, lambda_s, lambda_z, alpha and a raised gamma were verified on `toy_contrast`, whose ground truth
# is known; that of `scale`, which only images have, on `grassy_digits`. Fields of a single method follow its page. Widths are
# suggested only where the contrast test estimated another one than the run has.
SALIENT_COLLAPSED: tuple[Rule, ...] = (
    ("lower", "beta_salient"),
    ("lower", "alpha"),
    ("lower", "gamma"),
    ("raise", "lambda_class"),
    ("raise", "w_info_s"),
    ("lower", "scale"),
    ("raise", "beta_common"),
    ("raise", "n_salient"),
)
COMMON_COLLAPSED: tuple[Rule, ...] = (
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
SALIENT_LEAKS: tuple[Rule, ...] = (("lower", "n_salient"), ("raise", "lambda_r"), *PRESENT_IN_BACKGROUND)
# Information goes to the block with the lower KL weight, so the betas come first. Common codes that are distributed alike in
# both groups can still encode what is salient, so lambda_z comes later, and not at all where it is large.
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
LARGE = {"lambda_z": 5.0}  # from here on a larger one collapses the common block

MEANINGS = {
    "alpha": "the weight of the background's covariance",
    "beta_common": "the KL weight of the common block",
    "beta_salient": "the KL weight of the salient block",
    "epochs": "the length of training",
    "gamma": "the weight of the background",
    "lambda_class": "the weight of predicting the group from the salient block",
    "lambda_mi": "the weight of the mutual information between the blocks",
    "lambda_r": "the weight of predicting both codes of recombined samples",
    "lambda_s": "the background salient penalty",
    "lambda_tc": "the weight of the total correlation between the blocks",
    "lambda_z": "the weight of matching the common codes of both groups",
    "n_common": "the number of common dimensions",
    "n_salient": "the number of salient dimensions",
    "scale": "the noise scale of the likelihood",
    "variance": "the prior variance of the background's salient codes",
    "w_info_real": "the weight of the background's salient codes being 0",
    "w_info_s": "the weight of recovering salient codes from generated samples",
    "w_info_z": "the weight of recovering common codes from generated samples",
}
