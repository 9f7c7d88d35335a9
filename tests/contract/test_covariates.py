"""Covariates: every trained method gives them to its networks, keeps them with its run, and is unchanged without them."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from small import DATA, NAMES, TRAINED, small, vectors, with_covariates

import untwine as un
from untwine import Latents, Samples
from untwine.data import Splits
from untwine.methods import METHODS
from untwine.networks.conditional import Conditional


@pytest.fixture(scope="module", params=[(name, kind) for name in TRAINED for kind in DATA], ids="-".join)
def fitted(request):
    name, kind = request.param
    data = with_covariates(DATA[kind]())
    return small(name).fit(data), data


def others(data, **columns):
    known = {"batch": np.array(data.covariates.levels[0])[data.covariates.values[:, 0].astype(int)]}
    return dataclasses.replace(data, covariates={**known, "age": data.covariates.values[:, 1], **columns})


def test_encoder_and_decoder_both_depend_on_them(fitted):
    method, data = fitted
    z = method.encode(data)
    assert list(z.conditions) == ["batch", "age"]
    assert set(z.conditions["batch"]) == {"a", "b", "c"}
    for changed in (others(data, batch=np.roll(z.conditions["batch"], 1)), others(data, age=z.conditions["age"] + 20)):
        assert any(not np.allclose(method.encode(changed)[block], z[block], atol=1e-7) for block in z)
    x = method.decode(z)
    assert not np.allclose(method.decode(z, covariates={"batch": "b"}), x, atol=1e-7)
    assert not np.allclose(method.decode(z, covariates={"age": 90.0}), x, atol=1e-7)


def test_decoding_as_another_batch_changes_the_samples_of_others_alone(fitted):
    method, data = fitted
    z = method.encode(data)
    x, as_b = method.decode(z), method.decode(z, covariates={"batch": "b"})
    same = z.conditions["batch"] == "b"
    np.testing.assert_allclose(as_b[same], x[same], atol=1e-5)
    assert (np.abs(as_b - x).reshape(len(x), -1).max(1)[~same] > 1e-7).mean() > 0.9
    np.testing.assert_allclose(method.decode(z, covariates=dict(z.conditions)), x, atol=1e-6)


def test_codes_alone_are_decoded_with_the_usual_values(fitted):
    method, data = fitted
    z = method.encode(data)
    levels, many = np.unique(z.conditions["batch"], return_counts=True)
    usual = {"batch": levels[many.argmax()], "age": z.conditions["age"].mean()}
    by_hand = Latents(dict(z))
    assert not by_hand.conditions
    np.testing.assert_allclose(method.decode(by_hand), method.decode(z, covariates=usual), atol=1e-5)
    assert method.sample(3).shape == (3, *data.shape)


def test_a_run_keeps_names_levels_and_statistics(fitted, tmp_path):
    method, data = fitted
    method.save(tmp_path)
    card = json.loads((tmp_path / "method.json").read_text())
    assert card["covariates"] == {"names": ["batch", "age"], "levels": [["a", "b", "c"], []]}
    again = un.load_method(tmp_path)
    # Other samples may have fewer levels, in another order, and further columns.
    some = data[np.flatnonzero(data.covariates.values[:, 0] > 0)[::-1]]
    some = others(some, more=np.arange(len(some)))
    np.testing.assert_array_equal(again.transform(some), method.transform(some))
    np.testing.assert_array_equal(again.reconstruct(some), method.reconstruct(some))
    first = others(data[:1], batch=np.array(["a"]), age=np.array([50.0]))
    for block, codes in method.encode(first).items():
        np.testing.assert_allclose(again.encode(others(data[:1], batch=["a"], age=[50.0]))[block], codes)


def test_missing_and_unknown_covariates_are_refused_by_name(fitted):
    method, data = fitted
    name = type(method).__name__
    with pytest.raises(ValueError, match=f"{name} was fitted with the covariates batch, age; got samples without batch, age;"):
        method.encode(data.x)
    without_age = dataclasses.replace(data, covariates={"batch": np.repeat("a", len(data))})
    with pytest.raises(ValueError, match=r"got samples without age; pass Samples\(x, covariates=\{'age': \.\.\.\}\)"):
        method.encode(without_age)
    with pytest.raises(ValueError, match="'batch' must have levels among 'a', 'b', 'c'; got 'z'; leave these samples out"):
        method.encode(others(data, batch=np.repeat(["a", "z"], [len(data) - 1, 1])))
    with pytest.raises(
        ValueError, match="the covariate 'batch' must be categories, as in fit; got numbers; convert the column"
    ):
        method.encode(others(data, batch=np.ones(len(data))))
    z = method.encode(data)
    with pytest.raises(ValueError, match="must have levels among 'a', 'b', 'c'; got '1'"):
        method.decode(z, covariates={"batch": "1"})
    with pytest.raises(ValueError, match="covariates must be those of the fit, batch, age; got 'site'; leave them out"):
        method.decode(z, covariates={"site": "1"})


def test_all_conditional_networks_were_given_them_and_keep_none(fitted):
    method, _ = fitted
    conditional = [net for net in method.nets_.modules() if isinstance(net, Conditional)]
    assert sum(net.n_covariates > 0 for net in conditional) >= 1
    assert all(not net.conditions for net in conditional)


@pytest.mark.parametrize("name", TRAINED)
def test_every_trained_method_takes_covariates(name):
    assert METHODS[name].takes_covariates


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(TRAINED)))
def test_closed_forms_refuse_them_and_say_what_takes_them(name):
    with pytest.raises(ValueError, match="takes no covariates; got batch, age; fit a trained method, such as principled_vae"):
        small(name).fit(with_covariates(vectors()))


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_without_covariates_ignores_those_of_other_samples(name, tmp_path):
    data = vectors()
    method = small(name).fit(data, out=tmp_path / "run")
    assert "covariates" not in json.loads((tmp_path / "run" / "method.json").read_text())
    assert not any("covariates" in key for key in method.nets_.state_dict())
    np.testing.assert_array_equal(method.transform(with_covariates(data)), method.transform(data))
    assert not method.encode(with_covariates(data)).conditions


def test_constant_covariates_and_precision():
    data = vectors()
    data = dataclasses.replace(data, covariates={"site": np.repeat("one", len(data)), "age": np.full(len(data), 40.0)})
    for precision in ("float64", "bfloat16"):
        method = small("principled_vae", precision=precision).fit(data)
        assert np.isfinite(method.reconstruct(data)).all()
        assert all(torch.isfinite(value).all() for value in method.nets_.state_dict().values())


def test_own_networks_see_the_columns_of_covariates():
    data = with_covariates(vectors())
    own = {"encoder": torch.nn.Linear(6 + 4, 8), "decoder": torch.nn.Linear(4 + 4, 6)}
    method = small("vae").fit(data, networks=own)
    assert np.isfinite(method.reconstruct(data)).all()
    with pytest.raises(ValueError, match=r"the encoder must map \(2, 10\) to \(2, 8\)"):
        small("vae").fit(data, networks={"encoder": torch.nn.Linear(6, 8)})


def test_scores_and_galleries_of_a_run_with_covariates(tmp_path):
    data = with_covariates(DATA["images"](60, 60))
    method = small("principled_vae").fit(data, out=tmp_path / "run")
    un.evaluate_run(tmp_path / "run", data=Splits(data, data), method=method, skip_inapplicable=True)
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    assert {"leakage_covariates_batch.common", "leakage_covariates_age.salient", "reconstruction.x"} <= set(scores)
    assert method.score(data) < 0
    assert isinstance(Samples(data.x, covariates=data.covariates).covariates, type(data.covariates))
