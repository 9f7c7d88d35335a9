from pathlib import Path

import numpy as np
import pytest

from untwine.metrics import agreement

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = np.load(FOLDER / "clustering.npz", allow_pickle=False)
CODES = np.load(FOLDER / "metrics_discrete.npz", allow_pickle=False)["codes"][:1000]


def islands(n=240, classes=4, apart=12.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return apart * np.eye(classes)[labels] + rng.normal(size=(n, classes)), labels


@pytest.mark.parametrize("case", ["f0_k3", "f1_k6", "f3_k8"])
def test_it_is_k_means_and_the_reference_s_counts(case):
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    labels, codes = GOLDEN[f"{case}_true"].astype(int), CODES[:, GOLDEN[f"{case}_columns"]]
    clusters = KMeans(len(np.unique(labels)), n_init=10, random_state=0).fit_predict(codes)
    found = agreement(codes, labels)
    assert found.ari == pytest.approx(adjusted_rand_score(labels, clusters), abs=1e-9)
    assert found.nmi == pytest.approx(normalized_mutual_info_score(labels, clusters), abs=1e-9)
    # The reference's clusters come of five starts; ten find the same or nearly so.
    assert found.ari == pytest.approx(float(GOLDEN[f"{case}_ari"]), abs=0.05)
    assert found.nmi == pytest.approx(float(GOLDEN[f"{case}_nmi"]), abs=0.05)


def test_islands_agree_whatever_is_done_to_the_codes():
    codes, labels = islands()
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    order = np.random.default_rng(2).permutation(240)
    for c, y in (
        (codes, labels),
        (codes[:, ::-1], labels),
        (codes[order], labels[order]),
        (1e4 * codes + 7, labels),
        (codes @ rotation, labels),
        (np.hstack([codes, codes]), labels),
        (codes, np.array(list("dcba"))[labels]),
    ):
        found = agreement(c, y)
        assert found.ari > 0.99
        assert found.nmi > 0.99
        assert found.n == 240


def test_codes_that_know_nothing_get_nought():
    _, labels = islands()
    for seed in range(3):
        found = agreement(np.random.default_rng(seed).normal(size=(240, 4)), labels)
        assert -0.03 < found.ari < 0.05
        assert found.nmi < 0.1
    constant = agreement(np.full((240, 3), 0.1), labels)
    assert constant.ari == 0.0
    assert constant.nmi == 0.0


def test_one_class_or_a_row_for_each_is_refused():
    with pytest.raises(ValueError, match="but got 1 classes in 10 rows"):
        agreement(np.ones((10, 2)), np.zeros(10, dtype=int))
    with pytest.raises(ValueError, match="10 classes in 10 rows"):
        agreement(np.ones((10, 2)), np.arange(10))
