"""Codes that no metric can square are refused before one does."""

import numpy as np
import pytest

from untwine.metrics.checks import LARGEST, check_codes


def test_codes_are_numbers_whose_squares_are_finite():
    assert check_codes([[1, -2]]).dtype == np.float64
    assert check_codes([[0.99 * LARGEST]])[0, 0] == 0.99 * LARGEST
    for codes in ([[1e200, 1.0]], [[0.0], [-LARGEST]]):
        with pytest.raises(ValueError, match=r"smaller than 1e\+70 in absolute value; got 1e\+(200|70); rescale them"):
            check_codes(codes)
    with pytest.raises(ValueError, match="NaN or infinity"):
        check_codes([[np.inf]])
