"""Every metric of the registry is complete, every score is explained, and metrics of one's own are scored beside ours."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from known_methods import ClassHalves, Columns, Halves, Whole, classes_in_contents, images, vectors

from untwine import metrics
from untwine.evaluation.registry import METRICS, explain, find_score
from untwine.evaluation.scoring import evaluate
from untwine.metrics import Directions, Measurement, Metric, Requirement, ScoreInfo
from untwine.metrics.metric import fits
from untwine.samples import Samples

# The scores that each metric can yield; "red" stands for a class, a factor or an attribute.
NAMES = {
    "probe": ("probe",),
    "probe_strong": ("probe_strong",),
    "clustering": ("clustering", "clustering_random", "silhouette"),
    "agreement": ("ari", "nmi"),
    "factors": ("factors", "factors_salient"),
    "leakage": ("leakage", "leakage_group"),
    "leakage_covariates": ("leakage_covariates_red",),
    "groups": ("group_silhouette",),
    "per_target": ("per_target_red",),
    "w2": ("w2", "w2_relative"),
    "reading": ("class_read", "class_chance", "content_read", "content_chance"),
    "transfer": ("transfer", "transfer_unmoved"),
    "reconstruction": ("reconstruction",),
    "explained": ("explained",),
    "counterfactual": ("counterfactual_removed", "counterfactual_added", "counterfactual_gap", "targets_like_background"),
    "minimality": ("minimality",),
    "background_quiet": ("background_change",),
    "responses": ("response_red",),
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
    "factor_vae_salient": ("factor_vae_salient",),
    "attributes": ("attributes", "attributes_guess"),
    "per_attribute": ("attributes_red", "attributes_red_guess"),
    "unsupervised": ("total_correlation", "wasserstein_correlation", "latent_information"),
    "probe_strong_factors": ("probe_strong_red",),
    "probe_factors": ("probe_red",),
    "realism": (
        "fid",
        "inception_score",
        "inception_score_real",
        "frechet_squeezenet",
        "class_score_squeezenet",
        "class_score_squeezenet_real",
    ),
    "salient_map": tuple(f"map_{score}{kind}" for kind in ("", "_absolute", "_decoded") for score in ("auc", "dice")),
    "trivial_maps": ("map_auc_red", "map_dice_red"),
    "changed_features": ("changed_features",),
}


DEFAULT = [
    "probe",
    "probe_strong",
    "clustering",
    "agreement",
    "factors",
    "leakage",
    "leakage_covariates",
    "groups",
    "per_target",
    "w2",
    "reading",
    "transfer",
    "reconstruction",
    "explained",
    "counterfactual",
    "minimality",
    "background_quiet",
]
BLOCKS = ("common", "salient", "content", "class", "z")
# Which direction is better in each of these blocks: + higher, - lower, . neither.
LABELS, FACTORS, FACTOR_ERRORS, LABEL_ERRORS = "-+-++", "+-+-+", "-+-+-", "+-+--"
DIRECTIONS = {
    **dict.fromkeys(
        ("probe", "probe_strong", "clustering", "silhouette", "ari", "nmi", "factors_salient", "class_read"), LABELS
    ),
    "factor_vae_salient": LABELS,
    **dict.fromkeys(("per_class", "per_class_red"), LABELS),
    **dict.fromkeys(("factors", "content_read", "probe_red", "probe_strong_red"), FACTORS),
    **dict.fromkeys(("regression", "regression_red", "landmarks"), FACTOR_ERRORS),
    "regression_salient": LABEL_ERRORS,
    "group_silhouette": "-+-+.",
    "per_target_red": "-+-+.",
    "response_red": "-+...",
    **dict.fromkeys(("leakage", "leakage_group", "w2", "w2_relative", "reconstruction", "fid", "frechet_squeezenet"), "-----"),
    **dict.fromkeys(("transfer", "transfer_lpips", "leakage_covariates_red"), "-----"),
    **dict.fromkeys(("total_correlation", "wasserstein_correlation", "latent_information"), "-----"),
    **dict.fromkeys(("swap_accuracy", "swap_preservation", "translation_accuracy", "translation_preservation"), "+++++"),
    **dict.fromkeys(("sap", "mig", "modularity", "explicitness", "z_diff", "factor_vae_score"), "+++++"),
    **dict.fromkeys(("dci_disentanglement", "dci_completeness", "dci_informativeness"), "+++++"),
    **dict.fromkeys(NAMES["salient_map"], "+++++"),
    **dict.fromkeys(("changed_features", "explained", "counterfactual_removed", "counterfactual_added"), "+++++"),
    **dict.fromkeys(("minimality", "background_change"), "-----"),
    **dict.fromkeys(("attributes", "attributes_red", "inception_score", "class_score_squeezenet"), "+++++"),
}


def test_the_metrics_are_in_the_order_of_their_scores():
    assert list(NAMES) == list(METRICS)
    assert [name for name, metric in METRICS.items() if metric.default] == DEFAULT == list(METRICS)[: len(DEFAULT)]


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_is_complete(name):
    metric = METRICS[name]
    assert metric.name == name
    assert metric.description.endswith(".")
    assert "\n" not in metric.description
    assert "request" not in metric.description  # `default` says so
    assert metric.version == {"leakage": 2, "reading": 3, "swap": 3, "translation": 2}.get(name, 1)
    assert metric.scores
    assert all(requirement.needs and requirement.got and requirement.advice for requirement in metric.requires)


@pytest.mark.parametrize("name", [name for names in NAMES.values() for name in names])
def test_every_score_has_an_explanation_of_its_own(name):
    text = explain(name)
    assert text.endswith((".", "?"))
    assert len(text) > 30
    others = {other for names in NAMES.values() for other in names if other != name}
    assert text not in {explain(other) for other in others}
    assert explain(f"{name}.salient") == text


def test_no_explanation_is_of_a_score_that_no_metric_yields():
    for name, metric in METRICS.items():
        for pattern in metric.scores:
            assert any(fits(pattern, score) if "*" in pattern else pattern == score for score in NAMES[name]), pattern
    assert explain("somebody_elses") == ""


@pytest.mark.parametrize(("metric", "score"), [(metric, score) for metric, scores in NAMES.items() for score in scores])
def test_every_score_has_its_direction_in_each_block(metric, score):
    info = METRICS[metric].info(score)
    words = {"+": "higher", "-": "lower", ".": "info"}
    assert [info.directions[block] for block in BLOCKS] == [words[sign] for sign in DIRECTIONS.get(score, ".....")]


@pytest.mark.parametrize(
    ("method", "data", "names"),
    [
        (Halves(), images(80, 40), ["probe", "agreement", "per_class", "w2", "groups", "reconstruction"]),
        (Columns(), vectors(), ["factors", "leakage", "regression", "per_factor", "unsupervised", "sap", "mig", "modularity"]),
        (ClassHalves(), classes_in_contents(), ["transfer"]),
    ],
)
def test_every_yielded_score_is_explained(method, data, names):
    for metric in names:
        yielded = {name.split(".")[0] for name in evaluate(method, data, [metric], seeds=2)}
        whole = {name for name in NAMES[metric] if "red" not in name.split("_")}
        assert whole & yielded or metric == "per_factor"
        starts = tuple(name.split("red")[0] for name in NAMES[metric] if "red" in name.split("_"))
        assert all(name in whole or (starts and name.startswith(starts)) for name in yielded), metric
        assert all(map(explain, yielded))
        assert all(METRICS[metric].info(name) for name in yielded)


def mean_norm(data):
    """Mean norm of the codes of each block."""
    for block, codes in data.latents.items():
        value = float(np.linalg.norm(codes, axis=1).mean())
        yield Measurement(f"mean_norm.{block}", value, (value, value), len(codes))


def test_a_function_is_scored_beside_ours():
    data = vectors()
    scores = evaluate(Columns(), data, [mean_norm, "w2"])
    assert list(scores) == ["w2.common", "w2_relative.common", "mean_norm.common", "mean_norm.salient"]
    assert scores["mean_norm.salient"].value == pytest.approx(np.abs(data.x[:, 2]).mean())
    assert (scores["mean_norm.salient"].direction, scores["mean_norm.salient"].version) == ("info", 1)
    assert scores["mean_norm.common"].n == 240

    def listed(data):
        return list(mean_norm(data))

    assert evaluate(Columns(), data, [listed])["mean_norm.common"].value == scores["mean_norm.common"].value


def own_metric(**changes):
    salient = Requirement(
        "salient", lambda data: "salient" in data.latents, "the block 'salient'", "the blocks {blocks}", "use another method"
    )
    info = ScoreInfo("How long are the codes? Mean norm.", Directions("lower", {"salient": "higher"}))
    metric = Metric("norm", mean_norm, "Mean norm.", {"mean_norm": info}, (salient,), version=3)
    return replace(metric, **changes)


def test_a_metric_of_one_s_own_has_its_directions_version_and_requirements():
    scores = evaluate(Columns(), vectors(), [own_metric()])
    assert [(one.direction, one.version) for one in scores.values()] == [("lower", 3), ("higher", 3)]
    sentence = "^the metric 'norm' needs the block 'salient'; got the blocks z; use another method, or leave it out.$"
    with pytest.raises(ValueError, match=sentence):
        evaluate(Whole(), vectors(), [own_metric()])
    assert evaluate(Whole(), vectors(), [own_metric()], skip_inapplicable=True) == {}


def test_a_registered_metric_is_scored_by_name_listed_and_explained(monkeypatch):
    monkeypatch.setattr(METRICS, "_registered", {})
    METRICS.register("norm", own_metric(default=True))
    assert list(METRICS)[-1] == "norm"
    assert explain("mean_norm") == "How long are the codes? Mean norm."
    assert evaluate(Columns(), vectors(), ["norm"])["mean_norm.common"].version == 3
    assert "mean_norm.salient" in evaluate(Columns(), vectors())
    with pytest.raises(ValueError, match="'probe' is taken"):
        METRICS.register("probe", own_metric(name="probe"))
    with pytest.raises(ValueError, match="by its own name, 'norm'; got 'other'"):
        METRICS.register("other", own_metric())
    with pytest.raises(TypeError, match=r"must be an untwine\.metrics\.Metric; got function"):
        METRICS.register("mean_norm", mean_norm)


def test_what_does_not_apply_is_skipped_on_request_and_samples_are_encoded_once():
    method, data = Halves(), images(60, 40)
    scores = evaluate(method, data, ["probe", "w2", "landmarks", "transfer"], skip_inapplicable=True)
    assert method.encoded == 1
    assert {name.split(".")[0] for name in scores} == {"probe", "w2", "w2_relative"}
    with pytest.raises(ValueError, match="the metric 'transfer' needs a method with the blocks 'class' and 'content'"):
        evaluate(method, data, ["probe", "w2", "landmarks", "transfer"])
    assert evaluate(Whole(), Samples(np.eye(30)), ["probe"], skip_inapplicable=True) == {}


def test_bad_metrics_are_refused():
    with pytest.raises(ValueError, match=r"metric must be a name from the catalogue; got 'prob'; did you mean 'probe'"):
        evaluate(Columns(), vectors(), ["prob"])
    with pytest.raises(TypeError, match="metrics must be names, Metric objects or functions; got int"):
        evaluate(Columns(), vectors(), [3])
    with pytest.raises(ValueError, match="different names; got two named 'norm'"):
        evaluate(Columns(), vectors(), [own_metric(), own_metric(version=4)])
    with pytest.raises(TypeError, match=r"'broken' must yield untwine\.metrics\.Measurement; got float"):
        evaluate(Columns(), vectors(), [Metric("broken", lambda data: [0.5], "Broken.")])


@pytest.mark.parametrize("result", [None, 0.5], ids=str)
def test_a_function_that_returns_no_measurements_is_refused(result):
    with pytest.raises(TypeError, match=rf"must yield untwine\.metrics\.Measurement; got {type(result).__name__}"):
        evaluate(Columns(), vectors(), [lambda data: result])


def test_a_function_may_return_one_measurement():
    scores = evaluate(Columns(), vectors(), [lambda data: Measurement("half.z", 0.5, (0.0, 1.0), 3)])
    assert [score.value for score in scores.values()] == [0.5]


@pytest.mark.parametrize("measurement", [("half",), (".z",), ("half.",), ("half.z", "up")], ids=str)
def test_a_score_without_a_block_or_with_an_unknown_direction_is_refused(measurement):
    name, *direction = measurement
    with pytest.raises(
        ValueError, match=r"must name its scores '<score>\.<block>', and a direction 'higher', 'lower' or 'info'"
    ):
        evaluate(Columns(), vectors(), [lambda data: [Measurement(name, 0.5, (0.0, 1.0), 3, *direction)]])


def test_a_metric_does_not_replace_the_score_of_another():
    def mine(data):
        yield Measurement("reconstruction.x", 9.0, (0.0, 1.0), 3)

    with pytest.raises(ValueError, match=r"different names; got 'reconstruction\.x' again from the metric 'mine'; rename one"):
        evaluate(Columns(), vectors(), ["reconstruction", mine])


def test_no_function_shadows_a_module():
    modules = {path.stem for path in Path(metrics.__file__).parent.glob("*.py")}
    assert modules.isdisjoint(metrics.__all__)


def test_listing_and_explaining_metrics_needs_no_torch():
    code = """
import sys
from untwine.evaluation.registry import METRICS, explain, find_score
assert len(METRICS) > 20 and explain("probe")
heavy = {"torch", "sklearn", "scipy", "openTSNE"} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_scores_of_a_predictor_name_it():
    """Codes encode more for a strong predictor than for a linear one, so a table says which it was."""
    words = (
        "linear classifier predict",
        "linear regression predict",
        "small network predict",
        "linear regression of",
        "small MLP",
    )
    for metric in METRICS.values():
        for name, info in metric.scores.items():
            if any(word in info.explanation for word in words) and "constant" not in name:
                assert info.reader, name
    assert find_score("probe.salient").reader.startswith("logistic regression")
    assert find_score("leakage_group.common").reader == find_score("per_target_drug_accuracy.salient").reader
    assert find_score("w2.common").reader == ""
    assert find_score("unknown.common") is None
