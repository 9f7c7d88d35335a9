import numpy as np

from untwine.data import load


def regression_r2(x, y):
    design = np.c_[np.ones(len(x)), x]
    error = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return 1 - error.var(axis=0) / y.var(axis=0)


def test_samples_follow_the_linear_model():
    train = load("toy_contrast", n_target=4000, n_background=4000, noise=0.3).train
    common, salient = train.factors[:, :5], train.factors[:, 5:]
    assert train.factor_names == (*(f"common {i}" for i in range(5)), "salient 0", "salient 1")
    assert (salient[train.groups == 0] == 0).all()
    np.testing.assert_allclose(np.cov(train.target.factors.T), np.eye(7), atol=0.1)
    np.testing.assert_allclose(np.cov(train.background.factors[:, :5].T), np.eye(5), atol=0.1)
    W, *_ = np.linalg.lstsq(train.factors, train.x, rcond=None)
    np.testing.assert_allclose(W @ W.T, np.diag([9.0] * 5 + [2.25] * 2), atol=0.15)
    np.testing.assert_allclose((train.x - train.factors @ W).std(axis=0), 0.3, rtol=0.05)
    assert regression_r2(train.x, common).min() > 0.98


def test_splits_share_the_model_but_no_sample():
    splits = load("toy_contrast", n_target=2000, n_background=2000)
    W, *_ = np.linalg.lstsq(splits.train.factors, splits.train.x, rcond=None)
    V, *_ = np.linalg.lstsq(splits.test.factors, splits.test.x, rcond=None)
    np.testing.assert_allclose(W, V, atol=0.06)
    assert not np.isin(splits.train.x[:, 0], splits.test.x[:, 0]).any()


def test_principal_components_are_common_and_contrastive_ones_salient():
    train = load("toy_contrast").train
    target, background = train.target, train.background
    salient = target.factors[:, 5:]
    centred = target.x - target.x.mean(axis=0)
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    assert regression_r2(centred @ components[:2].T, salient).max() < 0.1
    # Contrastive PCA, with the background weighted so that sampling noise in its large variances does not dominate.
    _, vectors = np.linalg.eigh(np.cov(target.x.T) - 3 * np.cov(background.x.T))
    assert regression_r2(centred @ vectors[:, -2:], salient).min() > 0.9


def test_the_seed_determines_the_splits():
    a, b, other = (load("toy_contrast", n_target=20, n_background=20, seed=seed) for seed in (3, 3, 4))
    assert a.train.fingerprint() == b.train.fingerprint()
    assert a.test.fingerprint() == b.test.fingerprint()
    assert len({a.train.fingerprint(), a.test.fingerprint(), other.train.fingerprint(), other.test.fingerprint()}) == 4
