from pathlib import Path

import numpy as np
import pytest
from known_codes import continuous, discrete, harmless, rotation

from untwine.metrics import mig_score, modularity_score
from untwine.metrics.ground_truth import discretise
from untwine.metrics.information import entropy, mutual_information

FOLDER = Path(__file__).parents[1] / "golden"
DISCRETE = np.load(FOLDER / "metrics_discrete.npz", allow_pickle=False)
CONTINUOUS = np.load(FOLDER / "metrics_continuous.npz", allow_pickle=False)


def test_both_equal_the_reference():
    result = mig_score(DISCRETE["codes"], DISCRETE["factors"])
    assert result.mig == pytest.approx(float(DISCRETE["mig"]), abs=1e-8)
    assert result.matrix == pytest.approx(DISCRETE["mutual_info_matrix"], abs=1e-8)
    result = mig_score(CONTINUOUS["codes"], CONTINUOUS["factors"])
    assert result.mig == pytest.approx(float(CONTINUOUS["mig_factors_discretised"]), abs=1e-8)
    assert result.matrix == pytest.approx(CONTINUOUS["mutual_info_matrix"], abs=1e-8)
    n = int(DISCRETE["n_train"])
    result = modularity_score(DISCRETE["codes"][:n], DISCRETE["factors"][:n])
    assert result.modularity == pytest.approx(float(DISCRETE["modularity"]), abs=1e-8)
    assert modularity_score(DISCRETE["codes"], DISCRETE["factors"]).modularity == pytest.approx(
        float(DISCRETE["modularity_all_rows"]), abs=1e-8
    )
    result = modularity_score(CONTINUOUS["codes"], CONTINUOUS["factors"])
    assert result.modularity == pytest.approx(float(CONTINUOUS["modularity_factors_discretised"]), abs=1e-8)


def test_information_equals_scikit_learn_and_bins_the_reference():
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 5, (400, 3)), rng.integers(0, 7, (400, 2))
    b[:, 1] = np.minimum(a[:, 0], 3)
    expected = [[mutual_info_score(x, y) for y in b.T] for x in a.T]
    assert mutual_information(a, b) == pytest.approx(np.array(expected), abs=1e-12)
    assert entropy(b) == pytest.approx([mutual_info_score(y, y) for y in b.T], abs=1e-12)
    assert entropy(np.zeros((5, 1), dtype=int)) == [0.0]
    codes = np.stack([discretise(z) for z in DISCRETE["codes"].T], axis=1)
    assert (codes + 1 != DISCRETE["codes_discretised"]).sum() <= 1  # the one that lies on an edge
    assert discretise(np.full(9, 0.1)).tolist() == [0] * 9


def test_perfect_codes_get_one():
    codes, factors = discrete()
    for changed in harmless(codes):
        assert mig_score(changed, factors).mig == pytest.approx(1.0, abs=0.02)
        assert modularity_score(changed, factors).modularity == pytest.approx(1.0, abs=0.01)
    codes, factors = continuous(20_000)
    assert mig_score(codes, factors).mig == pytest.approx(1.0, abs=0.02)
    assert modularity_score(codes, factors).modularity == pytest.approx(1.0, abs=0.01)


def test_duplicated_codes_have_no_gap_but_are_modular():
    codes, factors = discrete()
    twice = np.hstack([codes, codes])
    assert mig_score(twice, factors).mig == pytest.approx(0.0, abs=1e-12)
    assert modularity_score(twice, factors).modularity == pytest.approx(1.0, abs=0.01)
    one = codes[:, :1]  # two factors are missing, which modularity does not mind
    assert modularity_score(one, factors).modularity == pytest.approx(1.0, abs=0.01)
    assert mig_score(one, factors).mig == pytest.approx(1 / 3, abs=0.02)


def test_rotated_constant_and_random_codes_get_little():
    codes, factors = continuous()
    assert mig_score(codes @ rotation(3), factors).mig < 0.1
    half = codes[:, :2] @ [[1.0, -1.0], [1.0, 1.0]]  # by 45 degrees
    assert modularity_score(half, factors[:, :2]).modularity < 0.1
    assert 0.3 < modularity_score(codes @ rotation(3), factors).modularity < 0.7  # a rotation alone costs it less
    codes, factors = discrete()
    sums = codes @ np.ones((3, 2))  # two latents, both the sum of all factors
    assert modularity_score(sums, factors).modularity < 0.1
    assert mig_score(sums, factors).mig == pytest.approx(0.0, abs=1e-12)
    constant = np.full((1500, 3), 0.1)
    assert mig_score(constant, factors).mig == 0.0
    assert modularity_score(constant, factors).modularity == 0.0
    assert mig_score(np.random.default_rng(0).normal(size=(1500, 4)), factors).mig < 0.02


def test_a_factor_that_never_varies_is_left_out():
    codes, factors = discrete()
    more = np.column_stack([factors, np.full(1500, 3)])
    assert mig_score(codes, more).mig == mig_score(codes, factors).mig
    assert mig_score(codes, more).per_factor[3] == 0.0
    assert modularity_score(codes, more).modularity == modularity_score(codes, factors).modularity
    with pytest.raises(ValueError, match="at least 1 factor with two values"):
        mig_score(codes, np.ones((1500, 2), dtype=int))
    with pytest.raises(ValueError, match="at least 2 factors with two values or more; got 1 among 2"):
        modularity_score(codes, np.column_stack([factors[:, 0], np.ones(1500, dtype=int)]))
    with pytest.raises(ValueError, match="bins must be at least 2"):
        mig_score(codes, factors, bins=1)


def test_floats_of_few_values_keep_them():
    codes, factors = discrete(sizes=(4, 7))
    assert mig_score(codes, factors / 7).mig == mig_score(codes, factors).mig
    uneven = np.where(factors == 3, 1000.0, factors)  # equal widths would join all but the largest
    assert mig_score(codes, uneven).mig == mig_score(codes, factors).mig
