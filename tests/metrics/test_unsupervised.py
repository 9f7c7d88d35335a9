from pathlib import Path

import numpy as np
import pytest
from known_codes import continuous, rotation

from untwine.metrics import udr_score, unsupervised_scores

FOLDER = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["metrics_discrete", "metrics_continuous"])
def test_redundancy_equals_the_reference(name):
    golden = np.load(FOLDER / f"{name}.npz", allow_pickle=False)
    result = unsupervised_scores(golden["codes"])
    assert result.total_correlation == pytest.approx(float(golden["unsup_gaussian_total_correlation"]), abs=1e-8)
    assert result.wasserstein_correlation == pytest.approx(float(golden["unsup_gaussian_wasserstein_correlation"]), abs=1e-8)
    assert result.relative == pytest.approx(float(golden["unsup_gaussian_wasserstein_correlation_norm"]), abs=1e-8)
    assert result.mutual_information == pytest.approx(float(golden["unsup_mutual_info_score"]), abs=1e-8)


def test_independent_latents_score_zero_and_copies_high():
    codes = np.random.default_rng(0).normal(size=(5000, 3)) * [1.0, 2.0, 3.0]
    for changed in (codes, codes[:, ::-1], 1e3 * codes + 5, np.hstack([codes, np.full((5000, 1), 0.1)])):
        result = unsupervised_scores(changed)
        assert 0 <= result.total_correlation < 0.01
        assert 0 <= result.relative < 0.01
        assert 0 <= result.mutual_information < 0.05
    turned = unsupervised_scores(codes @ rotation(3))
    assert turned.total_correlation > 0.1
    assert turned.relative > 0.01
    twice = unsupervised_scores(np.hstack([codes, codes]))
    assert twice.total_correlation > 3 * 15
    assert np.isfinite(twice.total_correlation)
    assert unsupervised_scores(np.full((50, 2), 0.1)) == (0.0, 0.0, 0.0, 0.0)
    assert unsupervised_scores(codes[:, :1]) == pytest.approx((0.0, 0.0, 0.0, 0.0), abs=1e-9)
    with pytest.raises(ValueError, match="at least 2 samples"):
        unsupervised_scores(np.ones((1, 2)))


def test_models_that_agree_rank_first():
    z = continuous(4000, 4)[0]
    alike = udr_score([z, -2 * z[:, ::-1], np.exp(z), np.hstack([z, np.full((4000, 1), 0.1)])])
    mixed = udr_score([z @ rotation(4, seed) for seed in range(3)])
    unrelated = udr_score([np.random.default_rng(seed).normal(size=(4000, 4)) for seed in range(3)])
    assert alike.udr > 0.9
    assert alike.udr > mixed.udr + 0.2 > unrelated.udr + 0.2
    assert unrelated.udr < 0.05
    assert udr_score([np.hstack([z, z])] * 2).udr == pytest.approx(0.5, abs=0.04)
    assert udr_score([z, z * 0 + 0.1]).udr == 0.0


def test_udr_by_hand():
    a = np.array([[1.0, 1], [2, 3], [3, 2], [4, 4]])  # ranks correlate by 0.8
    result = udr_score([a, a[:, :1]])
    # Similarities are 1 and 0.8: over the single column 1 / 1.8, over the rows 1 and 0.8.
    assert result.udr == pytest.approx((1 / 1.8 + 1 + 0.8) / 3)
    assert result.pairs.tolist() == [[0, result.udr], [result.udr, 0]]
    assert result.per_model == (result.udr, result.udr)


def pair_by_pair(models, dead):
    """Return the scores (m, m) of all pairs of models, latent by latent, with scipy's rank correlation."""
    from scipy.stats import spearmanr

    active = []
    for codes in models:
        std = [np.sqrt(np.mean((z - np.mean(z)) ** 2)) if z.min() < z.max() else 0.0 for z in codes.T]
        active.append([z for z, one in zip(codes.T, std, strict=True) if one > 0 and one >= dead * max(std)])
    scores = np.zeros((len(models), len(models)))
    for i, own in enumerate(active):
        for j, other in enumerate(active):
            if i != j:
                R = [[abs(spearmanr(a, b).statistic) for b in other] for a in own]
                columns = sum(max(column) ** 2 / sum(column) for column in zip(*R, strict=True))
                scores[i, j] = (columns + sum(max(row) ** 2 / sum(row) for row in R)) / (len(own) + len(other))
    return scores


@pytest.mark.parametrize("dead", [0.05, 0.0])
@pytest.mark.parametrize("many", [3, 4, 5])
def test_udr_equals_a_loop_with_scipy_s_correlations(many, dead):
    z, rng = continuous(300, 4)[0], np.random.default_rng(many)
    models = []
    for d in range(many):
        mixed = z @ (np.eye(4) + 0.4 * rng.normal(size=(4, 4))) + 0.2 * rng.normal(size=(300, 4))
        models.append(np.hstack([mixed, rng.normal(size=(300, d))]))  # each model has latents of its own, ever more of them
    models[0][:, 1] *= 1e-3  # dead, though as informative as before
    models[1] = np.hstack([models[1], np.full((300, 1), 0.1)])  # dead whatever the bound
    models[2] = np.round(models[2], 1)  # samples that share a rank
    result, expected = udr_score(models, dead), pair_by_pair(models, dead)
    assert result.pairs == pytest.approx(expected, abs=1e-8)
    medians = [np.median([expected[i, j] for j in range(many) if j != i]) for i in range(many)]
    assert result.per_model == pytest.approx(medians, abs=1e-8)
    assert result.udr == pytest.approx(sum(medians) / many, abs=1e-8)
    assert abs(result.udr - udr_score(models, 0.05 - dead).udr) > 1e-4, "the dead latent makes no difference"


def test_a_model_that_differs_from_the_others_scores_lowest():
    z = continuous(2000, 3)[0]
    result = udr_score([z, z * 2, z @ rotation(3, seed=1), z[:, ::-1]])
    assert np.argmin(result.per_model) == 2


def test_udr_needs_the_same_samples_of_several_models():
    z = continuous(50)[0]
    for codes in ([z], [z, z[1:]], [z[:2], z[:2]]):
        with pytest.raises(ValueError, match="at least 2 models"):
            udr_score(codes)
