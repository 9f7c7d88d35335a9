"""Codes that tell all, nothing, and what straight cuts do not; contents, pairs and errors whose answers are known."""

import numpy as np
import pytest

from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics.class_content import content_combinations, landmark_pairs, reading, transfer_errors, transfer_pairs
from untwine.samples import Samples


def test_codes_that_tell_all_and_codes_that_tell_nothing():
    chance = np.random.default_rng(0)
    labels = chance.integers(0, 4, 900)
    told = reading(np.eye(4)[labels] + 0.1 * chance.normal(size=(900, 4)), labels)
    assert told.accuracy > 0.98
    assert told.n == 300
    nothing = reading(chance.normal(size=(900, 4)), labels)
    assert abs(nothing.accuracy - 0.25) < 0.1
    assert abs(nothing.chance - 0.25) < 0.06
    assert reading(chance.normal(size=(900, 2)), np.arange(900) % 30).chance == 1 / 30  # not less, though a part lacks some
    assert np.mean(nothing.parts) == pytest.approx(nothing.accuracy)


def test_what_straight_cuts_do_not_find_is_read():
    codes = np.random.default_rng(0).uniform(-1, 1, size=(1200, 2))
    assert reading(codes, (codes[:, 0] * codes[:, 1] > 0).astype(int)).accuracy > 0.9


def test_many_classes_are_read_as_well_as_few():
    chance = np.random.default_rng(0)
    labels = np.repeat(np.arange(200), 10)
    codes = chance.normal(size=(200, 2))[labels] + 0.01 * chance.normal(size=(2000, 2))
    assert reading(codes, labels).accuracy > 0.9  # 0.78 after 400 steps


def test_a_factor_that_only_tells_the_class_is_no_content():
    labels = np.array([5, 5, 2, 2])
    height, pose = [1.0, 1.0, 3.0, 3.0], [0.0, 1.0, 1.0, 0.0]
    assert content_combinations(labels, np.c_[height, pose]).tolist() == [0, 1, 1, 0]
    assert content_combinations(labels, np.c_[height]) is None


def test_the_truth_of_a_moved_content_has_the_class_of_one_and_the_content_of_the_other():
    labels, contents = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    kept = np.delete(np.arange(24), [3, 10])
    y, c = labels[kept], contents[kept]
    i, j, truth = transfer_pairs(y, c, most=200)
    assert len(i) == 200
    assert (y[truth] == y[i]).all()
    assert (c[truth] == c[j]).all()
    assert (y[i] != y[j]).all()
    with pytest.raises(ValueError, match="expected two classes that share a content"):
        transfer_pairs([0, 0, 1, 1], [0, 1, 2, 3])


def test_errors_are_those_of_images_on_0_to_1():
    black, white = np.zeros((2, 1, 8, 8), np.uint8), np.full((2, 1, 8, 8), 255, np.uint8)
    assert transfer_errors(black, white).tolist() == [1, 1]
    assert transfer_errors(white, np.full((2, 1, 8, 8), 0.75)).tolist() == [0.25, 0.25]
    with pytest.raises(ValueError, match="equally many rows of one shape"):
        transfer_errors(black, white[:1])


def test_one_class_to_learn_is_refused():
    with pytest.raises(ValueError, match="expected at least 2 classes to learn"):
        reading(np.ones((6, 2)), np.zeros(6, dtype=int))


class Perfect:
    """Rows are their class beside their content: the codes are the row itself."""

    def encode(self, x):
        return Latents({"class": x[:, :4], "content": x[:, 4:]})

    def decode(self, latents):
        return latents.array()


def test_a_perfect_method_reads_its_own_and_nothing_else_and_moves_contents_without_error():
    chance = np.random.default_rng(0)
    labels, contents = np.repeat(np.arange(6), 60), np.tile(np.repeat(np.arange(4), 15), 6)
    x = np.c_[chance.normal(size=(6, 4))[labels], chance.normal(size=(4, 3))[contents]]
    samples = Samples(x, labels=labels, factors=np.c_[labels, contents])
    scores = evaluate(Perfect(), samples, ["reading", "transfer"])
    assert scores["class_read.class"].value == scores["content_read.content"].value == 1
    assert abs(scores["class_read.content"].value - 1 / 6) < 0.1
    assert abs(scores["content_read.class"].value - 1 / 4) < 0.12
    assert (scores["class_read.content"].direction, scores["content_read.content"].direction) == ("lower", "higher")
    assert abs(scores["class_chance.x"].value - 1 / 6) < 0.1
    assert scores["transfer.x"].value < 1e-6 < 0.1 < scores["transfer_unmoved.x"].value
    # Without contents there is no truth of a moved one, but the class can be read.
    alone = Samples(x, labels=labels, factors=np.c_[labels])
    for metric in ("transfer", "transfer_lpips"):
        with pytest.raises(ValueError, match=f"'{metric}' must be labels, and factors that vary within a class"):
            evaluate(Perfect(), alone, [metric])
    scores = evaluate(Perfect(), alone, ["reading"])
    assert list(scores) == ["class_chance.x", "class_read.class", "class_read.content"]
    assert scores["class_read.class"].value == 1 > 0.4 > scores["class_read.content"].value
    with pytest.raises(ValueError, match="'reading' expected at least 2 classes"):
        evaluate(Perfect(), Samples(x), ["reading"])


def test_numbers_that_no_two_classes_share_name_no_content():
    chance = np.random.default_rng(0)
    x, labels = chance.normal(size=(60, 7)), np.repeat(np.arange(4), 15)
    scores = evaluate(Perfect(), Samples(x, labels=labels, factors=chance.normal(size=(60, 2))))
    assert "class_read.content" in scores
    assert not [name for name in scores if name.startswith(("content_", "transfer"))]


def test_where_landmarks_are_known_the_content_is_that_of_the_nearest_face_of_another_person():
    chance = np.random.default_rng(0)
    labels, points = chance.integers(0, 5, 40), chance.normal(size=(40, 3, 2))
    i, j, truth = landmark_pairs(labels, points, most=30)
    assert len(set(truth)) == 30
    assert (labels[i] == labels[truth]).all()
    assert (i != truth).all()
    for one, row in zip(j, truth, strict=True):
        apart = [np.inf if labels[k] == labels[row] else np.linalg.norm(points[k] - points[row]) for k in range(40)]
        assert one == np.argmin(apart)
    # Everybody else of the class is drawn about equally often.
    twice = np.repeat([0, 1], [2000, 2])
    i, _, truth = landmark_pairs(twice, chance.normal(size=(2002, 1, 2)), most=2000)
    assert len(np.unique(i)) > 1000
    i, _, truth = landmark_pairs([0, 0, 1, 1], np.arange(8.0).reshape(4, 1, 2))
    assert sorted(zip(i, truth, strict=True)) == [(0, 1), (1, 0), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("labels", "points", "sentence"),
    [
        ([0, 0, 1], np.zeros((3, 4)), r"expected known points \(n, k, 2\) for the 3 labels; got shape \(3, 4\)"),
        ([0, 0, 1], np.full((3, 1, 2), np.nan), "or unknown ones; leave rows without landmarks out"),
        ([0, 0, 0], np.zeros((3, 1, 2)), "expected two classes, one of them with two rows"),
        ([0, 1, 2], np.zeros((3, 1, 2)), "expected two classes, one of them with two rows"),
    ],
)
def test_landmarks_without_pairs_get_their_sentence(labels, points, sentence):
    with pytest.raises(ValueError, match=sentence):
        landmark_pairs(labels, points)


class Faces:
    """The class is a face's colour, the content where its landmarks lie; the row is both."""

    def encode(self, x):
        return Latents({"class": x[:, :2], "content": x[:, 2:]})

    def decode(self, latents):
        return latents.array()


def test_a_moved_content_is_scored_by_nearest_landmarks_where_these_are_all_that_is_known():
    chance = np.random.default_rng(0)
    labels, pose = np.repeat(np.arange(5), 40), chance.uniform(0, 1, size=(200, 4))
    x = np.c_[10.0 * chance.normal(size=(5, 2))[labels], pose]
    names = tuple(f"landmark {k} {axis}" for k in range(2) for axis in "xy")
    faces = Samples(x, labels=labels, factors=pose, factor_names=names)
    scores = evaluate(Faces(), faces, ["transfer", "reading", "landmarks"])
    # Decoded rows have the right class, and the pose of the nearest other face: its distance is all that is left.
    _, j, truth = landmark_pairs(labels, pose.reshape(200, 2, 2))
    left = np.abs(pose[j] - pose[truth]).sum(1).mean() / 6
    assert scores["transfer.x"].value == pytest.approx(left, rel=1e-5)
    assert scores["transfer.x"].value < 0.6 * scores["transfer_unmoved.x"].value
    assert "content_read.content" not in scores
    assert scores["landmarks.content"].value < 1e-6 < scores["landmarks.class"].value
    # Faces without landmarks are left out, and nobody's face is his own content.
    some = pose.copy()
    some[:50] = np.nan
    rows = evaluate(Faces(), Samples(x, labels=labels, factors=some, factor_names=names), ["transfer"])
    assert rows["transfer.x"].n == 150
