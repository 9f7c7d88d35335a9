import numpy as np
import pytest

from untwine.metrics import groups

RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(300, 4))


def test_it_is_scikit_learn_s_silhouette():
    from sklearn.metrics import silhouette_score

    target, background = CLOUD + np.array([1.0, 0, 0, 0]), 0.5 * RNG.normal(size=(300, 4))
    found = groups(target, background)
    expected = silhouette_score(np.concatenate([target, background]), np.repeat([1, 0], 300))
    assert found.silhouette == pytest.approx(expected, abs=1e-12)
    assert found.n == 300
    assert len(found.halves) == 5
    assert np.std(found.halves) < 0.05


def test_two_far_points_one_place_and_a_point_in_a_cloud():
    apart = groups(np.full((20, 2), 3.0), np.full((20, 2), -3.0))
    assert apart.silhouette == 1.0
    assert groups(np.full((20, 2), 0.1), np.full((20, 2), 0.1)).silhouette == 0.0
    assert abs(groups(CLOUD[:150], CLOUD[150:]).silhouette) < 0.02
    wide = RNG.normal(size=(400, 64))
    assert groups(wide, np.zeros((400, 64))).silhouette == pytest.approx(0.35, abs=0.02)
    assert groups(1e6 * wide, np.zeros((400, 64))).silhouette == pytest.approx(0.35, abs=0.02)


def test_as_many_rows_of_each_group_count():
    far = groups(CLOUD[:20] + 50, CLOUD)
    assert far.n == 20
    assert far.silhouette > 0.9
    assert groups(CLOUD[:20] + 50, CLOUD, n=5).n == 5
    assert groups(CLOUD[:2], CLOUD[2:4]).halves == ()


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="4 for the target and 3 for the background"):
        groups(CLOUD, CLOUD[:, :3])
    with pytest.raises(ValueError, match="from 2 to 1"):
        groups(CLOUD[:1], CLOUD)
    with pytest.raises(ValueError, match="from 2 to 300"):
        groups(CLOUD, CLOUD, n=301)
