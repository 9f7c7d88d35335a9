"""What every metric of single latents gives for codes whose score is known, in one table.

Factors are three, of four values each, every combination as often as any other, so that they are exactly independent. Codes
are the factors themselves, and changes of them. A number is known exactly, a pair of numbers is an interval.
"""

from functools import partial

import numpy as np
import pytest
from known_codes import rotation

from untwine import metrics

EVERY = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
FACTORS = np.random.default_rng(0).permutation(np.repeat(EVERY, 12, axis=0))
CODES = FACTORS.astype(float)
HALVES = FACTORS > 1  # an attribute of each factor
FEW = {"train": 400, "test": 200}
TURN = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, np.sqrt(2.0)]]) / np.sqrt(2.0)

DONE = {
    "perfect": lambda z: z,
    "permuted": lambda z: z[:, [2, 0, 1]],
    "rescaled": lambda z: z * [1.0, -2.0, 3.0] + 7.0,
    "constant": lambda z: np.full(z.shape, 0.1),
    "duplicated": lambda z: np.hstack([z, z]),
    "turned": lambda z: z @ TURN,  # two of the three by 45 degrees
    "rotated": lambda z: z @ rotation(3),  # each is a third of one factor and two thirds of both others
}


def drawn(score):
    return lambda change: score(lambda factors: change(factors.astype(float)), [4, 4, 4], **FEW).accuracy


def on_samples(score, factors=FACTORS, field=0, **options):
    return lambda change: score(change(CODES), factors, **options)[field]


def share(summed, change):
    """Return the information of the best latent on a factor, or of all together, as a mean over factors."""
    matrix = metrics.information_matrix(change(CODES), FACTORS)
    return (matrix.sum(axis=0) if summed else matrix.max(axis=0)).mean()


def over_majority(change):
    result = metrics.attribute_accuracy(change(CODES), HALVES)
    return result.accuracy - np.mean(result.majority)


SCORES = {
    "sap, lines": on_samples(metrics.sap_score, CODES),
    "sap, thresholds": on_samples(metrics.sap_score),
    "sap, grouped": on_samples(metrics.sap_score, CODES, correlated=0.9),
    "sap, svm": on_samples(metrics.sap_score, classifier="svm"),
    "mig": on_samples(metrics.mig_score),
    "disentanglement": on_samples(metrics.dci_scores, field=0),
    "completeness": on_samples(metrics.dci_scores, field=1),
    "informativeness": on_samples(metrics.dci_scores, field=2),
    "modularity": on_samples(metrics.modularity_score),
    "explicitness": on_samples(metrics.explicitness_score),
    "z_diff": on_samples(metrics.z_diff_score, **FEW),
    "z_diff, logistic": on_samples(metrics.z_diff_score, classifier="logistic", **FEW),
    "z_diff, from draws": drawn(metrics.z_diff_score_from_draws),
    "factor_vae_score": on_samples(metrics.factor_vae_score, **FEW),
    "factor_vae, from draws": drawn(metrics.factor_vae_score_from_draws),
    "attributes": lambda change: metrics.attribute_accuracy(change(CODES), HALVES).accuracy,
    "attributes over majority": over_majority,
    "information, the best latent": partial(share, False),
    "information, all latents": partial(share, True),
    "total correlation": lambda change: metrics.unsupervised_scores(change(CODES)).total_correlation,
    "total correlation, variances that differ": lambda change: (
        metrics.unsupervised_scores(change(CODES * [1, 2, 3])).total_correlation
    ),
    "wasserstein, relative": lambda change: metrics.unsupervised_scores(change(CODES)).relative,
    "wasserstein, variances that differ": lambda change: metrics.unsupervised_scores(change(CODES * [1, 2, 3])).relative,
    "mutual information": lambda change: metrics.unsupervised_scores(change(CODES)).mutual_information,
    "udr with the factors": lambda change: metrics.udr_score([CODES, change(CODES)]).udr,
    "udr with itself": lambda change: metrics.udr_score([change(CODES), change(CODES)]).udr,
}

PAIR = (2 * (1 - np.log(2) / np.log(3)) + 1) / 3  # two latents that share two of three factors evenly, and one alone
TWO_THIRDS = (0.55, 0.78)  # one factor is predicted, the two that were rotated are at chance
THIRD = (0.2, 0.45)  # one of three at random
# fmt: off
#                                 perfect     permuted    rescaled    constant    duplicated        turned        rotated
TABLE = {
    "sap, lines":                (1.0,        1.0,        1.0,        0.0,        0.0,              1 / 3,        0.0),
    "sap, thresholds":           (0.75,       0.75,       0.75,       0.0,        0.0,              0.25,         (0, 0.05)),
    "sap, grouped":              (1.0,        1.0,        1.0,        0.0,        1.0,              1 / 3,        0.0),
    "sap, svm":                  ((0.4, 0.6), (0.4, 0.6), (0.3, 0.6), 0.0,        0.0,              (0.1, 0.3),   (0, 0.06)),
    "mig":                       (1.0,        1.0,        1.0,        0.0,        0.0,              1 / 3,        (0.2, 0.4)),
    "disentanglement":           (1.0,        1.0,        1.0,        0.0,        1.0,              PAIR,         (0, 0.2)),
    "completeness":              (1.0,        1.0,        1.0,        0.0,        (0.6, 0.8),       PAIR,         (0, 0.2)),
    "informativeness":           (1.0,        1.0,        1.0,        (0.2, 0.3), 1.0,              (0.95, 1),    (0.7, 1)),
    "modularity":                (1.0,        1.0,        1.0,        0.0,        1.0,              2 / 3,        (0.6, 0.85)),
    "explicitness":              (1.0,        1.0,        1.0,        0.5,        1.0,              (0.99, 1),    (0.99, 1)),
    "z_diff":                    ((0.99, 1),  (0.99, 1),  (0.99, 1),  THIRD,      (0.99, 1),        TWO_THIRDS,   (0.8, 0.97)),
    "z_diff, logistic":          ((0.99, 1),  (0.99, 1),  (0.99, 1),  THIRD,      (0.99, 1),        TWO_THIRDS,   (0.8, 0.97)),
    "z_diff, from draws":        ((0.99, 1),  (0.99, 1),  (0.99, 1),  THIRD,      (0.99, 1),        TWO_THIRDS,   (0.8, 0.97)),
    "factor_vae_score":          (1.0,        1.0,        1.0,        0.0,        1.0,              TWO_THIRDS,   (0.3, 0.65)),
    "factor_vae, from draws":    (1.0,        1.0,        1.0,        0.0,        1.0,              TWO_THIRDS,   (0.3, 0.65)),
    "attributes":                (1.0,        1.0,        (0.98, 1),  (0.4, 0.6), 1.0,              1.0,          1.0),
    "attributes over majority":  ((0.4, 0.6), (0.4, 0.6), (0.4, 0.6), 0.0,        (0.4, 0.6),       (0.4, 0.6),   (0.4, 0.6)),
    "information, the best latent":
                                 (1.0,        1.0,        1.0,        0.0,        1.0,              (0.5, 0.6),   (0.5, 0.6)),
    "information, all latents":  (1.0,        1.0,        1.0,        0.0,        2.0,              (0.7, 0.85),  (0.95, 1.15)),
    "total correlation":         (0.0,        0.0,        0.0,        0.0,        (3 * 17, 3 * 19), 0.0,          0.0),
    "total correlation, variances that differ":
                                 (0.0,        0.0,        0.0,        0.0,        (3 * 17, 3 * 19), (0.2, 0.25),  (0.4, 0.55)),
    "wasserstein, relative":     (0.0,        0.0,        0.0,        0.0,        2 - np.sqrt(2),   0.0,          0.0),
    "wasserstein, variances that differ":
                                 (0.0,        0.0,        0.0,        0.0,        2 - np.sqrt(2),   (0.03, 0.05), (0.1, 0.16)),
    "mutual information":        (0.0,        0.0,        0.0,        0.0,        np.log(4) / 5,    (0.25, 0.35), (1.2, 1.4)),
    "udr with the factors":      (1.0,        1.0,        1.0,        0.0,        5 / 6,            (0.5, 0.65),  (0.2, 0.35)),
    "udr with itself":           (1.0,        1.0,        1.0,        0.0,        0.5,              1.0,          (0.85, 1)),
}
# fmt: on


@pytest.fixture(autouse=True)
def fewer_trees(monkeypatch):
    monkeypatch.setattr("untwine.metrics.boosting.TREES", 10)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("what", DONE)
def test_each_metric_is_at_its_extreme(name, what):
    result, expected = SCORES[name](DONE[what]), dict(zip(DONE, TABLE[name], strict=True))[what]
    if isinstance(expected, tuple):
        assert expected[0] <= result <= expected[1]
    else:
        assert result == pytest.approx(expected, abs=0.01 if name in ("disentanglement", "completeness") else 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_any_rotation_leaves_modularity_high_and_two_factors_at_45_degrees_have_none(seed):
    turned = metrics.modularity_score(CODES @ rotation(3, seed), FACTORS).modularity
    assert 0.5 < turned < 0.95  # squares favour the largest: sharing a factor costs little
    both = CODES[:, :2] @ TURN[:2, :2]
    assert metrics.modularity_score(both, FACTORS[:, :2]).modularity == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("score", [metrics.z_diff_score, metrics.factor_vae_score])
def test_two_factors_at_45_degrees_are_at_chance(score):
    assert 0.4 < score(CODES[:, :2] @ TURN[:2, :2], FACTORS[:, :2], train=1000, test=1000).accuracy < 0.6


@pytest.mark.parametrize("score", [metrics.sap_score, metrics.mig_score])
def test_a_slight_rotation_leaves_a_gap_and_45_degrees_none(score):
    truth, angle = np.random.default_rng(0).uniform(-1, 1, (5000, 2)), 0.2
    slight = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    some, none = (score(truth @ turn, truth)[0] for turn in (slight, TURN[:2, :2]))
    assert 0.2 < some < 0.95
    assert none < 0.03


def test_continuous_factors_have_the_same_extremes():
    truth = np.random.default_rng(1).uniform(-1, 1, (1500, 3))
    for name, low in (("perfect", 0.97), ("permuted", 0.97), ("rescaled", 0.97)):
        codes = DONE[name](truth)
        assert metrics.sap_score(codes, truth).sap > low
        assert metrics.mig_score(codes, truth).mig > 0.9  # noise has a little information
        assert metrics.z_diff_score(codes, truth, **FEW).accuracy > 0.99
        assert metrics.factor_vae_score(codes, truth, **FEW).accuracy > 0.99
        assert metrics.modularity_score(codes, truth).modularity > low
    for codes in (DONE["constant"](truth), DONE["duplicated"](truth), truth @ rotation(3)):
        assert metrics.sap_score(codes, truth).sap < 0.05
        assert metrics.mig_score(codes, truth).mig < 0.05
    assert metrics.dci_scores(DONE["constant"](truth), truth)[:3] == (0.0, 0.0, 0.0)
    turned = metrics.dci_scores(truth @ TURN, truth)
    assert turned.disentanglement == pytest.approx(PAIR, abs=0.1)
    assert turned.completeness == pytest.approx(PAIR, abs=0.1)
