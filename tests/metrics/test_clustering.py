import itertools
from pathlib import Path

import numpy as np
import pytest

from untwine.metrics import clustering_accuracy, matching_accuracy, tsne
from untwine.metrics.clustering import plane_clustering

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "clustering.npz", allow_pickle=False)


def clusters_of_classes(n=240, classes=4, width=5, apart=8.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return apart * rng.normal(size=(classes, width))[labels] + rng.normal(size=(n, width)), labels


@pytest.mark.parametrize("case", ["f0_k3", "f1_k6", "f2_k7", "f3_k8"])
def test_matching_equals_the_reference(case):
    result = matching_accuracy(GOLDEN[f"{case}_true"], GOLDEN[f"{case}_pred"])
    assert result == pytest.approx(float(GOLDEN[f"{case}_accuracy_hungarian"]), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_matching_is_the_best_of_all_matchings(seed):
    rng = np.random.default_rng(seed)
    labels, clusters = rng.integers(0, 4, 40), rng.integers(0, 4, 40)
    best = max(np.mean(np.array(names)[clusters] == labels) for names in itertools.permutations(range(4)))
    assert matching_accuracy(labels, clusters) == pytest.approx(best)


def test_matching_ignores_names_and_counts_surplus_clusters_as_wrong():
    labels = np.repeat([0, 1, 2], 10)
    assert matching_accuracy(labels, np.repeat([7, -1, 3], 10)) == 1.0
    assert matching_accuracy(np.array(list("abc"))[labels], labels) == 1.0
    assert matching_accuracy(labels, np.zeros(30, dtype=int)) == pytest.approx(1 / 3)
    assert matching_accuracy(labels, np.arange(30)) == pytest.approx(3 / 30)


def test_silhouette_equals_the_reference_with_a_lone_point():
    result = plane_clustering(GOLDEN["edge_points"], GOLDEN["edge_labels"])
    assert result.silhouette == pytest.approx(float(GOLDEN["edge_silhouette"]), abs=1e-12)


def test_separated_clusters_score_high_under_harmless_changes_of_the_codes():
    codes, labels = clusters_of_classes()
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    order = rng.permutation(len(codes))
    changed = {
        "as they are": (codes, labels),
        "permuted columns": (codes[:, ::-1], labels),
        "permuted samples": (codes[order], labels[order]),
        "rescaled and moved": (1e4 * codes - 3e5, labels),
        "tiny": (1e-12 * codes, labels),
        "rotated": (codes @ rotation, labels),
        "columns twice": (np.hstack([codes, codes]), labels),
        "constant column": (np.hstack([codes, np.full((len(codes), 1), 0.1)]), labels),
    }
    for what, (c, y) in changed.items():
        result = clustering_accuracy(c, y)
        assert result.accuracy > 0.98, what
        assert result.silhouette > 0.6, what
        assert 0.25 < result.random < 0.40, what
        assert result.n == 240


def test_random_codes_score_as_shuffled_labels():
    codes = np.random.default_rng(0).normal(size=(400, 4))
    result = clustering_accuracy(codes, np.arange(400) % 4)
    assert abs(result.accuracy - result.random) < 0.06
    assert -0.15 < result.silhouette < 0.05


def test_more_samples_bring_the_random_score_down_towards_chance():
    rng = np.random.default_rng(0)
    few, many = (plane_clustering(rng.normal(size=(n, 2)), np.arange(n) % 10).random for n in (200, 5000))
    assert 0.10 < many < 0.135 < few < 0.25


def test_constant_codes_get_the_share_of_the_largest_class():
    labels = np.array([0] * 30 + [1] * 20 + [2] * 10)
    result = clustering_accuracy(np.full((60, 3), 0.1), labels)
    assert result.accuracy == pytest.approx(0.5)
    assert result.random == pytest.approx(0.5)
    assert result.silhouette == 0.0


def test_duplicated_samples_stay_together():
    rng = np.random.default_rng(0)
    result = clustering_accuracy(np.repeat(rng.normal(size=(3, 2)), 40, axis=0), np.repeat([0, 1, 2], 40))
    assert result.accuracy == 1.0
    assert result.silhouette > 0.9


def test_many_equal_samples_beside_others_stay_finite():
    codes = np.zeros((200, 3))
    codes[150:] = np.random.default_rng(0).normal(size=(50, 3))
    assert np.isfinite(tsne(codes)).all()


def test_the_plane_keeps_neighbours_and_follows_the_seed():
    codes, labels = clusters_of_classes(150)
    plane = tsne(codes, seed=3)
    assert np.array_equal(plane, tsne(codes, seed=3))
    assert not np.array_equal(plane, tsne(codes, seed=4))
    distances = np.linalg.norm(plane[:, None] - plane[None], axis=2) + np.where(np.eye(150), np.inf, 0)
    assert (labels[distances.argmin(axis=1)] == labels).mean() > 0.98


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 12])
@pytest.mark.parametrize("width", [1, 3])
def test_few_samples_have_a_plane_too(n, width):
    codes = np.arange(n * width, dtype=float).reshape(n, width) ** 2
    plane = tsne(codes)
    assert plane.shape == (n, 2)
    assert np.isfinite(plane).all()
    assert len(np.unique(plane.round(12), axis=0)) == n


@pytest.mark.parametrize(
    "codes, labels, says",
    [
        (np.ones((4, 2)), [0, 0, 0, 0], "at least 2 classes"),
        (np.ones((4, 2)), [0, 1, 2, 3], "more samples than classes"),
        (np.ones((4, 2)), [0, 1, 0], "labels must have shape .4,., a class for each sample"),
        (np.ones((4, 2)), [0, 1, 0, -1], "means unknown"),
        (np.ones(4), [0, 1, 0, 1], r"shape \(n, d\)"),
        (np.full((4, 2), np.nan), [0, 1, 0, 1], "finite"),
    ],
)
def test_what_cannot_be_clustered_is_refused(codes, labels, says):
    with pytest.raises(ValueError, match=says):
        clustering_accuracy(codes, labels)


def test_continuous_labels_are_no_classes():
    with pytest.raises(TypeError, match="integers or strings"):
        clustering_accuracy(np.ones((4, 2)), [0.5, 1.0, 0.5, 1.0])
