"""Options of metrics: written behind the name, checked before any data is read, and recorded with the scores."""

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
from known_methods import Columns, Whole, vectors

import untwine as un
from untwine.evaluation.registry import METRICS, explain, find_metric
from untwine.evaluation.scoring import evaluate, find_metrics
from untwine.method.fields import Count, Names
from untwine.metrics import Directions, Measurement, Metric, ScoreInfo
from untwine.metrics.options import Options, changed, parse, plain_name, spell
from untwine.runs.reading import split
from untwine.runs.scores import read_scores, write_scores
from untwine.samples import Samples


@dataclass(frozen=True)
class NormOptions(Options):
    """Options of a metric.

    Parameters
    ----------
    order
        The order of the norm.
    scale
        A factor.
    skip
        Blocks that are left out.
    centre
        What is subtracted.
    """

    order: Count = 2
    scale: float = 1.0
    skip: Names = ()
    centre: Literal["nothing", "mean"] = "nothing"


def norm(data, options):
    """Mean norm of the codes."""
    for block, codes in data.latents.items():
        if block not in options.skip:
            centred = codes - codes.mean(0) if options.centre == "mean" else codes
            value = options.scale * float(np.linalg.norm(centred, options.order, axis=1).mean())
            yield Measurement(f"norm.{block}", value, (value, value), len(codes))


NORM = Metric("norm", norm, "Mean norm.", {"norm": ScoreInfo("How long?", Directions("lower"))}, options=NormOptions())


@pytest.mark.parametrize(
    ("text", "name", "values", "canonical"),
    [
        ("norm", "norm", {}, "norm"),
        ("norm()", "norm", {}, "norm"),
        ("norm(order=2)", "norm", {"order": 2}, "norm"),
        (" norm( order = 3 , scale=0.5 )", "norm", {"order": 3, "scale": 0.5}, "norm(order=3,scale=0.5)"),
        ("norm(scale=0.5, order=3)", "norm", {"scale": 0.5, "order": 3}, "norm(order=3,scale=0.5)"),
        ("norm(skip=common)", "norm", {"skip": "common"}, "norm(skip=common)"),
        ("norm(skip=x position)", "norm", {"skip": "x position"}, "norm(skip=x position)"),
        ('norm(skip=["a","b, c"])', "norm", {"skip": ["a", "b, c"]}, 'norm(skip=["a","b, c"])'),
        ('norm(skip="a, (b)", order=1)', "norm", {"skip": "a, (b)", "order": 1}, 'norm(order=1,skip="a, (b)")'),
        ('norm(skip="true")', "norm", {"skip": "true"}, 'norm(skip="true")'),
        ("norm(centre=mean)", "norm", {"centre": "mean"}, "norm(centre=mean)"),
    ],
)
def test_a_name_with_options_is_parsed_and_spelled_in_one_way(text, name, values, canonical):
    assert parse(text) == (name, values)
    metric = NORM.with_options(**values)
    assert metric.spelling == canonical
    assert NORM.with_options(**parse(canonical)[1]) == metric
    assert plain_name(canonical) == "norm"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("norm(order=3", r"must be written as name\(option=value, ...\); got 'norm\(order=3'; close the bracket"),
        ("norm(order)", r"must be written as .*; got 'norm\(order\)'; write 'order' as option=value"),
        ("norm(order=1, order=2)", "each option once; got 'order' twice"),
    ],
)
def test_a_name_that_cannot_be_parsed_is_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse(text)


@pytest.mark.parametrize(
    ("values", "error", "sentence"),
    [
        ({"oder": 3}, ValueError, "^options of the metric 'norm' must be known ones; got 'oder'; did you mean 'order'"),
        ({"order": 0}, ValueError, "^the metric 'norm': order must be an integer >= 1; got 0"),
        ({"order": "two"}, TypeError, "^the metric 'norm': order must be an integer >= 1; got 'two'"),
        ({"centre": "man"}, ValueError, "must be 'nothing' or 'mean'; got 'man'; did you mean 'mean'"),
        ({"skip": 3}, TypeError, "skip must be a list of names; got 3"),
        ({"skip": ["a", 3]}, TypeError, "skip must be a list of names"),
    ],
)
def test_wrong_options_are_refused_with_the_nearest(values, error, sentence):
    with pytest.raises(error, match=sentence):
        NORM.with_options(**values)


def test_wrong_options_are_refused_before_anything_is_read_or_encoded(tmp_path):
    class Never:
        def encode(self, x):
            raise AssertionError("encoded")

    with pytest.raises(ValueError, match="options of the metric 'z_diff' must be known ones; got 'pair'; did you mean 'pairs'"):
        evaluate(Never(), vectors(), ["z_diff(pair=3)"])
    with pytest.raises(ValueError, match="got 'bins'; it has none; leave it out"):
        evaluate(Never(), vectors(), ["mig(bins=3)"])
    with pytest.raises(ValueError, match="the metric 'w2': of must be 'means' or 'samples'; got 'sample'; did you mean"):
        un.evaluate_run(tmp_path / "no run", data="no data", metrics=["w2(of=sample)"])
    with pytest.raises(ValueError, match="got 'z_dif'; did you mean 'z_diff'"):
        find_metric("z_dif(pairs=3)")


def test_options_change_values_and_are_recorded_only_where_they_are_not_the_default(tmp_path):
    data = vectors()
    scores = evaluate(Columns(), data, [NORM, NORM.with_options(order=1, scale=0.5), NORM.with_options(order=2)])
    assert list(scores) == [f"norm{of}.{block}" for of in ("", "(order=1,scale=0.5)") for block in ("common", "salient")]
    assert scores["norm(order=1,scale=0.5).common"].value == pytest.approx(0.5 * np.abs(data.x[:, :2]).sum(1).mean())
    assert scores["norm.common"].value == pytest.approx(np.linalg.norm(data.x[:, :2], axis=1).mean())
    assert {one.direction for one in scores.values()} == {"lower"}
    write_scores(tmp_path, scores)
    stored = json.loads((tmp_path / "scores.json").read_text())
    assert "options" not in stored["norm.common"]
    assert stored["norm(order=1,scale=0.5).common"]["options"] == {"order": 1, "scale": 0.5}
    read = read_scores(tmp_path)
    assert read == scores
    assert list(evaluate(Columns(), data, [NORM.with_options(skip=["common"])])) == ["norm(skip=common).salient"]


def test_a_score_with_options_has_its_block_and_its_explanation():
    assert split("sap(correlated=0.5).z") == ("sap(correlated=0.5)", "z")
    assert split("probe.salient") == ("probe", "salient")
    for name in ("sap(correlated=0.5).z", "sap(correlated=0.5)", "sap.z"):
        assert explain(name) == explain("sap") != ""


def test_metrics_with_options_stand_beside_the_plain_one_in_the_order_of_the_catalogue():
    chosen = find_metrics(["z_diff(pairs=8)", "sap", "z_diff", NORM, "z_diff(pairs=64)", METRICS["w2"].with_options(batch=4)])
    assert [metric.spelling for metric in chosen] == ["w2(batch=4)", "sap", "z_diff(pairs=8)", "z_diff", "norm"]


@pytest.mark.parametrize("name", list(METRICS))
def test_every_option_has_a_default_of_its_type_and_a_meaning(name):
    from untwine.method.fields import check, describe

    options = METRICS[name].options
    assert changed(options) == {}
    assert spell(options) == ""
    described = describe(type(options))
    check(type(options), {one.name: one.default for one in described})
    assert all(one.meaning.endswith(".") for one in described)


def grid(n=1500, seed=0):
    """Return codes and samples of three factors, of which the codes encode the last two."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, [3, 5, 5], (n, 3))
    x = np.c_[rng.normal(size=n), factors[:, 1:] + 0.01 * rng.normal(size=(n, 2))]
    return Samples(x, factors=factors, factor_names=("shape", "left", "top"))


def test_z_diff_without_shape_is_that_of_the_other_factors():
    from untwine.metrics import z_diff_score

    data = grid()

    class Left:
        def encode(self, x):
            return un.Latents({"z": x[:, 1:2]})

    scores = evaluate(Left(), data, ["z_diff", "z_diff(leave_out=shape)"])
    # By the one latent `left` is recognised, and of the others one of two (with shape) or all (without it).
    assert scores["z_diff.z"].value == pytest.approx(2 / 3, abs=0.04)
    assert scores["z_diff(leave_out=shape).z"].value > 0.99
    alone = z_diff_score(data.x[:, 1:2], data.factors[:, 1:].astype(int), [False, False])
    assert scores["z_diff(leave_out=shape).z"].value == pytest.approx(alone.accuracy)


def test_z_diff_has_as_many_pairs_as_are_asked_for():
    from untwine.metrics import z_diff_score

    rng, data = np.random.default_rng(1), grid()
    noisy = Samples(data.x + rng.normal(size=data.x.shape), factors=data.factors, factor_names=data.factor_names)
    scores = evaluate(Whole(), noisy, ["z_diff(pairs=2)", "z_diff", "z_diff(pairs=16,classifier=logistic)"])
    for name, options in (
        ("(pairs=2)", {"pairs": 2}),
        ("(pairs=16,classifier=logistic)", {"pairs": 16, "classifier": "logistic"}),
    ):
        alone = z_diff_score(noisy.x, data.factors.astype(int), [False] * 3, **options)
        assert scores[f"z_diff{name}.z"].value == pytest.approx(alone.accuracy)
    assert scores["z_diff(pairs=2).z"].value < scores["z_diff.z"].value - 0.1  # the mean of two says less than that of 64


def test_factors_that_are_left_out_must_be_there_and_leave_two():
    with pytest.raises(
        ValueError,
        match=r"'z_diff\(leave_out=shap\)' needs samples with the factors 'shap'; got no 'shap'; did you mean 'shape'",
    ):
        evaluate(Whole(), grid(200), ["z_diff(leave_out=shap)"])
    with pytest.raises(ValueError, match=r"needs two factors .*; got fewer; leave out fewer factors"):
        evaluate(Whole(), grid(200), ['z_diff(leave_out=["shape","left"])'])
    with pytest.raises(ValueError, match=r"needs two factors|samples without factors"):
        evaluate(Whole(), Samples(np.eye(30)), ["z_diff(leave_out=shape)"])
    skipped = evaluate(Whole(), grid(200), ["z_diff(leave_out=shap)", "mig"], skip_inapplicable=True)
    assert list(skipped) == ["mig.z"]


def test_an_unknown_value_of_a_factor_that_is_left_out_does_not_leave_out_the_sample():
    data = grid(400)
    factors = data.factors.copy()
    factors[:100, 0] = np.nan
    some = Samples(data.x, factors=factors, factor_names=data.factor_names)
    scores = evaluate(Whole(), some, ["z_diff", "z_diff(leave_out=shape)"])
    assert (scores["z_diff.z"].n, scores["z_diff(leave_out=shape).z"].n) == (300, 400)


def test_sap_on_groups_does_not_punish_a_factor_that_two_correlated_latents_share():
    rng = np.random.default_rng(0)
    y = rng.uniform(size=(600, 2))
    codes = np.c_[y[:, 0], y[:, 0] + 1e-3 * rng.normal(size=600), y[:, 1]]
    data = Samples(codes, factors=y)
    scores = evaluate(Whole(), data, ["sap", "sap(correlated=0.9)", "sap(classifier=svm)"], seeds=2)
    assert scores["sap.z"].value == pytest.approx(0.5, abs=0.03)  # no gap for the first factor
    assert scores["sap(correlated=0.9).z"].value > 0.95
    assert scores["sap(classifier=svm).z"].value == pytest.approx(0.5, abs=0.03)
    for value in (0, 1, 1.5):
        with pytest.raises(ValueError, match="the metric 'sap': correlated must be"):
            METRICS["sap"].with_options(correlated=value)


class Posterior:
    """A fitted method whose common block is the sample itself, with a posterior of known standard deviation."""

    def __init__(self, target=0.0, background=0.0):
        self.std = target, background

    def encode(self, x):
        return un.Latents({"common": x[:, :1], "salient": x[:, 1:]})

    def decode(self, latents):
        return latents.array()

    def posterior_std(self, x):
        return {"common": np.where(x[:, 1:] > 0, *self.std)}


def pairs(n=1000, shift=0.0):
    """Targets at `shift` and background at 0, each group at one point; the second column is the group."""
    groups = np.repeat([1, 0], n)
    return Samples(np.c_[shift * groups, groups].astype(float), groups=groups)


def test_w2_of_samples_is_that_of_two_gaussians():
    data = pairs(400, shift=3.0)
    scores = evaluate(Posterior(2.0, 0.5), data, ["w2", "w2(of=samples)"], seeds=2)
    assert scores["w2.common"].value == pytest.approx(9.0)
    assert scores["w2(of=samples).common"].value == pytest.approx(9.0 + (2.0 - 0.5) ** 2, rel=0.15)
    relative = 11.25 / ((9.0 + 4.0 + 0.25) / 2)
    assert scores["w2_relative(of=samples).common"].value == pytest.approx(relative, rel=0.15)
    without = evaluate(Posterior(), data, ["w2", "w2(of=samples)"], seeds=2)
    assert without["w2(of=samples).common"].value == without["w2.common"].value  # no noise, the same codes
    again = evaluate(Posterior(2.0, 0.5), data, ["w2(of=samples)"], seeds=2)
    assert again["w2(of=samples).common"].value == scores["w2(of=samples).common"].value


def test_w2_of_batches_is_the_mean_over_them_and_has_the_bias_of_their_size():
    rng = np.random.default_rng(0)
    groups = np.repeat([1, 0], 250)
    data = Samples(np.c_[rng.normal(size=(500, 1)), groups], groups=groups)
    scores = evaluate(Posterior(), data, ["w2", "w2(batch=250)", "w2(batch=40)", "w2(batch=1)"], seeds=2)
    assert scores["w2(batch=250).common"].value == pytest.approx(scores["w2.common"].value)
    assert scores["w2(batch=40).common"].n == 240
    assert scores["w2(batch=40).common"].value > 2 * scores["w2.common"].value
    one = scores["w2(batch=1).common"]
    assert one.value == pytest.approx(2.0, abs=0.6)  # E (t - b)^2 of two standard normals
    assert one.low < one.value < one.high


def test_w2_of_samples_needs_a_posterior_and_a_batch_needs_its_samples():
    with pytest.raises(ValueError, match=r"'w2\(of=samples\)' needs a method whose common block has a Gaussian posterior"):
        evaluate(Columns(), vectors(), ["w2(of=samples)"])
    with pytest.raises(ValueError, match="needs at least 121 samples each of target and background; got fewer; lower batch"):
        evaluate(Columns(), vectors(), ["w2(batch=121)"])
    assert list(evaluate(Columns(), vectors(), ["w2(batch=120)"])) == ["w2(batch=120).common", "w2_relative(batch=120).common"]


def test_w2_of_samples_of_a_fitted_method():
    data = un.load("toy_contrast", n_target=60, n_background=40, n_common=2, n_salient=1)
    vae = un.PrincipledVAE(epochs=1, n_common=2, n_salient=1, width=8).fit(data.train)
    scores = un.evaluate(vae, data.test, metrics=["w2", "w2(of=samples)"], seeds=2)
    assert scores["w2(of=samples).common"].value != scores["w2.common"].value
    pca = un.ContrastivePCA(n_common=2, n_salient=1).fit(data.train)
    with pytest.raises(ValueError, match="Gaussian posterior"):
        un.evaluate(pca, data.test, metrics=["w2(of=samples)"])
