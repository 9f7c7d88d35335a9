"""`n_salient="auto"`: every contrastive method lets the data choose how many salient dimensions it has."""

import dataclasses
import re
import warnings

import pytest

import untwine as un
from untwine.methods import METHODS

CONTRASTIVE = [name for name, method in METHODS.items() if method.needs == "groups"]
SMALL = {"epochs": 1, "batch": 64, "width": 8, "n_common": 5}


def build(name, **changes):
    fields = {field.name for field in dataclasses.fields(METHODS[name])}
    return METHODS[name](**{key: value for key, value in ({"n_salient": "auto"} | SMALL | changes).items() if key in fields})


@pytest.fixture(scope="module")
def data():
    return un.load("toy_contrast", n_target=300, n_background=300, n_features=12, n_common=3, n_salient=2)


@pytest.fixture(scope="module")
def nothing():
    """Two draws of one background."""
    x = un.load("toy_contrast", n_target=1, n_background=400, n_features=12, n_common=3).train.background.x
    return un.Samples.contrast(target=x[:200], background=x[200:])


def test_there_are_contrastive_methods():
    assert {"principled_vae", "contrastive_vae", "contrastive_pca"} <= set(CONTRASTIVE)


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_two_dimensions_are_inferred_saved_and_used(name, data, tmp_path):
    from sklearn.base import clone

    method = build(name)
    assert method.fit(data.train, out=tmp_path / "run") is method
    assert method.blocks == {"common": 5, "salient": 2}
    codes = method.encode(data.test.x[:8])
    assert codes.salient.shape == (8, 2)
    assert method.transform(data.test.x[:8]).shape == (8, 7)
    assert list(method.get_feature_names_out())[-2:] == ["salient0", "salient1"]
    assert method.decode(codes).shape == (8, 12)
    assert method.sample(3).shape == (3, 12)
    # The configuration still says what was asked for: a clone looks at its own data.
    assert method.get_params()["n_salient"] == "auto"
    assert clone(method).n_salient == "auto"
    loaded = un.load_method(tmp_path / "run")
    assert loaded.blocks == method.blocks
    assert loaded.n_salient == "auto"
    assert loaded.encode(data.test.x[:8]) == codes


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_auto_is_the_same_as_the_number_that_it_infers(name, data):
    inferred, given = build(name).fit(data.train), build(name, n_salient=2).fit(data.train)
    assert inferred.encode(data.test.x[:8]) == given.encode(data.test.x[:8])


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_before_fit_the_width_is_not_known(name):
    with pytest.raises(
        ValueError, match=r"n_salient='auto' is chosen from the data by fit and not known before; call fit first\."
    ):
        _ = build(name).blocks


@pytest.mark.parametrize("name", CONTRASTIVE)
@pytest.mark.parametrize("text", ["many", "2", "Auto", ""])
def test_any_other_text_is_refused(name, text, data):
    sentence = f"n_salient must be an integer >= 1 or 'auto'; got {text!r}"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        build(name, n_salient=text).fit(data.train)


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_where_nothing_is_salient_it_warns_and_takes_one_dimension(name, nothing):
    with pytest.warns(UserWarning, match="n_salient='auto': no direction of the target is significant") as caught:
        method = build(name).fit(nothing)
    assert len(caught) == 1
    assert method.blocks["salient"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(name, n_salient=1).fit(nothing)


def test_a_second_fit_infers_it_again(data, nothing):
    method = build("contrastive_pca").fit(data.train)
    with pytest.warns(UserWarning, match="no direction of the target"):
        method.fit(nothing)
    assert method.blocks["salient"] == 1


def test_the_command_line_takes_auto(tmp_path):
    from untwine.cli.app import main

    options = [
        "--data",
        "toy_contrast",
        "--data-set",
        "n_target=300",
        "--data-set",
        "n_background=300",
        "--set",
        "n_salient=auto",
    ]
    with pytest.raises(SystemExit) as done:
        main(["fit", "contrastive_pca", *options, "--out", str(tmp_path / "run")])
    assert done.value.code == 0
    assert un.load_method(tmp_path / "run").blocks["salient"] == 2
