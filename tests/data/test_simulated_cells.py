"""Simulated cells: what is planted is there, and groups differ in more than responses."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from untwine.data import load
from untwine.data.sets.simulated_cells import responding_genes


@pytest.fixture(scope="module")
def splits():
    return load("simulated_cells", n_target=1500, n_background=1500, n_test=300, n_genes=400, seed=1)


def log_share(samples):
    return np.log1p(samples.x / samples.x.sum(axis=1, keepdims=True) * 2000)


def test_x_are_counts_and_only_treated_cells_have_a_response(splits):
    train = splits.train
    assert train.x.min() == 0
    assert np.equal(train.x, np.rint(train.x)).all()
    assert train.group_names == ("background", "treated")
    assert set(train.target.labels) == {0, 1, 2, 3}
    assert set(train.background.labels) == {-1}
    assert train.covariates.levels == (("first", "second"),)
    assert train.feature_names[:2] == ("gene 0", "gene 1")


def test_a_response_changes_its_genes_and_no_others(splits):
    """Among cells of one type and batch, the genes that differ between responders and the others are those that respond."""
    target = splits.train.target
    x, responds = log_share(target), responding_genes(n_genes=400, seed=1)
    assert 0.1 < responds.mean() < 0.2
    same = (target.factors[:, 0] == 4) & (target.covariates.values[:, 0] == 1)
    none = x[same & (target.labels == 0)]
    shifts = []
    for response in (1, 2, 3):
        cells = x[same & (target.labels == response)]
        error = np.sqrt(cells.var(axis=0) / len(cells) + none.var(axis=0) / len(none)) + 1e-3
        shifts.append(np.abs(cells.mean(axis=0) - none.mean(axis=0)) / error)
    largest = np.max(shifts, axis=0)
    assert roc_auc_score(responds, largest) > 0.93
    assert np.quantile(largest[~responds], 0.95) < 4


def test_groups_differ_in_types_batches_and_depth_too(splits):
    target, background = splits.train.target, splits.train.background
    assert (target.covariates.values == 1).mean() == pytest.approx(0.7, abs=0.04)
    assert (background.covariates.values == 1).mean() == pytest.approx(0.3, abs=0.04)
    assert (target.factors[:, 0] == 0).mean() == pytest.approx(0.1, abs=0.03)
    assert (background.factors[:, 0] == 0).mean() == pytest.approx(0.3, abs=0.04)
    assert target.x.sum(axis=1).mean() < 0.8 * background.x.sum(axis=1).mean()


def test_counts_have_the_variance_of_a_negative_binomial():
    """With one cell type's genes alike and no effects, the variance is mean + mean^2 / dispersion."""
    cells = load("simulated_cells", n_target=6000, n_background=10, n_test=10, effect=0, batch=0, dispersion=2.0).train.target
    alike = cells[(cells.factors[:, 0] == 4) & (np.abs(cells.factors[:, 1] - np.log(2500) + 0.4) < 0.05)]
    mean, variance = alike.x.mean(axis=0), alike.x.var(axis=0)
    genes = mean > 3
    ratio = (variance[genes] - mean[genes]) / mean[genes] ** 2
    assert np.median(ratio) == pytest.approx(0.5, abs=0.06)


def test_both_splits_share_the_programs_and_no_cell(splits):
    train, test = (log_share(one.background).mean(axis=0) for one in splits)
    assert np.corrcoef(train, test)[0, 1] > 0.98
    assert len({row.tobytes() for row in np.concatenate([splits.train.x, splits.test.x])}) == 3600


def test_masks_are_the_genes_of_each_cells_response(splits):
    target, responds = splits.test.target, responding_genes(n_genes=400, seed=1)
    np.testing.assert_array_equal(target.masks.any(axis=0), responds)
    assert not target.masks[target.labels == 0].any()
    assert (target.masks[target.labels == 2].sum(axis=1) == 20).all()
    assert not splits.test.background.masks.any()


def test_a_gene_that_is_silent_in_a_type_is_hardly_counted_and_does_not_respond_there():
    """So in every type a response changes other genes, of those that it changes without silent ones."""
    options = {"n_target": 1500, "n_background": 1500, "n_test": 300, "n_genes": 400, "effect": 2.0, "seed": 1}
    plain, target = (load("simulated_cells", **options, silent=silent).train.target for silent in (0.0, 0.5))
    responding = []
    for kind in range(5):
        before, cells = ((one.factors[:, 0] == kind) & (one.labels == 1) for one in (plain, target))
        whole, open_ = plain.masks[before][0], target.masks[cells][0]
        assert (whole.sum(), (open_ & ~whole).sum()) == (20, 0)
        assert 4 <= open_.sum() <= 16
        lost = log_share(target[cells])[:, whole & ~open_].mean()
        assert lost < 0.25 * log_share(plain[before])[:, whole & ~open_].mean()
        responding.append(open_)
    assert len({one.tobytes() for one in responding}) == 5
    np.testing.assert_array_equal(target.masks.any(axis=0), responding_genes(n_genes=400, effect=2.0, silent=0.5, seed=1))
    with pytest.raises(ValueError, match=r"silent must be a number from 0 to 1; got 1\.5"):
        load("simulated_cells", **options, silent=1.5)


def test_logarithms_are_of_the_same_cells_without_covariates_to_fit(splits):
    small = {"n_target": 30, "n_background": 20, "n_test": 10, "n_genes": 100, "seed": 1}
    counts, logs = load("simulated_cells", **small), load("simulated_cells", **small, values="log")
    for one, other in zip(counts, logs, strict=True):
        np.testing.assert_allclose(np.expm1(other.x).sum(axis=1), 2000, rtol=1e-4)
        np.testing.assert_allclose(other.x, log_share(one), rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(one.factors, other.factors)
    assert logs.train.covariates is None
    assert logs.test.covariates.names == ("batch",)
    with pytest.raises(ValueError, match="values must be 'counts' or 'log'; got 'logs'; did you mean 'log'"):
        load("simulated_cells", **small, values="logs")
