import numpy as np
import pytest

from untwine.data import load


def test_samples_follow_the_linear_model():
    train = load("toy_treatments", n_target=3000, n_background=3000, n_response=2).train
    assert train.group_names == ("control", "drug_a", "drug_b", "drug_c")
    assert train.factor_names[5:] == tuple(f"salient drug_{letter} {i}" for letter in "abc" for i in (0, 1))
    known = ~np.isnan(train.factors)
    assert known[:, :5].all()
    for group in range(4):
        own = np.repeat(np.arange(1, 4) == group, 2)  # the response to a drug is known for its own samples alone
        assert (known[train.groups == group, 5:] == own).all()
    controls = train.background
    W, *_ = np.linalg.lstsq(controls.factors[:, :5], controls.x, rcond=None)
    np.testing.assert_allclose(W @ W.T, 9 * np.eye(5), atol=0.15)
    responses = []
    for group in (1, 2, 3):
        one = train[train.groups == group]
        r = one.factors[:, 5:].reshape(len(one), 3, 2)[:, group - 1]
        rest = one.x - one.factors[:, :5] @ W
        U, *_ = np.linalg.lstsq(1.5 * (3 + r), rest, rcond=None)  # without the shift of 3 it would not fit
        np.testing.assert_allclose((rest - 1.5 * (3 + r) @ U).std(axis=0), 0.3, rtol=0.05)
        responses.append(U)
    cosines = np.einsum("kif,ljf->kilj", responses, responses).reshape(6, 6)
    expected = np.kron(0.5 + 0.5 * np.eye(3), np.eye(2))
    np.testing.assert_allclose(cosines, expected, atol=0.03)


def test_the_seed_determines_the_splits_and_the_options_what_is_in_them():
    a, b, other = (load("toy_treatments", n_target=20, n_background=20, seed=seed) for seed in (3, 3, 4))
    assert a.train.fingerprint() == b.train.fingerprint()
    assert len({a.train.fingerprint(), a.test.fingerprint(), other.train.fingerprint()}) == 3
    two = load("toy_treatments", n_target=20, n_background=30, n_targets=2, n_features=7, overlap=0.0).test
    assert np.bincount(two.groups).tolist() == [30, 20, 20]
    for options, sentence in (
        ({"overlap": 1.0}, "overlap must be below 1, or all treatments would be one; got 1"),
        ({"n_targets": 27, "n_features": 40}, "n_targets must be at most 26"),
        ({"n_features": 7}, "n_features must be an integer of at least 8"),
    ):
        with pytest.raises(ValueError, match=sentence):
            load("toy_treatments", **options)
