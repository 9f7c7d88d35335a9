"""The response of each target, from codes whose answer is known."""

import numpy as np
import pytest

from untwine import Samples
from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents

N = 150
GROUPS = np.repeat([0, 1, 2], N)
RESPONSE = np.random.default_rng(0).normal(size=(3 * N, 2))
NOISE = np.random.default_rng(1).normal(size=(3 * N, 4))


def samples(**changes):
    known = np.stack([GROUPS == 1, GROUPS == 2], axis=1)
    given = {
        "x": np.hstack([RESPONSE, NOISE]),
        "groups": GROUPS,
        "group_names": ("control", "drug a", "drug-b"),
        "factors": np.hstack([NOISE[:, :1], np.where(known, RESPONSE, np.nan)]),
        "factor_names": ("common 0", "salient a", "salient b"),
    }
    return Samples(**given | changes)


class Known:
    """A fitted method with a block for each drug; `order` says which response each of them has."""

    def __init__(self, order=(0, 1), shared=False):
        self.order, self.shared = order, shared

    def encode(self, x):
        a, b = (x[:, [i]] for i in self.order)
        common = {"common": x[:, 2:4]}
        return Latents(
            {**common, "salient": np.hstack([a, b])} if self.shared else {**common, "salient_drug_a": a, "salient_drug_b": b}
        )

    def decode(self, latents):
        return np.hstack([latents["salient"], np.zeros((latents.n_samples, 4), np.float32)])


def test_each_block_is_scored_on_the_samples_of_each_target():
    scores = evaluate(Known(), samples(), ["responses"])
    values = {name: score.value for name, score in scores.items()}
    assert set(values) == {f"response_{drug}.{block}" for drug in ("drug_a", "drug-b") for block in Known().encode(samples().x)}
    assert min(values["response_drug_a.salient_drug_a"], values["response_drug-b.salient_drug_b"]) > 0.95
    for name in ("response_drug_a.salient_drug_b", "response_drug-b.salient_drug_a", "response_drug_a.common"):
        assert values[name] < 0.05
        assert scores[name].direction == "lower"
        assert scores[name].low == 0
        assert scores[name].n == N
    assert scores["response_drug-b.salient_drug_b"].direction == "higher"


def test_blocks_of_the_wrong_target_are_found_and_one_block_for_all_has_both():
    scores = evaluate(Known((1, 0)), samples(), ["responses"])
    assert scores["response_drug_a.salient_drug_a"].value < 0.05
    assert scores["response_drug_a.salient_drug_b"].value > 0.95
    scores = evaluate(Known(shared=True), samples(), ["responses"])
    for drug in ("drug_a", "drug-b"):
        assert scores[f"response_{drug}.salient"].value > 0.9
        assert scores[f"response_{drug}.salient"].direction == "higher"


def test_other_metrics_score_every_block_and_know_whose_it_is():
    scores = evaluate(Known(), samples(), ["factors", "leakage", "per_target", "w2"])
    assert scores["factors_salient.salient_drug_a"].value > 0.95  # of its own response: another target's is not its own
    assert scores["factors_salient.salient_drug_b"].value > 0.95
    assert scores["factors.salient_drug_a"].direction == "lower"
    assert scores["factors_salient.salient_drug_a"].direction == "higher"
    assert {"leakage.salient", "leakage.salient_drug_a", "leakage.salient_drug_b", "leakage.common"} <= set(scores)
    directions = {name: score.direction for name, score in scores.items() if name.startswith("per_target_drug_a")}
    assert directions == {
        "per_target_drug_a.common": "lower",
        "per_target_drug_a.salient_drug_a": "higher",
        "per_target_drug_a.salient_drug_b": "lower",
    }


def test_samples_without_responses_are_refused():
    with pytest.raises(
        ValueError, match=r'needs factors named "salient ..." that vary and are known for 10 samples of a target'
    ):
        evaluate(Known(), samples(factors=None, factor_names=()), ["responses"])
