from pathlib import Path

import numpy as np
import pytest
from known_codes import continuous, discrete, harmless, rotation

from untwine.metrics import explicitness_score
from untwine.metrics.explicitness import _area

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "metrics_discrete.npz", allow_pickle=False)


def test_it_equals_the_reference():
    n = int(GOLDEN["n_train"])
    result = explicitness_score(GOLDEN["codes"], GOLDEN["factors"], split=(np.arange(n), np.arange(n, 3000)))
    assert result.explicitness == pytest.approx(float(GOLDEN["explicitness_test"]), abs=1e-8)
    assert result.train == pytest.approx(float(GOLDEN["explicitness_train"]), abs=1e-8)
    both = np.column_stack([result.per_factor_train, result.per_factor])
    assert both == pytest.approx(GOLDEN["explicitness_per_factor"], abs=1e-8)


def test_the_area_is_scikit_learn_s():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    own, score = rng.random(200) < 0.3, np.round(rng.random(200), 1)
    assert _area(score, own) == pytest.approx(roc_auc_score(own, score), abs=1e-12)
    assert _area(score, np.ones(200, dtype=bool)) is None


def test_codes_that_separate_every_value_get_one_however_mixed():
    _, factors = discrete(600)
    codes = np.hstack([np.eye(4)[y] for y in factors.T])
    for changed in (*harmless(codes), codes @ rotation(12), np.hstack([codes, codes])):
        assert explicitness_score(changed, factors).explicitness == pytest.approx(1.0, abs=1e-6)


def test_uninformative_codes_get_a_half():
    _, factors = discrete(900)
    assert explicitness_score(np.full((900, 3), 0.1), factors).explicitness == pytest.approx(0.5)
    noise = np.random.default_rng(0).normal(size=(900, 3))
    assert explicitness_score(noise, factors).explicitness == pytest.approx(0.5, abs=0.05)


def test_continuous_factors_are_cut_and_constant_ones_left_out():
    codes, factors = continuous(600)
    assert explicitness_score(codes, factors).explicitness > 0.8
    assert len(explicitness_score(codes, np.column_stack([factors, np.ones(600)])).per_factor) == 3
    with pytest.raises(ValueError, match="two values"):
        explicitness_score(codes, np.ones((600, 1)))
    half = np.repeat([0, 1], [500, 100])
    with pytest.raises(ValueError, match="two values among the test samples"):
        explicitness_score(codes, half, split=(np.arange(100, 600), np.arange(100)))
    with pytest.raises(ValueError, match="explicitness_score needs at least 3 samples, of which a third is held out; got 1"):
        explicitness_score(codes[:1], factors[:1])
