"""Options: each field's type says what it may hold, and every other value is refused before data is touched."""

import dataclasses
import math
import time
import typing
from contextlib import suppress

import numpy as np
import pytest
from annotated_types import Ge, Le

from untwine.method import fields
from untwine.method.contract import PRECISIONS
from untwine.method.fields import describe
from untwine.methods import METHODS
from untwine.networks import NETWORKS
from untwine.networks.autoencoder import LIKELIHOODS
from untwine.networks.pretrained.reconstruction import LOSSES

FIELDS = [(name, option) for name, method in METHODS.items() for option in describe(method)]
OPTIONS = pytest.mark.parametrize(("name", "option"), FIELDS, ids=[f"{name}-{option.name}" for name, option in FIELDS])
NUMBERS = (-1, -0.5, math.nan, math.inf)


class Untouchable:
    """Data that must not be read."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("the data was read")


def wrong_values(option):
    """Return values that the type of an option, given as text, does not allow: other types, out of range, unknown choices."""
    wrong = [object(), [1], b"auto", "no such choice"]
    wrong += [] if option.kind == "True or False" else [True]
    wrong += [] if "None" in option.kind else [None]
    if "number" not in option.kind and "integer" not in option.kind:
        return [*wrong, 1, 0.5]
    wrong += NUMBERS
    wrong += [1.5] if "integer" in option.kind else [10**400]
    wrong += [0] if "> 0" in option.kind or ">= 1" in option.kind else []
    return wrong + ([1, 2] if "< 1" in option.kind else [])


def seconds_to_refuse(method):
    start = time.perf_counter()
    with suppress(TypeError, ValueError):
        method.check()
    return time.perf_counter() - start


@OPTIONS
def test_a_wrong_value_is_refused_at_once_and_before_data_is_touched(name, option):
    for value in wrong_values(option):
        method = METHODS[name](**{option.name: value})
        with pytest.raises((TypeError, ValueError)) as caught:
            method.check()
        assert min(seconds_to_refuse(method) for _ in range(3)) < 0.1
        sentence = str(caught.value)
        assert sentence.startswith(f"{type(method).__name__}: {option.name} must be ")
        assert f"; got {value!r}" in sentence
        allowed = sentence.partition(" must be ")[2].partition("; got ")[0]
        assert allowed.replace("a finite ", "").replace("an ", "").replace("a ", "") == option.kind
        with pytest.raises(type(caught.value)) as refused:
            method.fit(Untouchable())
        assert str(refused.value) == sentence


@OPTIONS
def test_every_option_says_its_type_its_default_and_its_meaning(name, option):
    assert option.kind
    assert option.default == getattr(METHODS[name](), option.name)
    assert option.meaning[0].isupper() or option.meaning.startswith("`")
    assert option.meaning.endswith(".")


@pytest.mark.parametrize("name", METHODS)
def test_numbers_of_numpy_are_numbers(name):
    for option in describe(METHODS[name]):
        if isinstance(option.default, int | float) and not isinstance(option.default, bool):
            check_numpy(name, option)


def check_numpy(name, option):
    METHODS[name](**{option.name: np.array([option.default])[0]}).check()
    if isinstance(option.default, float) and option.kind != "number >= 0 and < 1":
        METHODS[name](**{option.name: 1}).check()
        METHODS[name](**{option.name: np.float32(1.5)}).check()


@dataclasses.dataclass
class Foreign:
    """Somebody's own types."""

    sizes: tuple[int, ...] = (1, 2)
    anything: typing.Any = None
    level: typing.Annotated[int, Ge(2), Le(4)] | None = None


def test_other_types_are_checked_as_far_as_they_can_be():
    fields.check(Foreign, {"sizes": (3,), "anything": object(), "level": 4})
    with pytest.raises(TypeError, match=r"^Foreign: sizes must be a tuple; got 3\.$"):
        fields.check(Foreign, {"sizes": 3})
    with pytest.raises(ValueError, match=r"^Foreign: level must be an integer >= 2 and <= 4 or None; got 5\.$"):
        fields.check(Foreign, {"level": 5})


def test_every_default_and_every_papers_setting_passes(name):
    METHODS[name]().check()
    for data in METHODS[name].papers:
        METHODS[name].paper(data).check()
    for data in METHODS[name].public_code:
        METHODS[name].authors(data).check()


def test_the_choices_are_those_that_the_networks_and_losses_know():
    assert typing.get_args(fields.Networks) == ("auto", "standard", *NETWORKS)
    assert typing.get_args(fields.Likelihood) == LIKELIHOODS
    assert typing.get_args(fields.Loss) == LOSSES
    assert set(typing.get_args(fields.Precision)) == set(PRECISIONS)


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:1", "mps"])
def test_devices_are_names_with_an_optional_number(device):
    METHODS["vae"](device=device).check()


@pytest.mark.parametrize("device", ["cuda:", "cuda:x", "meta", "cpu ", "", "CPU"])
def test_other_devices_are_refused(device):
    with pytest.raises(ValueError, match=r"VAE: device must be 'auto', 'cpu', 'cuda', 'cuda:N' or 'mps'; got "):
        METHODS["vae"](device=device).check()


@pytest.mark.parametrize(
    ("name", "field", "value", "sentence"),
    [
        ("dip_vae", "variant", "iii", "DIPVAE: variant must be 'i' or 'ii'; got 'iii'; did you mean 'ii'?"),
        ("vae", "epochs", 0, "VAE: epochs must be an integer >= 1 or 'auto'; got 0."),
        ("vae", "lr", math.nan, "VAE: lr must be a finite number > 0; got nan."),
        ("vae", "precision", "float", "VAE: precision must be 'float32', 'bfloat16' or 'float64'; got 'float'; did you mean"),
        ("double_infogan", "posterior", "x", "DoubleInfoGAN: posterior must be 'laplace' or 'gaussian'; got 'x'."),
        ("symmetric_rb_vae", "dropped", 2, "SymmetricRbVAE: dropped must be a number >= 0 and < 1; got 2."),
        ("lord", "loss", "vgg19", "LORD: loss must be 'l1', 'l2', 'vgg16' or 'squeezenet'; got 'vgg19'; did you mean 'vgg16'?"),
        ("lord", "networks", "adin", "LORD: networks must be 'auto', 'standard', 'mlp', "),
        ("factor_vae", "second_batch", 1, "FactorVAE: second_batch must be True or False; got 1."),
        (
            "sep_vae",
            "n_salient",
            "aut",
            "SepVAE: n_salient must be an integer >= 1 or 'auto'; got 'aut'; did you mean 'auto'?",
        ),
        ("pca", "seed", 2**63, "PCA: seed must be an integer >= 0 and < 2^63; got 9223372036854775808."),
    ],
)
def test_the_error_names_the_field_the_allowed_values_the_given_one_and_the_nearest(name, field, value, sentence):
    with pytest.raises((TypeError, ValueError)) as caught:
        METHODS[name](**{field: value}).check()
    assert str(caught.value).startswith(sentence)
