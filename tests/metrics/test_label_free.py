"""Scores that need no labels, on methods that are right or wrong by construction."""

import numpy as np
import pytest
from known_methods import Columns, Halves, Swapped, Whole, images

from untwine import metrics
from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics.counterfactual import Changed
from untwine.samples import Samples

LABEL_FREE = ["counterfactual", "minimality", "background_quiet", "explained"]


class Silent(Halves):
    """A fitted method whose salient block is empty, so that removing it changes nothing."""

    def encode(self, x):
        right = super().encode(x)
        return Latents({"common": np.hstack([right.common, right.salient]), "salient": np.zeros_like(right.salient)})

    def decode(self, latents):
        common, salient = np.split(latents.common, 2, axis=1)
        return super().decode(Latents({"common": common, "salient": salient + latents.salient}))


class Everything(Halves):
    """A fitted method whose salient block is the whole sample: its counterparts are black."""

    def encode(self, x):
        right = super().encode(x)
        return Latents({"common": np.zeros_like(right.common), "salient": np.hstack([right.common, right.salient])})

    def decode(self, latents):
        common, salient = np.split(latents.salient, 2, axis=1)
        return super().decode(Latents({"common": common, "salient": salient}))


class Halved(Halves):
    """A fitted method that is right, and whose decoder loses half of the contrast."""

    def decode(self, latents):
        return 0.5 * super().decode(latents) + 0.2


def scores(method, samples=None, train=None):
    samples = images() if samples is None else samples
    return {name: score.value for name, score in evaluate(method, samples, metrics=LABEL_FREE, train=train).items()}


def test_a_right_method_has_the_best_of_all():
    right = scores(Halves())
    assert right["counterfactual_removed.x"] > 0.95
    assert right["counterfactual_added.x"] > 0.95
    assert right["counterfactual_gap.x"] > 0.9
    assert right["background_change.x"] == pytest.approx(0, abs=1e-6)
    assert right["explained.x"] == pytest.approx(1, abs=1e-3)
    assert 0.1 < right["minimality.x"] < 1.5


def test_swapped_blocks_are_neither_valid_nor_quiet():
    wrong = scores(Swapped())
    assert wrong["counterfactual_removed.x"] < 0.1
    assert wrong["counterfactual_added.x"] < 0.1
    assert wrong["background_change.x"] == pytest.approx(1, abs=0.15)


def test_an_empty_salient_block_changes_nothing():
    silent = scores(Silent())
    assert silent["counterfactual_removed.x"] == 0
    assert silent["counterfactual_added.x"] == 0
    assert silent["minimality.x"] == 0
    assert silent["background_change.x"] == 1


def test_a_salient_block_of_everything_is_neither_minimal_nor_quiet():
    right, everything = scores(Halves()), scores(Everything())
    assert everything["minimality.x"] > 1.5 * right["minimality.x"]
    assert everything["background_change.x"] > 0.2


def test_what_decoding_loses_is_missed_and_what_it_adds_cancels():
    right, halved = scores(Halves()), scores(Halved())
    assert halved["explained.x"] < 0.8 < right["explained.x"]
    assert halved["counterfactual_gap.x"] == right["counterfactual_gap.x"]
    assert halved["background_change.x"] == pytest.approx(0, abs=1e-6)


def test_groups_that_are_alike_have_no_gap():
    rng = np.random.default_rng(0)
    alike = Samples(rng.standard_normal((400, 3)).astype(np.float32), groups=np.arange(400) % 2)
    result = scores(Columns(), alike)
    assert abs(result["counterfactual_gap.x"]) < 0.15


def test_with_train_samples_all_scored_ones_are_judged():
    train, test = images(seed=1), images(seed=2)
    result = evaluate(Halves(), test, metrics=["counterfactual"], train=train)
    assert result["counterfactual_removed.x"].n == 200
    assert result["counterfactual_added.x"].n == 120
    assert result["counterfactual_removed.x"].value > 0.95


def test_a_method_without_a_salient_block_is_refused():
    for metric in LABEL_FREE[:3]:
        with pytest.raises(ValueError, match=f"metric '{metric}' needs a method with the block 'salient'"):
            evaluate(Whole(), Samples(np.random.default_rng(0).random((40, 3)), groups=np.arange(40) % 2), metrics=[metric])


def test_few_samples_are_refused_as_nothing_is_left_to_calibrate_on():
    with pytest.raises(ValueError, match="'counterfactual' needs 20 samples each of target and background"):
        evaluate(Halves(), images(60, 19), metrics=["counterfactual"])
    assert evaluate(Halves(), images(30, 20), metrics=["counterfactual"])["counterfactual_gap.x"].n == 25
    x = np.random.default_rng(0).random((30, 3))
    with pytest.raises(ValueError, match="real must have 10 samples of each group; got 9 targets of 30"):
        metrics.counterfactual_validity((x, np.arange(30) < 9), (x, np.arange(30) < 9), Changed(x, x), Changed(x, x))


def test_minimality_is_the_change_over_the_distance_of_two_backgrounds():
    rng = np.random.default_rng(0)
    backgrounds = rng.standard_normal((5000, 4)) * [1, 10, 0.1, 1]
    x = rng.standard_normal((100, 4))
    # Another random background as counterpart has 1; a shift of one feature by its standard deviation has 1 / (2 d).
    other = backgrounds[:2000] + 0
    assert metrics.minimality_score(other, backgrounds[2000:4000], backgrounds).value == pytest.approx(1, abs=0.05)
    assert metrics.minimality_score(x, x + np.array([0, 10, 0, 0]), backgrounds).value == pytest.approx(1 / 8, rel=0.05)
    assert metrics.minimality_score(x, x, backgrounds).value == 0


def test_explained_variance_by_hand():
    x = np.array([[0.0, 5], [2, 5]])
    assert metrics.explained_variance(x, x).value == 1
    assert metrics.explained_variance(x, [[1.0, 5], [1, 5]]).value == 0
    assert metrics.explained_variance(x, [[2.0, 5], [0, 5]]).value == -3


def test_background_change_by_hand():
    x = np.zeros((4, 1, 8, 8))
    result = metrics.background_change((x, x + 2), (x[:3], x[:3] + 1))
    assert result.value == pytest.approx(0.25)
    assert result.n == 3
    assert metrics.background_change((x, x), (x, x)).value == 1


def test_validity_is_a_share_of_the_step_between_the_groups():
    """Counterparts of half of the targets are background, and the others unchanged: half of the step."""
    samples, other = (images(targets=300, backgrounds=300, seed=seed, dtype=np.float32) for seed in (0, 1))
    target, background = samples.target.x, samples.background.x
    half = np.where(np.arange(300)[:, None, None, None] < 150, background, target)
    removed, added = metrics.counterfactual_validity(
        (other.x, other.groups == 1),
        (samples.x, samples.groups == 1),
        Changed(target, half),
        Changed(background, half),
    )
    assert removed.value == pytest.approx(0.5, abs=0.03)
    assert added.value == pytest.approx(0.5, abs=0.03)
    assert removed.gap > 0.95


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda x: metrics.minimality_score(x, x[:2], x), r"must have one shape"),
        (lambda x: metrics.minimality_score(x, x, 0 * x), r"backgrounds must differ"),
        (lambda x: metrics.explained_variance(0 * x, x), r"x must vary"),
        (lambda x: metrics.explained_variance(x, x[:2]), r"samples of one shape"),
        (lambda x: metrics.background_change((x, x), (x, x[:2])), r"backgrounds must be decoded samples"),
        (
            lambda x: metrics.counterfactual_validity((x, np.ones(8)), (x, np.ones(8)), Changed(x, x), Changed(x, x)),
            r"real must be samples of both groups",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(np.random.default_rng(0).random((8, 3)))
