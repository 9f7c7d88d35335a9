"""Options that were renamed or added since do not change the fingerprints of cells that were finished before."""

import pytest

from untwine.methods import METHODS
from untwine.runs.compatibility import ADDED, settle, to_former, to_today


def test_an_added_option_is_left_out_while_it_changes_nothing():
    assert to_former("cifar_mnist", {"size": 32, "mix": "opaque"}) == {"size": 32}
    assert to_former("cifar_mnist", {"size": 32, "mix": "authors"}) == {"size": 32, "mix": "authors"}
    assert to_former("another", {"mix": "opaque"}) == {"mix": "opaque"}


@pytest.mark.parametrize("name", sorted({owner for owner, _ in ADDED if owner in METHODS}))
def test_an_added_field_has_the_value_that_changes_nothing_by_default(name):
    added = {field: value for (owner, field), value in ADDED.items() if owner == name}
    params = METHODS[name]().get_params()
    assert {field: params[field] for field in added} == added
    assert set(to_former(name, params)) == set(params) - set(added)


def test_a_renamed_value_is_read_and_fingerprinted_by_both_names():
    assert to_former("coil20", {"held_out": "images"}) == {"held_out": "pictures"}
    assert to_today({"held_out": "pictures", "size": 64}) == {"held_out": "images", "size": 64}


def test_what_was_chosen_from_the_data_takes_the_place_of_auto():
    params = {"networks": "auto", "width": None, "epochs": 3, "n_common": "auto", "lambda_s": "auto"}
    inferred = {"networks": "conv", "width": 16, "n_common": 9, "epochs": 7, "targets": ["a"]}
    assert settle(params, inferred) == {"networks": "conv", "width": 16, "epochs": 3, "n_common": 9, "lambda_s": "auto"}
    # A run from before has nothing of that.
    assert settle({"networks": "auto", "width": None}, {}) == {"networks": "standard", "width": None}


def test_fingerprints_keep_what_auto_networks_were():
    assert to_former("vae", {"networks": "standard"}) == {"networks": "auto"}
    assert to_former("vae", {"networks": "auto"}) != {"networks": "auto"}
    assert to_former("vae", {"networks": "mlp"}) == {"networks": "mlp"}
