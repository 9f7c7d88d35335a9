"""Codes that predict landmarks exactly, uninformative codes, and distances by hand."""

import numpy as np
import pytest

from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics import landmark_error
from untwine.metrics.held_out import random_folds
from untwine.samples import Samples


def faces(n=400, k=4):
    rng = np.random.default_rng(0)
    pose = rng.normal(size=(n, 3))
    points = 30 + (pose @ rng.normal(size=(3, 2 * k))).reshape(n, k, 2)
    return pose, points, rng


def test_codes_of_the_pose_predict_every_landmark_and_noise_none():
    pose, points, rng = faces()
    informative = landmark_error(pose, points)
    assert informative.error < 1e-9 < informative.constant
    uninformative = landmark_error(rng.normal(size=(400, 3)), points)
    assert uninformative.error == pytest.approx(uninformative.constant, rel=0.05)
    assert (uninformative.n, len(uninformative.folds)) == (400, 5)
    assert np.mean(informative.constant_folds) == pytest.approx(informative.constant)


def test_the_constant_is_the_mean_distance_to_the_mean_of_the_other_folds():
    _, points, _ = faces(9, 2)
    result = landmark_error(np.zeros((9, 1)), points, folds=3)
    by_hand = [np.linalg.norm(points[test] - points[train].mean(0), axis=2).mean() for train, test in random_folds(9, 3, 0)]
    assert result.constant == pytest.approx(np.mean(by_hand))
    np.testing.assert_allclose(result.constant_folds, by_hand)
    assert result.error == pytest.approx(result.constant)  # a constant code predicts the mean


def test_landmarks_between_pixels_are_not_rounded():
    pose, points, _ = faces()
    data = Samples(pose, factors=points.reshape(400, -1), factor_names=[f"landmark {i}" for i in range(8)])
    assert not np.equal(data.factors, np.round(data.factors)).any()

    class Pose:
        def encode(self, x):
            return Latents({"content": x})

    assert evaluate(Pose(), data, ["landmarks"])["landmarks.content"].value < 1e-4  # rounding would leave about 0.4


def test_noise_of_known_size_is_the_error_that_is_left():
    pose, points, rng = faces(4000)
    noisy = points + 2 * rng.normal(size=points.shape)
    assert landmark_error(pose, noisy).error == pytest.approx(2 * np.sqrt(np.pi / 2), rel=0.02)  # the mean of a Rayleigh


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.zeros((4, 3, 2)), np.zeros((5, 3, 3)), np.full((5, 3, 2), np.nan)])
def test_bad_landmarks_are_refused(points):
    with pytest.raises(ValueError, match=r"points must be known landmarks \(n, k, 2\) for the 5 samples"):
        landmark_error(np.ones((5, 2)), points)


class Halves:
    """The first columns are the class, the others the content."""

    def encode(self, x):
        return Latents({"class": x[:, :3], "content": x[:, 3:]})

    def decode(self, latents):
        return latents.array()


def test_blocks_are_scored_where_factors_are_named_landmarks():
    pose, points, rng = faces(200)
    truth = points.reshape(200, -1).copy()
    truth[0, 0] = np.nan  # a sample without
    names = tuple(f"landmark {i} {axis}" for i in range(4) for axis in "xy")
    samples = Samples(np.c_[rng.normal(size=(200, 3)), pose], factors=np.c_[truth, pose[:, 0]], factor_names=(*names, "age"))
    scores = evaluate(Halves(), samples, ["landmarks"])
    assert list(scores) == ["landmarks_constant.x", "landmarks.class", "landmarks.content"]
    assert scores["landmarks.content"].value < 1e-4 < 0.9 * scores["landmarks_constant.x"].value
    assert scores["landmarks.class"].value > 0.9 * scores["landmarks_constant.x"].value
    assert [scores[f"landmarks.{block}"].direction for block in ("class", "content")] == ["higher", "lower"]
    assert scores["landmarks.class"].n == 199
    with pytest.raises(ValueError, match=r"'landmarks' needs factors named 'landmark \.\.\.', x and y in turn"):
        evaluate(Halves(), Samples(samples.x, factors=pose), ["landmarks"])
