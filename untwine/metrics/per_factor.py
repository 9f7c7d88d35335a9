"""Mean absolute error of the linear regression of each factor."""

from __future__ import annotations

from functools import partial

from untwine.metrics.directions import FACTORS_LOWER, INFO
from untwine.metrics.metric import LINEAR, Metric, ScoreInfo
from untwine.metrics.regression import measure_regression
from untwine.metrics.requirements import FACTORS

METRIC = Metric(
    name="per_factor",
    function=partial(measure_regression, each=True),
    description="Mean absolute error of the regression of each factor.",
    scores={
        "regression_*_constant": ScoreInfo(
            "Constant-predictor baseline of this factor: the error of predicting its median.", INFO
        ),
        # Factors named "salient ..." have the directions of labels instead.
        "regression_*": ScoreInfo(
            "How far off is a linear regression of this factor on this block? Mean absolute error, held out.",
            FACTORS_LOWER,
            LINEAR,
        ),
    },
    requires=(FACTORS,),
)
