"""Informative, uninformative and nonlinear codes; contents, pairs and errors whose answers are known."""

import numpy as np
import pytest

from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics import landmark_pairs, mlp_probe_accuracy, transfer_errors, transfer_pairs
from untwine.metrics.content_pairs import content_combinations
from untwine.metrics.nuisance import nuisance_folds, remove_means
from untwine.samples import Samples


def test_informative_and_uninformative_codes():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 900)
    informative = mlp_probe_accuracy(np.eye(4)[labels] + 0.1 * rng.normal(size=(900, 4)), labels)
    assert informative.accuracy > 0.98
    assert informative.n == 300
    uninformative = mlp_probe_accuracy(rng.normal(size=(900, 4)), labels)
    assert abs(uninformative.accuracy - 0.25) < 0.1
    assert abs(uninformative.chance - 0.25) < 0.06
    assert (
        mlp_probe_accuracy(rng.normal(size=(900, 2)), np.arange(900) % 30).chance == 1 / 30
    )  # not less, though the test samples lack some
    assert np.mean(uninformative.subsets) == pytest.approx(uninformative.accuracy)


def test_classes_that_are_not_linearly_separable_are_predicted():
    codes = np.random.default_rng(0).uniform(-1, 1, size=(1200, 2))
    assert mlp_probe_accuracy(codes, (codes[:, 0] * codes[:, 1] > 0).astype(int)).accuracy > 0.9


def test_many_classes_are_predicted_as_well_as_few():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(200), 10)
    codes = rng.normal(size=(200, 2))[labels] + 0.01 * rng.normal(size=(2000, 2))
    assert mlp_probe_accuracy(codes, labels).accuracy > 0.9  # 0.78 after 400 steps


def grid(seed, classes=50, poses=15, width=12):
    """Return the class and the pose of each pair once, their random embeddings, and noise."""
    rng = np.random.default_rng(seed)
    y, pose = np.repeat(np.arange(classes), poses), np.tile(np.arange(poses), classes)
    return (
        y,
        pose,
        rng.normal(size=(classes, width))[y],
        rng.normal(size=(poses, width))[pose],
        rng.normal(size=(len(y), width)),
    )


def covers_chance(result):
    return result.interval[0] <= result.chance <= result.interval[1]


@pytest.mark.parametrize("seed", range(3))
def test_a_small_leak_under_the_content_is_found(seed):
    y, pose, class_code, pose_code, noise = grid(seed)
    codes = pose_code + 0.1 * class_code + 0.1 * noise
    leak = mlp_probe_accuracy(codes, y, nuisance=pose)
    assert leak.n == 750
    assert leak.chance == 1 / 50
    assert 0.4 < leak.interval[0] < leak.accuracy < leak.interval[1]  # a random third held out: 0 to 0.004
    assert mlp_probe_accuracy(codes, pose, nuisance=y).accuracy > 0.99
    assert mlp_probe_accuracy(class_code + 0.1 * pose_code + 0.1 * noise, pose, nuisance=y).interval[0] > 0.4
    assert mlp_probe_accuracy(class_code + 0.1 * noise, y, nuisance=pose).accuracy > 0.99


@pytest.mark.parametrize("seed", range(2))
def test_codes_without_a_leak_are_at_chance(seed):
    y, pose, class_code, pose_code, noise = grid(seed)
    spread = np.random.default_rng(seed).uniform(0.02, 0.3, 15)[pose][:, None]
    for codes in (pose_code + 0.1 * noise, pose_code.astype(np.float32), np.ones((750, 3)), noise, pose_code + spread * noise):
        assert covers_chance(mlp_probe_accuracy(codes, y, nuisance=pose))
    for codes in (class_code + 0.1 * noise, class_code.astype(np.float32), np.ones((750, 3))):
        assert covers_chance(mlp_probe_accuracy(codes, pose, nuisance=y))


def test_chance_is_the_floor_where_pairs_are_missing_and_classes_are_unequal():
    y, pose, class_code, pose_code, _ = grid(0, classes=20, poses=40)
    results = []
    for seed in range(8):
        rng = np.random.default_rng(100 + seed)
        some = rng.permutation(len(y))[:300]
        some = some[(y[some] > 4) | (pose[some] < 15)]
        codes = (pose_code + 0.1 * rng.normal(size=pose_code.shape))[some]
        results.append(mlp_probe_accuracy(codes, y[some], nuisance=pose[some], seed=seed))
    # An interval of 95 % may miss once in 8; the mean may be off by three of its standard errors, 0.004.
    assert sum(map(covers_chance, results)) >= 7
    assert abs(np.mean([one.accuracy for one in results]) - 1 / 20) < 0.012
    assert mlp_probe_accuracy(class_code[some], y[some], nuisance=pose[some]).accuracy > 0.97


def test_wrong_nuisances_are_refused():
    codes, labels = np.ones((6, 2)), [0, 0, 0, 1, 1, 1]
    with pytest.raises(ValueError, match="a split or a nuisance; got both"):
        mlp_probe_accuracy(codes, labels, split=([0, 3], [1, 4]), nuisance=labels)
    with pytest.raises(ValueError, match="at least 2 classes that occur with two values of the nuisance; got fewer"):
        mlp_probe_accuracy(codes, labels, nuisance=[0, 0, 0, 1, 1, 2])


def test_means_of_the_nuisance_are_removed_and_all_else_stays():
    y, pose, class_code, pose_code, _ = grid(0)
    both = np.c_[pose_code, class_code]
    left = remove_means(both, pose)
    assert (left[:, :12] == 0).all()
    assert np.abs(left[:, 12:] - (class_code - class_code.mean(0))).max() < 1e-9
    assert remove_means(both, np.arange(750)) is both
    folds = nuisance_folds(y, pose, 3, seed=0)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(750))
    for train, test in folds:
        assert not set(pose[train]) & set(pose[test])
        assert set(np.bincount(y[test]).tolist()) == {5}


def test_a_factor_that_is_determined_by_the_class_is_not_content():
    labels = np.array([5, 5, 2, 2])
    height, pose = [1.0, 1.0, 3.0, 3.0], [0.0, 1.0, 1.0, 0.0]
    assert content_combinations(labels, np.c_[height, pose]).tolist() == [0, 1, 1, 0]
    assert content_combinations(labels, np.c_[height]) is None


def test_the_ground_truth_of_a_transfer_has_the_class_of_one_sample_and_the_content_of_the_other():
    labels, contents = np.repeat(np.arange(4), 6), np.tile(np.arange(6), 4)
    chosen = np.delete(np.arange(24), [3, 10])
    y, c = labels[chosen], contents[chosen]
    i, j, truth = transfer_pairs(y, c, most=200)
    assert len(i) == 200
    assert (y[truth] == y[i]).all()
    assert (c[truth] == c[j]).all()
    assert (y[i] != y[j]).all()
    with pytest.raises(ValueError, match="needs two classes with samples of the same content"):
        transfer_pairs([0, 0, 1, 1], [0, 1, 2, 3])


def test_errors_are_those_of_images_on_0_to_1():
    black, white = np.zeros((2, 1, 8, 8), np.uint8), np.full((2, 1, 8, 8), 255, np.uint8)
    assert transfer_errors(black, white).tolist() == [1, 1]
    assert transfer_errors(white, np.full((2, 1, 8, 8), 0.75)).tolist() == [0.25, 0.25]
    with pytest.raises(ValueError, match="must have one shape"):
        transfer_errors(black, white[:1])


def test_one_class_to_train_on_is_refused():
    with pytest.raises(ValueError, match="needs at least 2 classes to train on"):
        mlp_probe_accuracy(np.ones((6, 2)), np.zeros(6, dtype=int))


class Perfect:
    """A sample is its class beside its content: the codes are the sample itself."""

    def encode(self, x):
        return Latents({"class": x[:, :4], "content": x[:, 4:]})

    def decode(self, latents):
        return latents.array()


def test_blocks_of_a_perfect_method_predict_their_own_ground_truth_only_and_transfer_without_error():
    rng = np.random.default_rng(0)
    labels, contents = np.repeat(np.arange(6), 60), np.tile(np.repeat(np.arange(4), 15), 6)
    x = np.c_[rng.normal(size=(6, 4))[labels], rng.normal(size=(4, 3))[contents]]
    samples = Samples(x, labels=labels, factors=np.c_[labels, contents])
    scores = evaluate(Perfect(), samples, ["reading", "transfer"])
    assert scores["class_read.class"].value == scores["content_read.content"].value == 1
    assert abs(scores["class_read.content"].value - 1 / 6) < 0.1
    assert abs(scores["content_read.class"].value - 1 / 4) < 0.12
    assert (scores["class_read.content"].direction, scores["content_read.content"].direction) == ("lower", "higher")
    assert abs(scores["class_chance.x"].value - 1 / 6) < 0.1
    assert scores["transfer.x"].value < 1e-6 < 0.1 < scores["transfer_unmoved.x"].value
    # Without content factors there is no ground truth of a transfer, but the class can be predicted.
    alone = Samples(x, labels=labels, factors=np.c_[labels])
    for metric in ("transfer", "transfer_lpips"):
        with pytest.raises(ValueError, match=f"'{metric}' needs labels, and factors that vary within a class"):
            evaluate(Perfect(), alone, [metric])
    scores = evaluate(Perfect(), alone, ["reading"])
    assert list(scores) == ["class_chance.x", "class_read.class", "class_read.content"]
    assert scores["class_read.class"].value == 1 > 0.4 > scores["class_read.content"].value
    with pytest.raises(ValueError, match="'reading' needs at least 2 classes"):
        evaluate(Perfect(), Samples(x), ["reading"])


def test_factors_that_no_two_classes_share_are_not_content():
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(60, 7)), np.repeat(np.arange(4), 15)
    scores = evaluate(Perfect(), Samples(x, labels=labels, factors=rng.normal(size=(60, 2))))
    assert "class_read.content" in scores
    assert not [name for name in scores if name.startswith(("content_", "transfer"))]


def test_where_landmarks_are_known_the_content_is_that_of_the_nearest_face_of_another_person():
    rng = np.random.default_rng(0)
    labels, points = rng.integers(0, 5, 40), rng.normal(size=(40, 3, 2))
    i, j, truth = landmark_pairs(labels, points, most=30)
    assert len(set(truth)) == 30
    assert (labels[i] == labels[truth]).all()
    assert (i != truth).all()
    for one, sample in zip(j, truth, strict=True):
        distances = [np.inf if labels[k] == labels[sample] else np.linalg.norm(points[k] - points[sample]) for k in range(40)]
        assert one == np.argmin(distances)
    # Everybody else of the class is drawn about equally often.
    twice = np.repeat([0, 1], [2000, 2])
    i, _, truth = landmark_pairs(twice, rng.normal(size=(2002, 1, 2)), most=2000)
    assert len(np.unique(i)) > 1000
    i, _, truth = landmark_pairs([0, 0, 1, 1], np.arange(8.0).reshape(4, 1, 2))
    assert sorted(zip(i, truth, strict=True)) == [(0, 1), (1, 0), (2, 3), (3, 2)]


@pytest.mark.parametrize(
    ("labels", "points", "sentence"),
    [
        ([0, 0, 1], np.zeros((3, 4)), r"must be known landmarks \(n, k, 2\) for the 3 labels; got shape \(3, 4\)"),
        ([0, 0, 1], np.full((3, 1, 2), np.nan), "or unknown ones; leave samples without landmarks out"),
        ([0, 0, 0], np.zeros((3, 1, 2)), "at least two classes, one of which has two samples"),
        ([0, 1, 2], np.zeros((3, 1, 2)), "at least two classes, one of which has two samples"),
    ],
)
def test_landmarks_without_pairs_are_refused(labels, points, sentence):
    with pytest.raises(ValueError, match=sentence):
        landmark_pairs(labels, points)


class Faces:
    """The class is a face's colour, the content where its landmarks are; the sample is both."""

    def encode(self, x):
        return Latents({"class": x[:, :2], "content": x[:, 2:]})

    def decode(self, latents):
        return latents.array()


def test_transfer_is_scored_by_nearest_landmarks_where_there_are_no_content_factors():
    rng = np.random.default_rng(0)
    labels, pose = np.repeat(np.arange(5), 40), rng.uniform(0, 1, size=(200, 4))
    x = np.c_[10.0 * rng.normal(size=(5, 2))[labels], pose]
    names = tuple(f"landmark {k} {axis}" for k in range(2) for axis in "xy")
    faces = Samples(x, labels=labels, factors=pose, factor_names=names)
    scores = evaluate(Faces(), faces, ["transfer", "reading", "landmarks"])
    # Decoded samples have the right class, and the pose of the nearest other face: only its distance is left.
    _, j, truth = landmark_pairs(labels, pose.reshape(200, 2, 2))
    left = np.abs(pose[j] - pose[truth]).sum(1).mean() / 6
    assert scores["transfer.x"].value == pytest.approx(left, rel=1e-5)
    assert scores["transfer.x"].value < 0.6 * scores["transfer_unmoved.x"].value
    assert "content_read.content" not in scores
    assert scores["landmarks.content"].value < 1e-6 < scores["landmarks.class"].value
    # Faces without landmarks are left out, and no face is its own content.
    some = pose.copy()
    some[:50] = np.nan
    some_scores = evaluate(Faces(), Samples(x, labels=labels, factors=some, factor_names=names), ["transfer"])
    assert some_scores["transfer.x"].n == 150
