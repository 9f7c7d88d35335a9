"""Raw counts are taken as real numbers with a warning."""

import warnings

import numpy as np
import pytest
from small import small

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(0.2, 20, size=(40, 6)))


def test_raw_counts_are_warned_of_once():
    assert COUNTS.max() >= 50
    assert (COUNTS == 0).mean() >= 0.3
    with pytest.warns(UserWarning, match="raw counts") as caught:
        small("pca").fit(COUNTS)
    (message,) = [str(one.message) for one in caught]
    assert message.startswith(f"x looks like raw counts: non-negative integers up to {COUNTS.max()}, ")
    assert "np.log1p" in message
    assert len(message) < 300


@pytest.mark.parametrize(
    "x",
    [
        np.log1p(COUNTS),
        np.minimum(COUNTS, 49),  # no large value
        COUNTS + 1,  # no zeros
        COUNTS - 1,  # negative
        COUNTS + 0.5 * (COUNTS.max() == COUNTS),  # not integers
    ],
)
def test_other_numbers_are_not(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert small("pca").fit(x).shape_ == x.shape[1:]
