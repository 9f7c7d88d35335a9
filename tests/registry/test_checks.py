"""Checks of options: what fits comes back, what does not is refused in one sentence."""

import re

import numpy as np
import pytest

from untwine.registry.checks import check_choice, check_float, check_int, suggestion


def test_what_fits_comes_back():
    assert check_int("n", np.int64(3), 1) == 3
    assert type(check_int("n", np.int64(3), 1)) is int
    assert check_float("x", 2, 0.0) == 2.0
    assert type(check_float("x", np.float32(0.5), 0.0, 1.0)) is float
    assert check_choice("kind", "b", ("a", "b")) == "b"


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (lambda: check_int("n", 0, 1), "n must be an integer of at least 1; got 0."),
        (lambda: check_int("n", 9, 1, 8), "n must be an integer from 1 to 8; got 9."),
        (lambda: check_int("n", True, 0), "n must be an integer of at least 0; got True."),
        (lambda: check_int("n", 2.0, 0), "n must be an integer of at least 0; got 2.0."),
        (lambda: check_float("x", float("nan"), 0.0), "x must be a number of at least 0; got nan."),
        (lambda: check_float("x", 1.5, 0.0, 1.0), "x must be a number from 0 to 1; got 1.5."),
        (lambda: check_float("x", "1", 0.0), "x must be a number of at least 0; got '1'."),
        (lambda: check_choice("kind", "bb", ("aa", "bbb")), "kind must be 'aa' or 'bbb'; got 'bb'; did you mean 'bbb'?"),
        (lambda: check_choice("kind", None, ("a", "b")), "kind must be 'a' or 'b'; got None."),
    ],
)
def test_what_does_not_fit_raises_an_error(check, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check()


def test_a_suggestion_names_the_nearest_or_all():
    assert suggestion("vea", ("vae", "pca")) == "did you mean 'vae'?"
    assert suggestion("xyz", ("vae", "pca")) == "choose one of vae, pca."
