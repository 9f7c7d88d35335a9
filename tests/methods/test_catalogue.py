"""The catalogue of methods: ours, those that a script registers, and runs of methods that are not known."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from small import small, vectors

import untwine as un
from untwine import methods
from untwine.method.kinds import Trained
from untwine.methods import CLASSES, METHODS, find_method, load_method


@dataclass(eq=False, kw_only=True)
class Mine(un.VAE):
    """A VAE under another name."""

    name: ClassVar[str] = "mine"


@pytest.fixture
def registry(monkeypatch):
    """The catalogue, whose registered entries are forgotten after the test."""
    monkeypatch.setattr(METHODS, "_registered", {})
    return METHODS


def test_every_class_of_the_table_is_public_and_in_the_catalogue():
    assert [kind.name for kind in CLASSES.values()] == list(METHODS)[: len(CLASSES)]
    assert next(iter(METHODS)) == "principled_vae"  # the default
    for title, kind in CLASSES.items():
        assert getattr(methods, title) is getattr(un, title) is kind is METHODS[kind.name]


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match=r"^method must be a name from the catalogue; got 'beta_vea'; did you mean 'beta_vae'"):
        find_method("beta_vea")


def test_a_registered_method_saves_and_loads_and_one_that_is_not_says_its_name(registry, tmp_path):
    data = vectors()
    registry.register("mine", Mine)
    assert find_method("mine") is Mine
    method = Mine(**small("vae").get_params()).fit(data, out=tmp_path / "run")
    assert np.array_equal(load_method(tmp_path / "run").transform(data.x), method.transform(data.x))
    registry._registered.clear()
    with pytest.raises(ValueError, match=r"is a run of the method 'mine', which is not known here; install .* un\.register"):
        load_method(tmp_path / "run")


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("vae", Mine, "the method Mine must be registered under its own name; got 'vae'"),
        ("mine", Mine(), "a method must be a subclass of Method; got Mine"),
        ("mine", dict, "a method must be a subclass of Method; got <class 'dict'>"),
        (
            "mine",
            Trained,
            (
                "a method must be a dataclass that implements all abstract methods of Method; "
                "Trained lacks blocks, build, codes, generate, stages"
            ),
        ),
    ],
)
def test_what_is_no_method_is_refused(registry, name, kind, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        registry.register(name, kind)
    assert str(caught.value).startswith(sentence)


def test_a_name_of_ours_cannot_be_taken(registry):
    @dataclass(eq=False, kw_only=True)
    class Other(un.VAE):
        name: ClassVar[str] = "vae"

    with pytest.raises(ValueError, match="the name of a method must be new; 'vae' is taken"):
        registry.register("vae", Other)
