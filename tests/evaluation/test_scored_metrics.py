import math
import re

import numpy as np
import pytest
from known_methods import Columns, Halves, Swapped, Whole, images, vectors
from metric_versions import set_version

from untwine import metrics
from untwine.evaluation.registry import METRICS
from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import score_names
from untwine.samples import Samples


def test_errors_of_regressions_come_with_those_of_the_constant_predictor():
    scores = evaluate(Columns(), vectors(), metrics=["regression", "per_factor"])
    assert scores["regression.common"].value < 1e-5
    assert scores["regression_salient.salient"].value < 1e-5
    for wrong, constant in (
        ("regression.salient", "regression_constant.x"),
        ("regression_salient.common", "regression_salient_constant.x"),
    ):
        assert scores[wrong].value == pytest.approx(scores[constant].value, rel=0.1)
        assert scores[wrong].direction == "higher"
        assert scores[constant].direction == "info"
    assert scores["regression_common_1.common"].value < 1e-5
    assert scores["regression_common_1.common"].direction == "lower"
    assert scores["regression_salient_0_constant.x"].value > 0.5
    pairs = [name.split(".") for name in scores]
    assert all(len(pair) == 2 and pair[1] in ("common", "salient", "x") for pair in pairs)


def test_every_class_has_a_score_with_a_readable_name():
    data = images(80, 40)
    names = ("hat, red", "v1.5 beta", "c", "d")
    data = Samples(data.x, groups=data.groups, labels=data.labels, label_names=names)
    scores = evaluate(Halves(), data, metrics=["per_class"])
    words = ("per_class", "per_class_hat,_red", "per_class_v1_5_beta", "per_class_c", "per_class_d")
    assert list(scores) == [f"{word}.{block}" for block in ("common", "salient") for word in words]
    assert scores["per_class_c.salient"].value == 1.0
    assert scores["per_class_c.salient"].n == 20
    assert scores["per_class.common"].value < 0.5
    assert score_names(["a.b", "a b", "c"]) == ["a_b_0", "a_b_1", "c"]


def test_classifiers_are_trained_on_the_train_samples_only():
    data = images(120, 60)
    asked = ["probe", "per_class", "regression"]
    scores = evaluate(Halves(), data, asked, train=images(400, 20, seed=1))
    assert scores["probe.salient"].n == scores["per_class.salient"].n == scores["regression.common"].n == 120
    assert scores["probe.salient"].value > 0.99
    wrong = images(400, 20, seed=1)
    wrong = Samples(
        wrong.x,
        groups=wrong.groups,
        labels=np.where(wrong.labels < 0, -1, (wrong.labels + 1) % 4),
        factors=1 - wrong.factors,
        factor_names=wrong.factor_names,
    )
    misled = evaluate(Halves(), data, asked, train=wrong)
    assert misled["probe.salient"].value < 0.01
    assert misled["regression.common"].value > misled["regression_constant.x"].value
    with pytest.raises(ValueError, match="take both from one data set"):
        evaluate(Halves(), data, asked, train=Samples(data.x))


def test_swaps_of_a_perfect_method_score_high_and_of_a_wrong_one_low(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 120)
    data = images(240, 20)
    right = evaluate(Halves(), data, metrics=["swap"])
    assert list(right) == ["swap_accuracy.x", "swap_accuracy_ceiling.x", "swap_preservation.x", "swap_preservation_ceiling.x"]
    assert right["swap_accuracy.x"].value > 0.95
    assert right["swap_preservation.x"].value > 0.8
    assert right["swap_accuracy.x"].n == 120
    wrong = evaluate(Swapped(), data, metrics=["swap"])
    assert wrong["swap_accuracy.x"].value < 0.05
    assert wrong["swap_preservation.x"].value < 0.2
    assert wrong["swap_accuracy_ceiling.x"].value > 0.95
    learnt = evaluate(
        Halves(), Samples(data.x, data.groups, data.labels), metrics=["swap"], train=Samples(data.x, data.groups, data.labels)
    )
    assert list(learnt) == ["swap_accuracy.x", "swap_accuracy_ceiling.x"]
    assert learnt["swap_accuracy.x"].n == 240


class Named:
    """A method of samples whose first three columns show the class and the others the content; class codes are rolled."""

    def __init__(self, turn):
        self.turn = turn

    def encode(self, x):
        return Latents({"class": x[:, :3], "content": x[:, 3:]})

    def decode(self, latents):
        return np.concatenate([latents["class"], latents["content"]], axis=1)

    def known_classes(self):
        return np.roll(np.eye(3), self.turn, axis=0)

    def class_codes(self, labels):
        return self.known_classes()[labels]


def test_translated_samples_show_their_new_class(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 120)
    labels, content = np.arange(240) % 3, np.random.default_rng(0).normal(size=(240, 2))
    data = Samples(np.concatenate([np.eye(3)[labels], content], axis=1), labels=labels, factors=content)
    right = evaluate(Named(0), data, metrics=["translation"])
    names = ("accuracy", "accuracy_ceiling", "preservation", "preservation_ceiling")
    assert list(right) == [f"translation_{name}.x" for name in names]
    assert right["translation_accuracy.x"].value > 0.95
    assert right["translation_preservation.x"].value > 0.8
    wrong = evaluate(Named(1), data, metrics=["translation"])
    assert wrong["translation_accuracy.x"].value < 0.05
    beyond = Samples(data.x, labels=np.where(labels == 2, 3, labels))
    with pytest.raises(ValueError, match="'translation' needs a method with a code for every class of these samples"):
        evaluate(Named(0), beyond, metrics=["translation"])


def test_single_latents_are_scored_for_the_factors_of_their_block(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 10)
    data = vectors(150)
    latents = ["sap", "mig", "dci", "modularity", "explicitness", "z_diff", "factor_vae_score", "unsupervised"]
    scores = evaluate(Columns(), data, latents, seeds=2)
    assert scores["sap.common"].value > 0.9
    assert scores["sap.salient"].value > 0.99
    assert scores["mig.common"].value > 0.5
    assert scores["dci_disentanglement.common"].value > 0.8
    assert scores["factor_vae_score.common"].value > 0.95
    assert scores["z_diff.common"].value > 0.95
    assert "dci_completeness.salient" not in scores  # one factor alone cannot be compared with others
    assert scores["total_correlation.common"].direction == "lower"
    for score in scores.values():
        assert math.isfinite(score.value)
        assert score.low <= score.value <= score.high
    whole = evaluate(Whole(), data, ["sap", "modularity"], seeds=2)
    assert whole["sap.z"].value > 0.9
    assert whole["sap.z"].n == 150


def test_codes_without_blocks_are_scored_on_the_salient_factors_as_a_salient_block():
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, size=(400, 4)).astype(float)
    names = ("salient shape", "salient x", "ink", "thickness")
    data = Samples(factors + 0.01 * rng.normal(size=factors.shape), factors=factors, factor_names=names)

    class Blocks:
        """The salient block has the salient factors alone, and so has the block z of the other method."""

        def __init__(self, block):
            self.block = block

        def encode(self, x):
            return Latents({self.block: x[:, :2]})

    asked = ["factor_vae_score", "factor_vae_salient"]
    block, whole = evaluate(Blocks("salient"), data, asked), evaluate(Blocks("z"), data, asked)
    assert whole["factor_vae_score.z"].value < 0.8  # it is asked for ink and thickness as well
    assert whole["factor_vae_salient.z"].value == block["factor_vae_score.salient"].value > 0.99
    assert block["factor_vae_salient.salient"].value == block["factor_vae_score.salient"].value
    without = Samples(data.x, factors=factors, factor_names=("a", "b", "c", "d"))
    with pytest.raises(ValueError, match=r'needs two factors named "salient \.\.\." that vary over the target samples'):
        evaluate(Blocks("z"), without, ["factor_vae_salient"])


def test_integers_of_few_values_are_discrete_and_binary_ones_attributes():
    rng = np.random.default_rng(0)
    factors = np.column_stack([rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.integers(0, 99, 200), rng.random(200)])
    factors[:7, 3] = np.nan
    data = Samples(np.nan_to_num(factors), factors=factors)
    steps = Samples(factors[7:], factors=np.column_stack([factors[7:, 1] / 7, factors[7:, 3]]))
    encoded = Encoded(Whole(), data, Whole().encode(data.x), 2)
    _, codes, columns, continuous = next(encoded.factors_by_block(few_values=True))
    assert continuous == [False, False, True, True]
    assert next(Encoded(Whole(), steps, Whole().encode(steps.x), 2).factors_by_block())[3] == [False, True]
    assert next(Encoded(Whole(), steps, Whole().encode(steps.x), 2).factors_by_block(few_values=True))[3] == [True, True]
    assert columns.shape == (193, 4)
    assert len(codes) == 193
    scores = evaluate(Whole(), data, ["attributes"])
    assert scores["attributes.z"].value > 0.4
    assert scores["attributes_guess.z"].value == pytest.approx(max(factors[7:, 0].mean(), 1 - factors[7:, 0].mean()), abs=0.1)


def test_every_attribute_has_its_own_accuracy_and_that_of_the_majority_class():
    rng = np.random.default_rng(0)
    hat, male = rng.random(400) < 0.2, rng.random(400) < 0.6
    x = np.column_stack([hat + rng.normal(0, 0.05, 400), rng.normal(size=400)])
    factors = np.column_stack([hat, rng.random(400), male, np.arange(400) < 3]).astype(float)
    data = Samples(x, factors=factors, factor_names=("hat", "age", "male", "rare"))
    scores = evaluate(Whole(), data, ["per_attribute"])
    names = ("attributes_hat.z", "attributes_hat_guess.x", "attributes_male.z", "attributes_male_guess.x")
    assert set(scores) == set(names)  # not the continuous factor, and none that is missing in some fold
    hats, guess, men, more = (scores[name] for name in names)
    assert hats.value > 0.99
    assert guess.value == pytest.approx(1 - hat.mean())
    assert abs(men.value - more.value) < 0.1
    assert men.low < men.value < men.high
    split = evaluate(Whole(), data[200:], ["per_attribute"], train=data[:200])
    assert split["attributes_hat.z"].n == 200
    assert split["attributes_hat.z"].value > 0.9


def test_discrete_factors_are_probed_in_both_blocks():
    data = images(200, 60)
    rng = np.random.default_rng(0)
    above = (data.x[:, 0, 0].reshape(len(data), -1)[:, 0] > 127).astype(float)  # encoded by the upper half, the common block
    lower = data.labels.astype(float)
    lower[lower < 0] = np.nan
    factors = np.column_stack([above, lower, rng.normal(size=len(data))])
    names = ("upper", "salient class", "scale")
    data = Samples(data.x, groups=data.groups, factors=factors, factor_names=names)
    scores = evaluate(Halves(), data, metrics=["probe_factors"])
    assert list(scores) == [f"probe_{word}.{block}" for word in ("upper", "salient_class") for block in ("common", "salient")]
    assert scores["probe_upper.common"].value > 0.9
    assert scores["probe_upper.salient"].value < 0.7
    assert scores["probe_salient_class.salient"].value == 1.0
    assert scores["probe_salient_class.common"].value < 0.5
    directions = [score.direction for score in scores.values()]
    assert directions == ["higher", "lower", "lower", "higher"]
    plain = Samples(data.x, groups=data.groups, factors=factors[:, 2:], factor_names=names[2:])
    with pytest.raises(ValueError, match="a factor with at least 2 classes of 5 known target samples"):
        evaluate(Halves(), plain, metrics=["probe_factors"])


def test_a_factor_that_is_not_linearly_encoded_is_found_by_the_strong_probe_alone():
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], (400, 4)) + 0.1 * rng.normal(size=(400, 4))
    factors = np.column_stack([x[:, 0] * x[:, 1] > 0, x[:, 2] > 0]).astype(float)
    data = Samples(x, groups=np.repeat([0, 1], 200), factors=factors, factor_names=("xor", "salient sign"))
    scores = evaluate(Columns(), data, metrics=["probe_factors", "probe_strong_factors"])
    names = [f"probe_strong_{word}.{block}" for word in ("xor", "salient_sign") for block in ("common", "salient")]
    assert [name for name in scores if "strong" in name] == names
    assert scores["probe_strong_xor.common"].value > 0.95
    assert scores["probe_xor.common"].value < 0.7
    assert scores["probe_strong_xor.salient"].value < 0.65
    assert scores["probe_strong_salient_sign.salient"].value > 0.95
    assert [scores[name].direction for name in names] == ["higher", "lower", "lower", "higher"]


def test_factors_with_negative_values_are_probed_like_others():
    x = images(200, 60).x
    upper = (x[:, 0, 0].reshape(len(x), -1)[:, 0] > 127).astype(float)
    first, second = (
        evaluate(Halves(), Samples(x, factors=values[:, None], factor_names=("angle",)), ["probe_factors"])
        for values in (upper, upper - 50)
    )
    assert first["probe_angle.common"].value > 0.9
    assert {name: score.value for name, score in second.items()} == {name: score.value for name, score in first.items()}


def test_attributes_are_fitted_on_the_train_samples_where_there_are_some():
    rng = np.random.default_rng(0)
    there = rng.random(300) < 0.5
    x = np.column_stack([there + rng.normal(0, 0.1, 300), rng.normal(size=300)])
    named = {"factor_names": ("hat", "salient dot")}
    data = Samples(x, factors=np.column_stack([there, rng.random(300) < 0.5]).astype(float), **named)
    turned = Samples(x, factors=np.column_stack([~there, rng.random(300) < 0.5]).astype(float), **named)
    assert evaluate(Whole(), data, ["attributes"])["attributes.z"].value > 0.7  # the mean of one predicted and one at chance
    learnt = evaluate(Whole(), data, ["attributes", "per_attribute"], train=turned)
    assert learnt["attributes_hat.z"].value < 0.01
    assert learnt["attributes.z"].value == pytest.approx(
        (learnt["attributes_hat.z"].value + learnt["attributes_salient_dot.z"].value) / 2
    )


def test_every_score_has_the_version_of_its_metric(monkeypatch):
    data = Samples(np.random.default_rng(0).normal(size=(60, 2)), labels=np.arange(60) % 2)
    assert {score.version for score in evaluate(Whole(), data, ["probe"]).values()} == {1}
    set_version(monkeypatch, "probe", 2)
    scores = evaluate(Whole(), data, ["probe", "clustering"])
    assert scores["probe.z"].to_json()["version"] == 2
    assert scores["clustering.z"].version == 1


# A function has the version of the metric whose score it is, or the first.
@pytest.mark.parametrize(
    ("function", "version"),
    [
        (metrics.sap_score, METRICS["sap"].version),
        (metrics.mig_score, METRICS["mig"].version),
        (metrics.dci_scores, METRICS["dci"].version),
        (metrics.modularity_score, METRICS["modularity"].version),
        (metrics.explicitness_score, METRICS["explicitness"].version),
        (metrics.attribute_accuracy, METRICS["attributes"].version),
        (metrics.unsupervised_scores, METRICS["unsupervised"].version),
        (metrics.z_diff_score, METRICS["z_diff"].version),
        (metrics.z_diff_score_from_draws, METRICS["z_diff"].version),
        (metrics.factor_vae_score, METRICS["factor_vae_score"].version),
        (metrics.factor_vae_score_from_draws, METRICS["factor_vae_score"].version),
        (metrics.information_matrix, 1),
        (metrics.udr_score, 1),
    ],
)
def test_docstrings_have_range_direction_and_version(function, version):
    text = function.__doc__
    assert re.search(rf"Version {version}\b", text)
    assert re.search(r"\[0, 1\]|from 0|at least 0|0 or more", text)
    assert re.search(r"higher is better|lower is better", text, re.IGNORECASE)
