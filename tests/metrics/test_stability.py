"""Agreement of codes between fits of several seeds."""

import numpy as np
import pytest
from known_codes import rotation
from sklearn.neighbors import NearestNeighbors

from untwine.metrics import stability_score

CODES = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 0.8, 0.5]


@pytest.mark.parametrize(
    "changed",
    [
        CODES,
        CODES[:, ::-1],
        -1e3 * CODES + 5,
        CODES @ rotation(3),
        np.hstack([CODES, CODES]),
        np.hstack([CODES, CODES[:, :1] * 0 + 3]),
    ],
    ids=["same", "permuted", "rescaled", "rotated", "duplicated", "with a constant column"],
)
def test_the_same_codes_agree_whatever_their_axes(changed):
    result = stability_score([CODES, changed])
    assert result.subspace == pytest.approx(1)
    assert result.neighbours == pytest.approx(1, abs=0.01)
    assert result.pairs == (result.value,)


def test_unrelated_and_constant_codes_do_not():
    rng = np.random.default_rng(1)
    for other in (rng.normal(size=(300, 3)), rng.normal(size=(300, 100)), rng.permutation(CODES)):
        assert stability_score([CODES, other]).value < 0.05
    constant = np.full((300, 2), 0.1)
    assert stability_score([CODES, constant]).value == 0
    assert stability_score([constant, constant]).value == 0


def test_half_a_subspace_is_between_and_pairs_are_all_pairs():
    half = np.column_stack([CODES[:, 0], np.random.default_rng(2).normal(size=300)])
    result = stability_score([CODES, half, CODES])
    assert len(result.pairs) == 3
    assert result.pairs[1] == pytest.approx(1)
    assert 0.1 < result.pairs[0] < 0.8
    assert result.pairs[0] == pytest.approx(result.pairs[2])
    assert result.value == pytest.approx(np.mean(result.pairs))


def test_it_equals_the_definitions():
    """The unbiased HSIC summed over distinct indices, and neighbours of scikit-learn."""
    a, b = CODES[:30], CODES[:30] @ rotation(3)[:, :2] + 0.3 * np.random.default_rng(3).normal(size=(30, 2))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)

    def hsic(x, y):
        k, l, n = x @ x.T, y @ y.T, len(x)  # noqa: E741
        np.fill_diagonal(k, 0)
        np.fill_diagonal(l, 0)
        ones = np.ones(n)
        return (
            np.trace(k @ l) + ones @ k @ ones * (ones @ l @ ones) / ((n - 1) * (n - 2)) - 2 / (n - 2) * ones @ k @ l @ ones
        ) / (n * (n - 3))

    near = [set(map(tuple, np.argwhere(NearestNeighbors(n_neighbors=5).fit(x).kneighbors_graph().toarray()))) for x in (a, b)]
    share, chance = len(near[0] & near[1]) / (30 * 5), 5 / 29
    result = stability_score([a, b], neighbours=5)
    assert result.subspace == pytest.approx(hsic(a, b) / np.sqrt(hsic(a, a) * hsic(b, b)))
    assert result.neighbours == pytest.approx((share - chance) / (1 - chance))


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ValueError, match="from at least 2 fits"):
        stability_score([CODES])
    with pytest.raises(ValueError, match="of the same samples"):
        stability_score([CODES, CODES[:10]])
    with pytest.raises(ValueError, match="neighbours must be an integer"):
        stability_score([CODES[:5], CODES[:5]])
