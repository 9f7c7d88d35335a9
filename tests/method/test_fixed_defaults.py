"""The settings that do not depend on the data: `Method.fixed`, presets and studies."""

import pytest

from untwine.methods import METHODS
from untwine.study import reading

SPEC = {
    "title": "t",
    "seeds": [0],
    "metrics": ["probe"],
    "data": [{"name": "grassy_digits"}],
    "column": [{"scores": ["probe.salient"]}],
}


def params(row, **spec):
    return reading.cells({**SPEC, **spec, "row": [{"label": "a", "method": "principled_vae", **row}]}, "s", "small")[0].params


def test_fixed_settings_replace_what_is_chosen_from_the_data_and_nothing_else():
    fixed, default = METHODS["mm_cvae"].fixed(seed=3).get_params(), METHODS["mm_cvae"](seed=3).get_params()
    changed = {name for name in fixed if fixed[name] != default[name]}
    assert fixed["scale"] == 0.2
    assert all(default[name] == "auto" for name in changed)
    assert METHODS["mm_cvae"].fixed(scale="learned").scale == "learned"


@pytest.mark.parametrize("name", METHODS)
def test_presets_leave_nothing_of_their_training_to_the_data(name):
    method = METHODS[name]
    for source, known in (("paper", method.papers), ("authors", method.public_code)):
        for data in known:
            left = {field for field, value in getattr(method, source)(data).get_params().items() if value == "auto"}
            assert not left & set(method.fixed_defaults())


def test_a_study_or_one_of_its_rows_has_fixed_settings():
    assert params({})["scale"] == "auto"
    assert params({}, defaults="fixed")["scale"] == 0.32
    assert params({"defaults": "fixed"})["scale"] == 0.32
    assert params({"defaults": "auto"}, defaults="fixed")["scale"] == "auto"
    assert params({"fields": {"scale": 0.1}}, defaults="fixed")["scale"] == 0.1
