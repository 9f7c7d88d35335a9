"""Every score that a page can show is explained on it."""

from __future__ import annotations

import pytest
from fitted_made import ClassHalves, Columns, Halves, classes_in_contents, images, vectors

from untwine.evaluation.named_metrics import METRICS
from untwine.evaluation.scoring import evaluate
from untwine.report.meanings import FAMILIES, MEANINGS, meaning

# The scores that each metric can make; "red" stands for a class, a factor or an attribute.
NAMES = {
    "probe": ("probe",),
    "clustering": ("clustering", "clustering_random", "silhouette"),
    "agreement": ("ari", "nmi"),
    "factors": ("factors", "factors_salient"),
    "leakage": ("leakage", "leakage_group"),
    "groups": ("group_silhouette",),
    "w2": ("w2", "w2_relative"),
    "reading": ("class_read", "class_chance", "content_read", "content_chance"),
    "transfer": ("transfer", "transfer_unmoved"),
    "reconstruction": ("reconstruction",),
    "regression": ("regression", "regression_constant", "regression_salient", "regression_salient_constant"),
    "per_class": ("per_class", "per_class_red"),
    "per_factor": ("regression_red", "regression_red_constant"),
    "swap": ("swap_accuracy", "swap_accuracy_ceiling", "swap_preservation", "swap_preservation_ceiling"),
    "translation": (
        "translation_accuracy",
        "translation_accuracy_ceiling",
        "translation_preservation",
        "translation_preservation_ceiling",
    ),
    "transfer_lpips": ("transfer_lpips", "transfer_lpips_unmoved"),
    "landmarks": ("landmarks", "landmarks_constant"),
    "sap": ("sap",),
    "mig": ("mig",),
    "dci": ("dci_disentanglement", "dci_completeness", "dci_informativeness"),
    "modularity": ("modularity",),
    "explicitness": ("explicitness",),
    "z_diff": ("z_diff",),
    "factor_vae_score": ("factor_vae_score",),
    "attributes": ("attributes", "attributes_guess"),
    "per_attribute": ("attributes_red", "attributes_red_guess"),
    "unsupervised": ("total_correlation", "wasserstein_correlation", "latent_information"),
    "probe_factors": ("probe_red",),
    "realism": (
        "fid",
        "inception_score",
        "inception_score_real",
        "frechet_squeezenet",
        "class_score_squeezenet",
        "class_score_squeezenet_real",
    ),
}


def test_every_metric_is_here():
    assert list(NAMES) == list(METRICS)


@pytest.mark.parametrize("name", [name for names in NAMES.values() for name in names])
def test_every_score_has_a_meaning_of_its_own(name):
    text = meaning(name)
    assert text.endswith((".", "?"))
    assert len(text) > 30
    others = {other for names in NAMES.values() for other in names if other != name}
    assert text not in {meaning(other) for other in others}


def test_no_meaning_is_of_a_score_that_nobody_makes():
    made = {name for names in NAMES.values() for name in names}
    assert set(MEANINGS) <= made
    assert all(any(name.startswith(start) and name.endswith(end) for name in made) for start, end, _ in FAMILIES)
    assert meaning("somebody_elses") == ""


@pytest.mark.parametrize(
    ("method", "data", "asked"),
    [
        (Halves(), images(80, 40), ["probe", "agreement", "per_class", "w2", "groups", "reconstruction"]),
        (Columns(), vectors(), ["factors", "leakage", "regression", "per_factor", "unsupervised", "sap", "mig", "modularity"]),
        (ClassHalves(), classes_in_contents(), ["transfer"]),
    ],
)
def test_what_is_scored_is_what_is_explained(method, data, asked):
    for metric in asked:
        made = {name.split(".")[0] for name in evaluate(method, data, [metric], seeds=2)}
        whole = {name for name in NAMES[metric] if "red" not in name.split("_")}
        assert whole & made or metric == "per_factor"
        starts = tuple(name.split("red")[0] for name in NAMES[metric] if "red" in name.split("_"))
        assert all(name in whole or (starts and name.startswith(starts)) for name in made), metric
        assert all(map(meaning, made))
