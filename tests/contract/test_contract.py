"""The rules that every method keeps."""

import copy
import dataclasses
import json

import numpy as np
import pytest
import torch
from small import DATA, TRAINED, small, vectors

import untwine as un
from untwine import Samples
from untwine.methods import METHODS


def weights(method):
    return {name: value.clone() for name, value in method.nets_.state_dict().items()}


def equal(a, b):
    return all(torch.equal(a[name], b[name]) for name in a) and set(a) == set(b)


def test_constructor_only_stores(name):
    strange = {field: object() for field in METHODS[name]().get_params()}
    method = METHODS[name](**strange)
    assert {field: getattr(method, field) for field in strange} == strange
    assert not [attribute for attribute in vars(method) if attribute.endswith("_")]


def test_catalogue_name_is_the_file_name(name):
    assert METHODS[name].__module__ == f"untwine.methods.{name}"
    assert METHODS[name].name == name


def test_fit_changes_neither_its_input_nor_the_callers_random_state(name, data):
    before = copy.deepcopy(data)
    state, legacy = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002 (it is the caller's chance that is watched)
    small(name).fit(data)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), legacy, strict=True))  # noqa: NPY002
    assert data.fingerprint() == before.fingerprint()


def test_same_seed_same_weights_and_another_seed_others(name, data):
    first, again, other = (small(name, seed=seed).fit(data) for seed in (1, 1, 2))
    assert equal(weights(first), weights(again))
    assert first.history_ == again.history_
    if name in TRAINED:
        assert not equal(weights(first), weights(other))


def test_blocks_have_the_declared_names_and_widths(name, data):
    method = small(name).fit(data)
    z = method.encode(data.x)
    assert {block: codes.shape for block, codes in z.items()} == {b: (len(data), w) for b, w in method.blocks.items()}
    assert method.transform(data.x).shape == (len(data), sum(method.blocks.values()))
    assert method.get_feature_names_out()[0] == f"{next(iter(method.blocks))}0"


def test_sample_order_and_company_do_not_change_codes(name, data):
    method = small(name).fit(data)
    order = np.random.default_rng(0).permutation(len(data))
    whole, shuffled, alone = (method.transform(x) for x in (data.x, data.x[order], data.x[:1]))
    np.testing.assert_allclose(shuffled, whole[order], atol=1e-5)
    np.testing.assert_allclose(alone, whole[:1], atol=1e-5)


def test_codes_and_decoded_samples_are_finite_and_in_range(name, data):
    method = small(name).fit(data)
    rows = method.reconstruct(data.x)
    assert rows.shape == data.x.shape
    assert np.isfinite(rows).all()
    drawn = method.sample(5, seed=3)
    assert np.array_equal(drawn, method.sample(5, seed=3))
    assert not np.array_equal(drawn, method.sample(5, seed=4))
    if data.is_image:
        assert rows.min() >= 0
        assert rows.max() <= 1
        assert drawn.max() <= 1


def test_save_and_load_give_equal_codes(name, data, tmp_path):
    method = small(name).fit(data, out=tmp_path / "run", origin={"name": "a test"})
    again = un.load_method(tmp_path / "run")
    assert np.array_equal(again.transform(data.x), method.transform(data.x))
    assert again.get_params() == method.get_params()
    assert again.history_ == method.history_
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    assert card["format_version"] == 1
    assert card["method"] == name
    assert card["data"] == {"name": "a test", "fingerprint": data.fingerprint(), "rows": len(data)}
    assert not list(tmp_path.glob("run/*checkpoint*"))


def test_an_unfitted_method_says_so(name):
    for action in (lambda m: m.encode(np.zeros((2, 3))), lambda m: m.sample(2), lambda m: m.save("nowhere")):
        with pytest.raises(ValueError, match="is not fitted; call fit, or load one with load_method"):
            action(small(name))


def test_wrong_data_raises_an_error(name, data):
    method = small(name)
    if method.needs == "groups":
        with pytest.raises(
            ValueError, match=r"needs samples of target and background; got samples without groups; create them"
        ):
            method.fit(data.x)
        with pytest.raises(ValueError, match=r"needs at least 2 samples of background; got 1"):
            method.fit(Samples(data.x, groups=np.arange(len(data)) > 0))
    if method.needs == "labels":
        with pytest.raises(ValueError, match=r"needs the class of every sample; got no labels; pass Samples\("):
            method.fit(data.x)
        with pytest.raises(ValueError, match=r"needs the class of every sample; 1 of \d+ are unknown \(-1\); leave"):
            method.fit(data.x, np.arange(len(data)) - 1)
        with pytest.raises(ValueError, match=r"needs at least 2 classes; all \d+ samples are of one; add samples"):
            method.fit(data.x, np.zeros(len(data), dtype=int))
    with pytest.raises(ValueError, match=r"needs at least 2 samples; got 1 sample|at least 2 samples of"):
        method.fit(Samples(data.x[:1], groups=[1]))
    method.fit(data)
    with pytest.raises(ValueError, match=r"needs samples of shape .*, as in fit"):
        method.encode(np.zeros((3, 17), dtype=np.float32))


def test_each_players_parameters_move_and_no_others(name, data):
    if name not in TRAINED:
        pytest.skip("solved in closed form: nobody moves")
    method = small(name, epochs=1, batch=200)
    moved = set()
    for player in _players(method, data):
        before = _only(method, player).fit(data)
        start = _start(method, data)
        changed = {key for key, value in weights(before).items() if not torch.equal(value, start[key])}
        owned = _owned(before, player)
        assert changed
        assert {key for key in changed if key in dict(before.nets_.named_parameters())} <= owned
        moved |= changed
    assert moved >= set(dict(method.fit(data).nets_.named_parameters()))


def _players(method, data):
    method.fit(data)
    return [player for stage in method.stages() for player in stage.players]


def _start(method, data):
    still = type(method)(**method.get_params() | {"lr": 1e-30, "seed": method.seed})
    still._prepare(data, {})
    return weights(still)


def _owned(method, player):
    names = {id(p): key for key, p in method.nets_.named_parameters()}
    return {names[id(p)] for stage in method.stages() if player in stage.players for p in stage.players[player].parameters()}


def _only(method, player):
    """The same method, in which all other players' moves are left out."""
    clone = type(method)(**method.get_params())
    whole = clone.stages

    def stages():
        for stage in whole():

            def step(batch, t, stage=stage):
                for move in stage.step(batch, t):
                    if isinstance(move, list):
                        parts = [part for part in move if player in ((part[0],) if isinstance(part[0], str) else part[0])]
                        yield [(player, terms) for _, terms in parts]
                    elif player == move[0] or (isinstance(move[0], tuple) and player in move[0]):
                        yield player, move[1]

            yield dataclasses.replace(stage, step=step)

    clone.stages = stages
    return clone


@pytest.mark.parametrize("kind", tuple(DATA))
@pytest.mark.parametrize("networks", ["mlp", "conv", "conv_norm"])
def test_every_network_trains_every_method(name, kind, networks):
    method = small(name, networks=networks)
    data = DATA[kind]()
    if networks != "mlp" and kind == "vectors" and name in TRAINED:
        with pytest.raises(ValueError, match="needs images"):
            method.fit(data)
    else:
        assert np.isfinite(method.fit(data).transform(data.x)).all()


def test_bfloat16_trains(name, data):
    assert np.isfinite(small(name, precision="bfloat16").fit(data).transform(data.x)).all()


def test_fit_takes_y_as_the_weak_label(name):
    data = vectors()
    y = data.labels if METHODS[name].needs == "labels" else data.groups
    by_samples, by_y = small(name).fit(data), small(name).fit(data.x, y)
    assert equal(weights(by_samples), weights(by_y))


def test_own_networks_are_trained_and_must_be_given_again(tmp_path):
    data = vectors()
    own = {"encoder": torch.nn.Linear(6, 14), "decoder": torch.nn.Linear(7, 6)}
    start = own["encoder"].weight.detach().clone()
    method = small("principled_vae").fit(data, networks=own, out=tmp_path / "run")
    assert not torch.equal(own["encoder"].weight, start)
    with pytest.raises(ValueError, match=r"networks must be the modules that .* was fitted with: decoder, encoder; got none"):
        un.load_method(tmp_path / "run")
    again = un.load_method(tmp_path / "run", networks={"encoder": torch.nn.Linear(6, 14), "decoder": torch.nn.Linear(7, 6)})
    assert np.array_equal(again.transform(data.x), method.transform(data.x))
    with pytest.raises(ValueError, match=r"the encoder must map \(2, 6\) to \(2, 14\); got \(2, 13\)"):
        small("principled_vae").fit(data, networks={"encoder": torch.nn.Linear(6, 13)})
