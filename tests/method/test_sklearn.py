"""Methods are scikit-learn's guests: clone, pipelines, searches and its own suite of checks."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted
from small import NAMES, small, vectors

from untwine.methods import METHODS

# The one list of checks that fail on purpose. Those that concern groups are only looked for in methods that need them.
EXPECTED_FAILURES = {
    "check_complex_data": "Complex numbers are of a wrong type, so a TypeError here; the check wants a ValueError.",
    "check_dtype_object": "Arrays of Python objects are refused with a sentence instead of being converted without a word.",
}
EXPECTED_FAILURES_OF_GROUPS = {
    "check_estimators_dtypes": "The check's y is 1 and 2, all of it target: without a 0 there is no background.",
    "check_fit2d_1feature": "The check's y holds no 0, so there is no background; a single column is no trouble.",
    "check_requires_y_none": "Our sentence names both ways to give groups, Samples.contrast and y; the check wants y alone.",
}
EXPECTED_FAILURES_OF_LABELS = {
    "check_requires_y_none": "Our sentence names both ways to give classes, in Samples and as y; the check wants y alone.",
}


def expected_failures(method):
    of_needs = {"groups": EXPECTED_FAILURES_OF_GROUPS, "labels": EXPECTED_FAILURES_OF_LABELS, "nothing": {}}
    return EXPECTED_FAILURES | of_needs[method.needs]


@pytest.fixture(params=NAMES)
def method(request):
    # The checks' data may have a single column, and that is the most components there are.
    return small(request.param, epochs=1, **({"n_latent": 1} if request.param == "pca" else {}))


@pytest.mark.filterwarnings("ignore")
def test_check_estimator_fails_where_the_list_says_and_nowhere_else(method):
    expected = expected_failures(method)
    results = check_estimator(method, expected_failed_checks=expected, on_fail=None, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {name for name, one in status.items() if one == "failed"} == set()
    # A check that has begun to pass must leave the list.
    assert {name for name, one in status.items() if one == "xfail"} == set(expected)
    assert sum(one == "passed" for one in status.values()) > 30


def test_one_column_is_fitted_where_y_holds_a_background(method):
    x, groups = np.random.default_rng(0).normal(size=(10, 1)), [0, 1] * 5
    assert method.fit(x, groups).transform(x).shape == (10, sum(method.blocks.values()))


def test_clone_takes_the_configuration_and_not_the_fit(method):
    data = vectors()
    method.set_params(seed=3, precision="float64").fit(data)
    copied = clone(method)
    assert copied.get_params() == method.get_params()
    assert [name for name in vars(copied) if name.endswith("_")] == []
    assert np.array_equal(copied.fit(data).transform(data.x), method.transform(data.x))


def test_set_params_changes_fields_and_refuses_others(method):
    assert method.set_params(seed=7) is method
    assert method.get_params()["seed"] == 7
    with pytest.raises(ValueError, match=r"has no parameter 'epoch'; (did you mean|choose one of)"):
        method.set_params(epoch=7)


def test_fit_changes_no_field_and_counts_the_columns(method):
    data, before = vectors(), method.get_params()
    method.fit(data.x, data.groups)
    assert method.get_params() == before
    assert method.n_features_in_ == data.x.shape[1]
    check_is_fitted(method)
    assert not is_classifier(method)


def test_pipeline_gives_the_codes_of_scaled_samples(method):
    data = vectors()
    scaler = StandardScaler().fit(data.x)
    alone = clone(method).fit(scaler.transform(data.x), data.groups).transform(scaler.transform(data.x))
    pipeline = make_pipeline(FunctionTransformer(np.copy), StandardScaler(), method).fit(data.x, data.groups)
    np.testing.assert_allclose(pipeline.transform(data.x), alone, atol=1e-6)
    # A name that a step asks for takes the path through all steps.
    pipeline.set_params(**{f"{pipeline.steps[-1][0]}__seed": 5})
    assert method.seed == 5
    names = method.get_feature_names_out()
    assert len(names) == alone.shape[1]
    assert names[0] in ("common0", "class0", "z0")


def test_codes_feed_a_classifier_and_stand_beside_other_features():
    data = vectors(target=80, background=80)
    both = FeatureUnion([("codes", small("pca")), ("raw", FunctionTransformer())])
    found = cross_val_score(make_pipeline(both, LogisticRegression()), data.x, data.groups, cv=StratifiedKFold(3, shuffle=True))
    assert found.shape == (3,)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("name", NAMES)
def test_grid_search_over_the_width_by_the_default_score(name):
    data = vectors()
    field = {"groups": "n_salient", "labels": "n_content", "nothing": "n_latent"}[METHODS[name].needs]
    field = "n_critic" if name == "stargan" else field  # its blocks are as wide as the data makes them
    # Rows come sorted by group, so the folds must be stratified for the contrastive methods.
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(small(name), {field: [1, 4]}, cv=folds, error_score="raise").fit(data.x, data.groups)
    assert search.best_params_[field] in (1, 4)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert (search.cv_results_["mean_test_score"] < 0).all()
    if name == "pca":  # more components always reconstruct better
        assert search.best_params_ == {"n_latent": 4}


def test_default_score_is_minus_the_mean_squared_error():
    data = vectors()
    method = small("pca", n_latent=6).fit(data)
    assert method.score(data.x) == pytest.approx(0, abs=1e-9)
    method = small("vae").fit(data)
    assert method.score(data.x) == pytest.approx(-np.square(method.reconstruct(data.x) - data.x).mean(), rel=1e-6)
