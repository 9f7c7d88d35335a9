import numpy as np
import pytest

from untwine.metrics import group_silhouette

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(300, 4))


def test_it_is_scikit_learn_s_silhouette():
    from sklearn.metrics import silhouette_score

    target, background = CLOUD + np.array([1.0, 0, 0, 0]), 0.5 * RNG.normal(size=(300, 4))
    result = group_silhouette(target, background)
    expected = silhouette_score(np.concatenate([target, background]), np.repeat([1, 0], 300))
    assert result.silhouette == pytest.approx(expected, abs=1e-12)
    assert result.n == 300
    assert len(result.halves) == 5
    assert np.std(result.halves) < 0.05


def test_two_distant_points_equal_points_and_a_point_within_a_distribution():
    apart = group_silhouette(np.full((20, 2), 3.0), np.full((20, 2), -3.0))
    assert apart.silhouette == 1.0
    assert group_silhouette(np.full((20, 2), 0.1), np.full((20, 2), 0.1)).silhouette == 0.0
    assert abs(group_silhouette(CLOUD[:150], CLOUD[150:]).silhouette) < 0.02
    wide = RNG.normal(size=(400, 64))
    assert group_silhouette(wide, np.zeros((400, 64))).silhouette == pytest.approx(0.35, abs=0.02)
    assert group_silhouette(1e6 * wide, np.zeros((400, 64))).silhouette == pytest.approx(0.35, abs=0.02)


def test_as_many_samples_of_each_group_count():
    far = group_silhouette(CLOUD[:20] + 50, CLOUD)
    assert far.n == 20
    assert far.silhouette > 0.9
    assert group_silhouette(CLOUD[:20] + 50, CLOUD, n=5).n == 5
    assert group_silhouette(CLOUD[:2], CLOUD[2:4]).halves == ()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="4 for the target and 3 for the background"):
        group_silhouette(CLOUD, CLOUD[:, :3])
    with pytest.raises(ValueError, match="from 2 to 1"):
        group_silhouette(CLOUD[:1], CLOUD)
    with pytest.raises(ValueError, match="from 2 to 300"):
        group_silhouette(CLOUD, CLOUD, n=301)
