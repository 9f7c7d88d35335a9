"""Three treatments with overlapping responses: each block predicts the response to its own, and no other one."""

import pytest

import untwine as un
from untwine.evaluation.scoring import evaluate
from untwine.metrics import factor_r2

DRUGS = ("drug_a", "drug_b", "drug_c")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_block_predicts_its_own_response_and_the_others_do_at_chance(seed):
    data = un.load("toy_treatments", seed=seed)
    method = un.PrincipledVAE.fixed(salient="per_target", n_salient=2, width=64, epochs=80, lr=2e-3, seed=seed).fit(data.train)
    scores = evaluate(method, data.test, ["responses"])
    for own in DRUGS:
        for block in DRUGS:
            score = scores[f"response_{own}.salient_{block}"]
            if block == own:
                assert score.value >= 0.87  # and 0.9 within its interval
                assert score.high >= 0.9
                assert score.direction == "higher"
            else:
                assert score.value < 0.1
                assert score.low == 0  # its interval holds the chance level
                assert score.direction == "lower"
    # With eight times as many samples a trace shows, in linear readers as well; it stays far below the response itself.
    many = un.load("toy_treatments", seed=seed, n_target=4000, n_background=1).test
    z = method.encode(many)
    for number, own in enumerate(DRUGS, 1):
        samples = many.groups == number
        for block in set(DRUGS) - {own}:
            codes, response = z[f"salient_{block}"][samples], many.factors[samples][:, [4 + number]]
            assert factor_r2(codes, response).r2 < 0.1
