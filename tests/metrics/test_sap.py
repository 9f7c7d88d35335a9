import itertools
from pathlib import Path

import numpy as np
import pytest
from known_codes import continuous, discrete, harmless, rotation

from untwine.metrics import sap_score

FOLDER = Path(__file__).parents[1] / "golden"
DISCRETE = np.load(FOLDER / "metrics_discrete.npz", allow_pickle=False)
CONTINUOUS = np.load(FOLDER / "metrics_continuous.npz", allow_pickle=False)
TRAIN, TEST = np.arange(2000), np.arange(2000, 3000)


def test_lines_equal_the_reference():
    for golden in (DISCRETE, CONTINUOUS):
        result = sap_score(golden["codes"][TRAIN], golden["factors"][TRAIN], continuous=True)
        assert result.sap == pytest.approx(float(golden["sap_continuous"]), abs=1e-8)
        assert result.matrix == pytest.approx(golden["sap_continuous_matrix"], abs=1e-8)


def test_the_svm_equals_the_reference():
    result = sap_score(DISCRETE["codes"], DISCRETE["factors"], classifier="svm", split=(TRAIN, TEST))
    assert result.sap == pytest.approx(float(DISCRETE["sap_discrete"]), abs=1e-8)
    assert result.matrix == pytest.approx(DISCRETE["sap_discrete_matrix"], abs=1e-8)


def best_cuts(z, y):
    """Return the best balanced accuracy of one threshold fewer than there are classes: every set of them is tried."""
    values = np.unique(z)
    counts = np.array([[np.sum((z == value) & (y == c)) / np.sum(y == c) for c in np.unique(y)] for value in values])
    many, best = counts.shape[1], 0.0
    for cuts in itertools.combinations(range(1, len(values)), min(many, len(values)) - 1):
        ends = [0, *cuts, len(values)]
        best = max(best, sum(counts[a:b].sum(axis=0).max() for a, b in itertools.pairwise(ends)) / many)
    return best


def in_chains(codes, bound):
    """Return the groups of latents that correlate by more than the bound, or are joined by others that do."""
    near = np.abs(np.corrcoef(codes.T)) > bound
    groups = list(range(len(near)))
    for i, j in itertools.product(range(len(near)), repeat=2):
        if near[i, j]:
            groups = [groups[i] if group == groups[j] else group for group in groups]
    return [list(dict.fromkeys(groups)).index(group) for group in groups]


def codes_for_thresholds(seed):
    """Return codes (60, 5), of which 0 and 2 correlate by 0.9 and 2 and 4 too, but 0 and 4 less, and classes (60, 3)."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.permutation(np.arange(60) % many) for many in (2, 3, 4)], axis=1)
    codes = factors[:, [0, 1, 0, 2, 0]] + rng.normal(size=(60, 5))
    chain = rng.normal(size=(60, 2)) * 0.6
    codes[:, 2] = codes[:, 0] + chain[:, 0]
    codes[:, 4] = codes[:, 2] + chain[:, 1]
    return np.round(codes * 2) / 2, factors  # few values, so that every cut can be tried; samples share values


@pytest.mark.parametrize("seed", range(3))
def test_thresholds_equal_those_of_an_exhaustive_search(seed):
    from sklearn.metrics import roc_curve

    codes, factors = codes_for_thresholds(seed)
    expected = np.array([[best_cuts(z, y) for y in factors.T] for z in codes.T])
    result = sap_score(codes, factors)
    assert result.matrix == pytest.approx(expected, abs=1e-12)
    below, above = zip(*(roc_curve(factors[:, 0], z)[:2] for z in codes.T), strict=True)
    youden = [0.5 + np.abs(b - a).max() / 2 for a, b in zip(below, above, strict=True)]
    assert result.matrix[:, 0] == pytest.approx(youden, abs=1e-12)
    first, second = np.sort(expected, axis=0)[[-1, -2]]
    assert result.per_factor == pytest.approx(first - second, abs=1e-12)
    assert result.sap == pytest.approx(np.mean(first - second), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classifier", ["thresholds", "svm"])
def test_a_group_predicts_a_class_as_its_best_latent_does(classifier, seed):
    from sklearn.svm import LinearSVC

    codes, factors = codes_for_thresholds(seed)
    train, test = np.arange(40), np.arange(40, 60)
    options, fit = ({"split": (train, test)}, train) if classifier == "svm" else ({}, np.arange(60))
    result = sap_score(codes, factors, classifier=classifier, correlated=0.75, **options)
    groups = in_chains(codes[fit], 0.75)
    assert result.members.tolist() == groups
    assert len(set(groups)) == 3
    assert np.abs(np.corrcoef(codes[fit][:, [0, 4]].T)[0, 1]) < 0.75, "the ends of the chain correlate by themselves"

    def alone(z, y):
        if classifier == "thresholds":
            return best_cuts(z, y)
        model = LinearSVC(C=0.01, class_weight="balanced", dual=False).fit(z[train, None], y[train])
        return np.mean(model.predict(z[test, None]) == y[test])

    single = np.array([[alone(z, y) for y in factors.T] for z in codes.T])
    expected = np.array([single[np.array(groups) == g].max(axis=0) for g in range(3)])
    assert result.matrix == pytest.approx(expected, abs=1e-12)
    first, second = np.sort(expected, axis=0)[[-1, -2]]
    assert result.sap == pytest.approx(np.mean(first - second), abs=1e-12)


def test_perfect_continuous_codes_get_one():
    codes, factors = continuous()
    for changed in harmless(codes):
        assert sap_score(changed, factors).sap == pytest.approx(1.0, abs=0.02)
        assert sap_score(changed, factors[:, 0]).sap == pytest.approx(1.0, abs=0.02)


def test_perfect_classes_get_what_thresholds_on_noise_leave():
    codes, factors = discrete()
    for changed in harmless(codes):
        result = sap_score(changed, factors)
        assert result.sap == pytest.approx(0.75, abs=0.04)
        assert np.sort(result.matrix, axis=0)[-1] == pytest.approx(1.0)
    alone = sap_score(np.hstack([codes[:, :1], np.zeros((1500, 2))]), factors[:, 0])
    assert alone.sap == pytest.approx(1.0)  # dead latents score 0, not the share of a class


def test_duplicated_rotated_and_constant_codes_get_zero():
    codes, factors = continuous()
    assert sap_score(np.hstack([codes, codes]), factors).sap == pytest.approx(0.0, abs=1e-12)
    assert sap_score(np.full((1500, 3), 0.1), factors).sap == 0.0
    turned = codes[:, :2] @ [[1, 1], [1, -1]]
    assert sap_score(turned, factors[:, :2]).sap < 0.05
    assert sap_score(codes @ rotation(3), factors).sap < 0.05
    noise = np.random.default_rng(1).normal(size=(1500, 4))
    assert sap_score(noise, factors).sap < 0.01
    classes = discrete()[1]
    assert sap_score(np.hstack([classes, classes]), classes).sap == pytest.approx(0.0, abs=1e-12)
    assert sap_score(noise, classes).sap < 0.03
    assert sap_score(np.zeros((1500, 2)), classes).sap == 0.0


def test_dead_latents_are_those_that_hardly_vary():
    codes, factors = continuous()
    traces = np.hstack([codes, 0.01 * codes])
    assert sap_score(traces, factors).sap == pytest.approx(1.0, abs=0.02)
    assert sap_score(traces, factors, dead=0.0).sap == pytest.approx(0.0, abs=1e-12)


def test_correlated_latents_count_as_one_where_requested():
    codes, factors = continuous()
    noise = 0.1 * np.random.default_rng(0).normal(size=(1500, 6))
    twice = np.hstack([codes, -codes]) + noise
    assert sap_score(twice, factors).sap < 0.02
    grouped = sap_score(twice, factors, correlated=0.8)
    assert grouped.matrix.shape == (3, 3)
    assert grouped.members.tolist() == [0, 1, 2, 0, 1, 2]
    single = sap_score(twice[:, :3], factors).sap
    assert single < grouped.sap <= 1.0  # two noisy copies together predict better than either
    classes = discrete()[1]
    assert sap_score(np.hstack([classes, classes]), classes, correlated=0.9).sap == pytest.approx(0.75, abs=0.04)
    assert sap_score(codes, factors, correlated=0.5).matrix.shape == (3, 3)


def test_the_joint_r2_of_a_group_is_scikit_learn_s():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    codes, factors = continuous(400, 4)
    noisy = np.hstack([codes[:, :2] + 0.2 * rng.normal(size=(400, 2)), 3 - 5 * codes[:, :2] + rng.normal(size=(400, 2))])
    factors = factors @ (np.eye(4) + 0.2)
    result = sap_score(noisy, factors, correlated=0.7)
    assert result.members.tolist() == [0, 1, 0, 1]
    for group in range(2):
        own = noisy[:, result.members == group]
        for j, factor in enumerate(factors.T):
            expected = LinearRegression().fit(own, factor).score(own, factor)
            assert result.matrix[group, j] == pytest.approx(expected, abs=1e-10)
            assert (
                result.matrix[group, j] > sap_score(own, factor).matrix.max() - 1e-12
            )  # a line on one latent never does better
    joint = np.sort(result.matrix, axis=0)
    assert result.per_factor == pytest.approx(joint[-1] - joint[-2], abs=1e-12)
    assert result.sap == pytest.approx(np.mean(joint[-1] - joint[-2]), abs=1e-12)


def test_a_group_s_lines_are_fitted_on_the_train_samples_of_the_svm():
    from sklearn.linear_model import LinearRegression

    rng = np.random.default_rng(0)
    codes, factors = continuous(200, 2)
    noisy = np.hstack([codes, codes]) + 0.1 * rng.normal(size=(200, 4))
    mixed = np.column_stack([factors[:, 0], rng.integers(0, 3, 200)])
    train = np.arange(120)
    result = sap_score(
        noisy, mixed, continuous=[True, False], classifier="svm", correlated=0.8, split=(train, np.arange(120, 200))
    )
    own = noisy[:, result.members == result.members[0]]
    expected = LinearRegression().fit(own[train], mixed[train, 0]).score(own[train], mixed[train, 0])
    assert result.matrix[result.members[0], 0] == pytest.approx(expected, abs=1e-10)


def test_kinds_of_factors_may_be_named_one_by_one():
    codes, factors = discrete(sizes=(3, 10))
    result = sap_score(codes, factors.astype(float), continuous=[False, True])
    assert result.matrix[1, 1] == pytest.approx(1.0)
    assert result.matrix[0, 1] < 0.01  # a line
    assert 1 / 3 <= result.matrix[1, 0] < 0.5  # thresholds
    assert np.array_equal(sap_score(codes, factors).matrix, sap_score(codes, factors * 5 - 3).matrix)


def test_a_factor_that_never_varies_is_left_out():
    codes, factors = continuous()
    result = sap_score(codes, np.column_stack([factors, np.full(1500, 0.1)]))
    assert result.per_factor[3] == 0.0
    assert result.sap == pytest.approx(1.0, abs=0.02)
    assert np.isfinite(result.matrix).all()
    with pytest.raises(ValueError, match="at least 1 factor with two values"):
        sap_score(codes, np.ones((1500, 2)))


def test_bad_arguments_say_why():
    codes, factors = continuous(60)
    with pytest.raises(ValueError, match="'svm'"):
        sap_score(codes, factors, classifier="tree")
    with pytest.raises(ValueError, match="'svm'"):
        sap_score(codes, factors, split=(TRAIN[:30], TRAIN[30:60]))
    with pytest.raises(ValueError, match="between 0 and 1"):
        sap_score(codes, factors, correlated=1.5)
    with pytest.raises(ValueError, match="NaN"):
        sap_score(codes, factors * np.nan)
    with pytest.raises(ValueError, match=r"\(60, k\)"):
        sap_score(codes, factors[1:])
    with pytest.raises(TypeError, match="number the classes"):
        sap_score(codes, np.full((60, 1), "a"))
    half = np.repeat([0, 1], 30)
    with pytest.raises(ValueError, match="vary among the train samples"):
        sap_score(codes, half, classifier="svm", split=(TRAIN[:30], TRAIN[30:60]))
    assert 0 <= sap_score(codes, half, classifier="svm").sap <= 1
