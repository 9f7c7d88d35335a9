from pathlib import Path

import numpy as np
import pytest

from untwine.metrics import cluster_agreement

FOLDER = Path(__file__).parents[1] / "golden"
GOLDEN = np.load(FOLDER / "clustering.npz", allow_pickle=False)
CODES = np.load(FOLDER / "metrics_discrete.npz", allow_pickle=False)["codes"][:1000]


def clusters_of_classes(n=240, classes=4, apart=12.0, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return apart * np.eye(classes)[labels] + rng.normal(size=(n, classes)), labels


@pytest.mark.parametrize("case", ["f0_k3", "f1_k6", "f3_k8"])
def test_it_is_k_means_and_the_reference_s_scores(case):
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    labels, codes = GOLDEN[f"{case}_true"].astype(int), CODES[:, GOLDEN[f"{case}_columns"]]
    clusters = KMeans(len(np.unique(labels)), n_init=10, random_state=0).fit_predict(codes)
    result = cluster_agreement(codes, labels)
    assert result.ari == pytest.approx(adjusted_rand_score(labels, clusters), abs=1e-9)
    assert result.nmi == pytest.approx(normalized_mutual_info_score(labels, clusters), abs=1e-9)
    # The reference's clusters come from five initialisations; ten give the same or nearly so.
    assert result.ari == pytest.approx(float(GOLDEN[f"{case}_ari"]), abs=0.05)
    assert result.nmi == pytest.approx(float(GOLDEN[f"{case}_nmi"]), abs=0.05)


def test_separated_clusters_agree_under_harmless_changes_of_the_codes():
    codes, labels = clusters_of_classes()
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
        result = cluster_agreement(c, y)
        assert result.ari > 0.99
        assert result.nmi > 0.99
        assert result.n == 240


def test_uninformative_codes_get_zero():
    _, labels = clusters_of_classes()
    for seed in range(3):
        result = cluster_agreement(np.random.default_rng(seed).normal(size=(240, 4)), labels)
        assert -0.03 < result.ari < 0.05
        assert result.nmi < 0.1
    constant = cluster_agreement(np.full((240, 3), 0.1), labels)
    assert constant.ari == 0.0
    assert constant.nmi == 0.0


def test_one_class_or_a_class_for_each_sample_is_refused():
    with pytest.raises(ValueError, match="got 1 classes in 10 samples"):
        cluster_agreement(np.ones((10, 2)), np.zeros(10, dtype=int))
    with pytest.raises(ValueError, match="10 classes in 10 samples"):
        cluster_agreement(np.ones((10, 2)), np.arange(10))
