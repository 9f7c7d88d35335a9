"""Codes that no metric can square are refused before one does."""

import numpy as np
import pytest

from untwine.metrics.checks import LARGEST, code_rows


def test_codes_are_numbers_of_a_size_that_can_be_squared():
    assert code_rows([[1, -2]]).dtype == np.float64
    assert code_rows([[0.99 * LARGEST]])[0, 0] == 0.99 * LARGEST
    for codes in ([[1e200, 1.0]], [[0.0], [-LARGEST]]):
        with pytest.raises(ValueError, match=r"below 1e\+70 in size; got 1e\+(200|70); rescale them"):
            code_rows(codes)
    with pytest.raises(ValueError, match="NaN or infinity"):
        code_rows([[np.inf]])
