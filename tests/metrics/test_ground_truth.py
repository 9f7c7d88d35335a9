"""Which factors are continuous: given for all, one by one, or by their dtype, and nothing else."""

import numpy as np
import pytest

from untwine import metrics
from untwine.metrics.ground_truth import typed_factors

FACTORS = np.column_stack([np.arange(12.0) % 3, np.arange(12.0), np.arange(12.0) ** 2])


@pytest.mark.parametrize(
    ("continuous", "expected"),
    [
        (None, [True, True, True]),
        (True, [True, True, True]),
        (np.False_, [False, False, False]),
        ([False, True, True], [False, True, True]),
        (np.array([True, False, True]), [True, False, True]),
    ],
)
def test_continuous_factors_are_given_for_all_or_one_by_one(continuous, expected):
    columns, scale = typed_factors(FACTORS, 12, continuous)
    assert scale == expected
    assert columns[:, 2].tolist() == (FACTORS[:, 2] if expected[2] else np.arange(12)).tolist()
    assert typed_factors(FACTORS.astype(int), 12)[1] == [False, False, False]


@pytest.mark.parametrize(
    ("continuous", "kind", "came"),
    [
        ([True, False], ValueError, r"\(2,\); pass one bool for each factor"),
        ([True], ValueError, r"\(1,\)"),
        ([], ValueError, r"\(0,\)"),
        ([[True, False, True]], ValueError, r"\(1, 3\)"),
        ([True, 0, True], TypeError, "0; pass True for continuous factors"),
        (1, TypeError, "1; pass True"),
        ("yes", TypeError, "'yes'"),
        (["x", "y", "z"], TypeError, "'x'"),
        ([[True], [True, False]], TypeError, r"\[True\]"),
    ],
)
@pytest.mark.parametrize(
    "metric",
    ["sap_score", "mig_score", "modularity_score", "dci_scores", "explicitness_score", "z_diff_score", "information_matrix"],
)
def test_a_bad_value_of_continuous_is_refused(metric, continuous, kind, came):
    with pytest.raises(kind, match=f"True or False for each of the 3 factors; got .*{came}"):
        getattr(metrics, metric)(FACTORS, FACTORS, continuous=continuous)
