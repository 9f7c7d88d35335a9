"""Codes that tell all, nothing, and what straight cuts do not; contents, pairs and errors whose answers are known."""

import numpy as np
import pytest

from untwine.evaluate import evaluate
from untwine.latents import Latents
from untwine.metrics.class_content import content_combinations, reading, transfer_errors, transfer_pairs
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


def test_errors_are_those_of_pictures_on_0_to_1():
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
    with pytest.raises(ValueError, match="'reading' expected labels, and factors that vary within a class, but there are none"):
        evaluate(Perfect(), Samples(x, labels=labels, factors=np.c_[labels]), ["reading"])
