import inspect

import numpy as np
import pytest

from untwine.data import Splits, data_sets, load


def test_every_data_set_says_what_it_is_and_takes_keyword_options_with_a_seed():
    for name, function in data_sets().items():
        assert function.__name__ == name
        parameters = inspect.signature(function).parameters
        assert parameters["seed"].default == 0
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters.values())
        first, _, rest = inspect.getdoc(function).partition("\n")
        assert first.endswith(".")
        assert len(first) < 120
        for option in parameters:
            assert option in rest, f"{name} does not explain {option}"


def test_load_passes_options_on():
    splits = load("toy_contrast", n_target=7, n_background=5, n_features=9)
    assert isinstance(splits, Splits)
    assert splits.train.x.shape == splits.test.x.shape == (12, 9)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("grassy_digit", "none called 'grassy_digit' and no such path; did you mean grassy_digits"),
        ("toycontrast", "did you mean toy_contrast?"),
        ("qqq", "choose one of affectnet, .*grassy_digits, grassy_mnist, grassy_mnist_nonlinear, .*toy_contrast"),
        (["grassy_digits"], "expected the name of a data set"),
        (None, "expected the name of a data set"),
    ],
)
def test_an_unknown_name_is_told_what_is_close(name, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        load(name)
    assert "\n" not in str(error.value)


def test_an_unknown_option_is_told_what_there_is():
    with pytest.raises(ValueError, match=r"toy_contrast has no option 'n'; it takes n_target=4000, .*noise=0.3, seed=0\.$"):
        load("toy_contrast", n=3)
    with pytest.raises(ValueError, match=r"grassy_mnist has no option 'threshold'; .*folder=None"):
        load("grassy_mnist", threshold=0.3)


@pytest.mark.parametrize(
    ("name", "option", "value", "sentence"),
    [
        ("toy_contrast", "n_target", 0, "n_target must be a whole number of at least 1; got 0"),
        ("toy_contrast", "n_background", 2.5, "n_background must be a whole number"),
        ("toy_contrast", "n_features", 3, "n_features must be a whole number of at least 7"),
        ("toy_contrast", "noise", -1, "noise must be a number of at least 0; got -1"),
        ("toy_contrast", "noise", float("nan"), "noise must be a number"),
        ("toy_contrast", "noise", "loud", "noise must be a number of at least 0; got 'loud'"),
        ("toy_contrast", "seed", -1, "seed must be a whole number of at least 0"),
        ("toy_contrast", "seed", None, "seed must be a whole number"),
        ("grassy_digits", "size", 7, "size must be a whole number from 8 to 128; got 7"),
        ("grassy_digits", "size", 129, "size expected"),
        ("grassy_digits", "n_test", True, "n_test must be a whole number of at least 1; got True"),
        ("grassy_digits", "rho", 1.1, "rho must be a number from 0 to 1; got 1.1"),
        ("grassy_mnist", "rho", "half", "rho must be a number from 0 to 1"),
        ("grassy_mnist", "n_per_class", 0, "n_per_class must be a whole number"),
        ("grassy_mnist", "folder", 3, "folder must be a path; got 3"),
        ("grassy_mnist_nonlinear", "threshold", 2, "threshold must be a number from 0 to 1; got 2"),
    ],
)
def test_a_bad_option_gets_its_sentence(name, option, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(name, **{option: value})


def test_numbers_of_numpy_are_numbers():
    splits = load("toy_contrast", n_target=np.int64(4), noise=np.float32(0.5))
    assert len(splits.train.target) == 4
