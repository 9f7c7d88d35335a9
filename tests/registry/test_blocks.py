"""The names of the targets' salient blocks, and what `salient` stands for."""

import pytest

from untwine.registry.blocks import kind, members, names_of, salient_blocks, width


@pytest.mark.parametrize(
    ("groups", "blocks"),
    [
        (("control", "drug_a", "drug b"), ("salient_drug_a", "salient_drug_b")),
        (("background", "target 1", "IL-6 (10 ng/ml)"), ("salient_target_1", "salient_IL_6_10_ng_ml")),
        (("b", "a.b", "a b", "c"), ("salient_a_b_1", "salient_a_b_2", "salient_c")),
        (("b", "a.b", "a b", "a_b_1"), ("salient_a_b_1_1", "salient_a_b_2", "salient_a_b_1")),
        (("b", "+", "?"), ("salient_target_1", "salient_target_2")),
        (("b", "é"), ("salient_é",)),
    ],
)
def test_names_are_safe_and_different(groups, blocks):
    assert salient_blocks(groups) == blocks
    assert len(set(blocks)) == len(blocks)
    assert all(block.isidentifier() for block in blocks)


def test_salient_stands_for_all_of_them_only_where_there_is_no_such_block():
    several = {"common": 4, "salient_a": 2, "salient_b": 3}
    assert members("salient", several) == ("salient_a", "salient_b")
    assert members("salient_a", several) == ("salient_a",)
    assert members("class", several) == ()
    assert width("salient", several) == 5
    assert names_of(several) == ("common", "salient_a", "salient_b", "salient")
    one = {"common": 4, "salient": 2}
    assert members("salient", one) == ("salient",)
    assert names_of(one) == ("common", "salient")
    assert members("salient", {"class": 1, "content": 2}) == ()
    assert [kind(block) for block in ("salient_a", "salient", "common")] == ["salient", "salient", "common"]
