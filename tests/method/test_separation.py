"""The score of contrastive methods: reconstruction and separation, on codes whose answer is known and in a search."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import untwine as un
from untwine.data import load
from untwine.latents import Latents
from untwine.method.separation import group_separation

N = 400
RNG = np.random.default_rng(0)
GROUPS = np.arange(N) % 2
NOISE = RNG.normal(size=(N, 3))
SHIFTED = NOISE[:, :1] + 8 * GROUPS[:, None]
WIDER = NOISE[:, :1] * (0.02 + GROUPS[:, None])  # the groups differ in variance alone


def separation(common, salient, **columns):
    return group_separation(Latents({"common": common, "salient": salient}), un.Samples(NOISE, groups=GROUPS, **columns))


@pytest.mark.parametrize(
    ("common", "salient", "low", "high"),
    [
        (NOISE, SHIFTED, 0.85, 1.0),
        (SHIFTED, NOISE, -1.0, -0.85),
        (SHIFTED, SHIFTED, 0.0, 0.0),
        (NOISE, NOISE[:, :1], -0.15, 0.15),
        (NOISE, WIDER, 0.8, 1.0),
        (NOISE, 1e6 * SHIFTED - 7, 0.85, 1.0),
        (np.zeros((N, 2)), np.ones((N, 1)), 0.0, 0.0),
    ],
    ids=["separate", "exchanged", "both", "neither", "variance", "rescaled", "constant"],
)
def test_the_separation_of_known_codes(common, salient, low, high):
    assert low <= separation(common, salient) <= high


def test_a_leak_across_the_latents_is_found():
    turn, _ = np.linalg.qr(RNG.normal(size=(3, 3)))
    leak = np.concatenate([WIDER, 3 * NOISE[:, 1:]], axis=1) @ turn  # each latent alone has about the same variance
    assert separation(leak, NOISE) < -0.7


def test_a_source_is_never_in_both_folds():
    sources = np.arange(N) // 8 * 2 + GROUPS  # four samples each, of one group
    alone, whole = [], []
    for seed in range(4):
        own = np.random.default_rng(seed).normal(size=(sources.max() + 1, 40))[sources]  # of the source, not of the group
        alone.append(separation(NOISE, own))
        whole.append(separation(NOISE, own, sources=sources))
    assert np.mean(alone) > 0.7  # the samples of a source that are in other folds give it away
    assert np.mean(whole) < 0.25


def test_a_fold_of_one_group_is_refused():
    data = load("toy_contrast", n_target=30, n_background=30)
    method = un.ContrastivePCA().fit(data.train)
    with pytest.raises(ValueError, match=r"at least 2 samples of target and of background; got 30 and 0; stratify the folds"):
        method.score(data.test.target.x, np.ones(30, dtype=int))
    assert method.score(data.test.x) == pytest.approx(-np.square(method.reconstruct(data.test.x) - data.test.x).mean())


def test_the_score_is_stated():
    data = load("toy_contrast", n_target=60, n_background=60).test
    method = un.ContrastivePCA().fit(data)
    lost = np.square(method.reconstruct(data.x) - data.x).mean() / data.x.var(0).mean()
    expected = -lost - (1 - group_separation(method.encode(data.x), data))
    assert method.score(data) == method.score(data.x, data.groups) == pytest.approx(expected, rel=1e-5)


def test_a_search_takes_the_contrast_that_separates_where_all_reconstruct_alike():
    data = load("toy_contrast", n_target=100, n_background=100, n_common=2, n_salient=1, n_features=6).train
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    method = un.ContrastivePCA(n_common=4, n_salient=2)  # as many codes as features: nothing is lost
    search = GridSearchCV(method, {"alpha": [0.0, 2.0]}, cv=folds, error_score="raise").fit(data.x, data.groups)
    assert search.best_params_ == {"alpha": 2.0}
    mixed, separate = search.cv_results_["mean_test_score"]
    assert separate - mixed > 0.5
