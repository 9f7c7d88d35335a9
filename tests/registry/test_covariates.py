import numpy as np
import pytest

from untwine import Samples
from untwine.registry.covariates import Covariates

X = np.arange(12.0).reshape(6, 2)
BATCH, AGE = np.array(["b", "a", "b", "c", "a", "b"]), np.array([3, 1, 4, 1, 5, 9])


def test_strings_and_booleans_are_categories_and_numbers_are_continuous():
    found = Covariates.of({"batch": BATCH, "age": AGE, "scanned": AGE > 2}, 6)
    assert found.names == ("batch", "age", "scanned")
    assert found.levels == (("a", "b", "c"), (), ("False", "True"))
    np.testing.assert_array_equal(found.values[:, 0], [1, 0, 1, 2, 0, 1])
    np.testing.assert_array_equal(found.values[:, 1], AGE)
    assert Covariates.of(found, 6) is found


def test_chosen_samples_keep_their_covariates_and_all_levels():
    chosen = Samples(X, covariates={"batch": BATCH, "age": AGE})[[3, 1]]
    assert chosen.covariates.levels == (("a", "b", "c"), ())
    np.testing.assert_array_equal(chosen.covariates.values, [[2, 1], [0, 1]])
    assert "covariates batch, age" in repr(chosen)


def test_target_and_background_number_their_levels_together():
    target = Samples(X[:2], covariates={"batch": ["z", "b"]})
    background = Samples(X[2:], covariates={"batch": ["b", "a", "a", "b"]})
    joined = Samples.contrast(target=target, background=background).covariates
    assert joined.levels == (("a", "b", "z"),)
    np.testing.assert_array_equal(joined.values[:, 0], [1, 0, 0, 1, 2, 1])  # the background comes first


def test_the_fingerprint_depends_on_covariates_and_not_on_their_absence():
    plain, first = Samples(X), Samples(X, covariates={"batch": BATCH})
    assert first.fingerprint() == Samples(X, covariates={"batch": BATCH.copy()}).fingerprint()
    assert len({one.fingerprint() for one in (plain, first, Samples(X, covariates={"batch": BATCH[::-1]}))}) == 3


def test_levels_of_another_set_are_found_by_name_and_unknown_ones_refused():
    found = Covariates.of({"batch": ["b", "c"]}, 2).with_levels([("a", "b", "c")])
    np.testing.assert_array_equal(found.values[:, 0], [1, 2])
    with pytest.raises(ValueError, match="'batch' must have levels among 'a', 'b'; got 'c'; leave these samples out"):
        found.with_levels([("a", "b")])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"batch": BATCH[:3]}, "'batch' must have one value for each of the 6 samples"),
        ({"age": [1, 2, 3, np.nan, 5, np.inf]}, "2 of 6 values are NaN or infinite"),
        ({"age": np.array([1j] * 6)}, "'age' must be strings or numbers; got complex numbers"),
        ({}, "mapping from name to column"),
        (BATCH, "mapping from name to column"),
        (Covariates.of({"age": AGE[:2]}, 2), "one row for each of the 6 samples of x; got 2"),
    ],
)
def test_other_columns_are_refused(given, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        Samples(X, covariates=given)


def test_sets_with_other_covariates_are_refused():
    target = Samples(X, covariates={"batch": BATCH})
    with pytest.raises(ValueError, match="'background' has none"):
        Samples.contrast(target=target, background=X)
    with pytest.raises(ValueError, match="give all of them the same columns"):
        Samples.contrast(target=target, background=Samples(X, covariates={"batch": AGE}))
