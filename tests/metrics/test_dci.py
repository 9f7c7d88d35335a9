import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from known_codes import continuous, discrete, harmless, rotation

from untwine.metrics import dci_scores
from untwine.metrics.boosting import boost

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "metrics_discrete.npz", allow_pickle=False)


@pytest.fixture
def fewer_trees(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 15)


def test_it_is_close_to_the_reference_s_trees():
    n = int(GOLDEN["n_train"])
    result = dci_scores(GOLDEN["codes"], GOLDEN["factors"], split=(np.arange(n), np.arange(n, 3000)))
    assert result.importances == pytest.approx(GOLDEN["dci_importance"], abs=0.02)
    assert result.disentanglement == pytest.approx(float(GOLDEN["dci_disentanglement"]), abs=0.02)
    assert result.completeness == pytest.approx(float(GOLDEN["dci_completeness"]), abs=0.02)
    assert result.informativeness == pytest.approx(float(GOLDEN["dci_informativeness_test"]), abs=0.02)
    assert result.informativeness_train == pytest.approx(float(GOLDEN["dci_informativeness_train"]), abs=0.02)


@pytest.mark.parametrize("seed", ["", "_seed1"])
def test_scores_of_the_reference_s_importances_are_the_reference_s(monkeypatch, seed):
    importances = GOLDEN[f"dci_importance{seed}"]
    given = iter(importances.T)

    def known(fit, test, y, classes, seed=0):
        return SimpleNamespace(importances=next(given), train=np.zeros(len(fit)), test=np.zeros(len(test)))

    monkeypatch.setattr(sys.modules["untwine.metrics.dci"], "boost", known)
    result = dci_scores(GOLDEN["codes"], GOLDEN["factors"])
    assert np.array_equal(result.importances, importances)
    assert result.disentanglement == pytest.approx(float(GOLDEN[f"dci_disentanglement{seed}"]), abs=1e-8)
    assert result.completeness == pytest.approx(float(GOLDEN[f"dci_completeness{seed}"]), abs=1e-8)
    if not seed:  # the reference kept these of its first run alone
        assert result.per_latent == pytest.approx(GOLDEN["dci_disentanglement_per_code"], abs=1e-8)
        assert result.per_factor == pytest.approx(GOLDEN["dci_completeness_per_factor"], abs=1e-8)


@pytest.mark.parametrize("classes", [0, 2, 4])
def test_boosting_equals_scikit_learn_where_each_value_has_its_bin(classes, monkeypatch):
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    monkeypatch.setattr("untwine.metrics.boosting.TREES", 12)
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(400, 3)), 1)
    score = x[:, 0] + np.abs(x[:, 1]) + 0.3 * rng.normal(size=400)
    y = score if not classes else np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(n_estimators=12, random_state=0).fit(x[:300], y[:300])
    result = boost(x[:300], x[300:], y[:300], classes)
    assert result.importances == pytest.approx(model.feature_importances_, abs=0.01)
    if classes:
        assert (result.train == model.predict(x[:300])).mean() > 0.98
        assert (result.test == model.predict(x[300:])).mean() > 0.95
    else:
        assert result.train == pytest.approx(model.predict(x[:300]), abs=0.01)


def shares_of_one(row):
    """Return 1 minus the entropy of the shares in a row, over that of equal ones."""
    p = [entry / sum(row) for entry in row]
    return 1 + sum(q * np.log(q) for q in p if q > 0) / np.log(len(p))


def test_it_equals_scikit_learn_s_trees_where_no_two_splits_gain_alike():
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    rng = np.random.default_rng(0)
    # In a subset of a grid two columns never split the samples alike, and in cells of unequal size two counts hardly do.
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(4), np.arange(3), indexing="ij"), axis=-1).reshape(-1, 3)
    codes = np.repeat(grid, rng.integers(10, 20, 60), axis=0).astype(float)
    scores = codes @ [[1.0, 0.2, -0.5], [0.7, 2.0, 0.0], [0.4, 0.0, 3.0]] + (codes[:, :1] - 2) ** 2
    scores += 3 * rng.normal(size=scores.shape)
    four = np.digitize(scores[:, 0], np.quantile(scores[:, 0], [0.25, 0.5, 0.75]))
    factors = np.column_stack([four, scores[:, 1] > 4, scores[:, 2]])
    train, test = np.flatnonzero(np.arange(len(codes)) % 4), np.arange(0, len(codes), 4)
    columns, accuracies = [], []
    for j, kind in enumerate((GradientBoostingClassifier, GradientBoostingClassifier, GradientBoostingRegressor)):
        y = factors[:, j]
        model, again = (kind(random_state=seed).fit(codes[train], y[train]) for seed in (0, 1))
        assert again.feature_importances_ == pytest.approx(model.feature_importances_, abs=1e-12), "splits that gain alike"
        columns.append(model.feature_importances_)
        accuracies.append([model.score(codes[indices], y[indices]) for indices in (test, train)])
    R = np.stack(columns, axis=1)
    result = dci_scores(codes, factors, continuous=[False, False, True], split=(train, test))
    assert result.importances == pytest.approx(R, abs=1e-8)
    assert result.per_latent == pytest.approx([shares_of_one(row) for row in R], abs=1e-8)
    assert result.per_factor == pytest.approx([shares_of_one(column) for column in R.T], abs=1e-8)
    assert result.disentanglement == pytest.approx(sum(shares_of_one(row) * sum(row) for row in R) / R.sum(), abs=1e-8)
    assert result.completeness == pytest.approx(
        np.mean([shares_of_one(column) for column in R.T]), abs=1e-8
    )  # columns sum to 1
    informed = [result.informativeness, result.informativeness_train]
    assert informed == pytest.approx(np.mean(accuracies, axis=0), abs=1e-8)


@pytest.mark.usefixtures("fewer_trees")
def test_perfect_codes_get_one():
    codes, factors = discrete(600)
    for changed in harmless(codes):
        result = dci_scores(changed, factors)
        assert result.disentanglement > 0.99
        assert result.completeness > 0.99
        assert result.informativeness == 1.0
        assert np.isfinite([*result.per_latent, *result.per_factor]).all()


@pytest.mark.usefixtures("fewer_trees")
def test_continuous_factors_are_regressed(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 60)
    codes, factors = continuous(900)
    result = dci_scores(codes, factors)
    assert result.disentanglement > 0.97
    assert result.completeness > 0.97
    assert result.informativeness > 0.97


@pytest.mark.usefixtures("fewer_trees")
def test_duplicated_codes_lose_completeness_and_rotated_ones_both():
    codes, factors = discrete(600)
    twice = dci_scores(np.hstack([codes, codes]), factors)
    assert twice.disentanglement > 0.99
    assert twice.completeness == pytest.approx(1 - np.log(2) / np.log(6), abs=0.1)  # copies share at random
    turned = dci_scores(codes @ rotation(3), factors)
    assert turned.disentanglement < 0.5
    assert turned.completeness < 0.5


@pytest.mark.usefixtures("fewer_trees")
def test_constant_and_random_codes_are_not_informative():
    _, factors = discrete(600)
    constant = dci_scores(np.full((600, 3), 0.1), factors)
    assert (constant.disentanglement, constant.completeness) == (0.0, 0.0)
    assert constant.informativeness < 0.3
    random = dci_scores(np.random.default_rng(0).normal(size=(600, 4)), factors)
    assert random.disentanglement < 0.1
    assert random.informativeness < 0.35


@pytest.mark.usefixtures("fewer_trees")
def test_the_same_seed_gives_the_same_and_a_constant_factor_is_left_out():
    codes, factors = discrete(300)
    more = np.column_stack([factors, np.ones(300, dtype=int)])
    assert dci_scores(codes, more).disentanglement == dci_scores(codes, factors).disentanglement
    assert dci_scores(codes, more).per_factor[3] == 0.0
    assert dci_scores(codes[:, :1], factors).completeness == pytest.approx(1.0)
    with pytest.raises(ValueError, match="at least 2 factors"):
        dci_scores(codes, factors[:, 0])


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_samples_to_hold_out_a_third_are_refused(n):
    codes, factors = discrete(300)
    with pytest.raises(
        ValueError, match=f"dci_scores needs at least 3 samples, of which a third is held out; got {n}; pass more"
    ):
        dci_scores(codes[:n], factors[:n])
