import inspect
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from untwine.data import DataSet, Splits, data_sets, grid, load, origin
from untwine.data.catalogue import DATA_SETS
from untwine.registry import catalogue as registry
from untwine.samples import Samples


def test_every_data_set_is_documented_and_takes_keyword_options_with_a_seed():
    for name, function in data_sets().items():
        assert function.__name__ == name
        parameters = inspect.signature(function).parameters
        assert parameters["seed"].default == 0
        assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters.values())
        first, _, rest = inspect.getdoc(function).partition("\n")
        assert first.endswith(".")
        assert len(first) < 120
        for option in parameters:
            assert option in rest, f"{name} does not document {option}"
        notes = rest.partition("Notes\n")[2].lower()
        for what in ("source", "licence", "files", "group", "label", "factor"):
            assert what in notes, f"{name} does not document its {what}"


def test_load_passes_options_on():
    splits = load("toy_contrast", n_target=7, n_background=5, n_features=9)
    assert isinstance(splits, Splits)
    assert splits.train.x.shape == splits.test.x.shape == (12, 9)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("grassy_digit", "name must be a data set or an existing path; got 'grassy_digit'; did you mean 'grassy_digits'"),
        ("toycontrast", "did you mean 'toy_contrast'"),
        ("qqq", "choose one of affectnet, .*grassy_digits, grassy_mnist, grassy_mnist_nonlinear, .*toy_contrast"),
        (["grassy_digits"], "name must be a data set or an existing path; got"),
        (None, "name must be a data set or an existing path; got None"),
    ],
)
def test_an_unknown_name_gets_suggestions(name, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        load(name)
    assert "\n" not in str(error.value)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match=r"options of toy_contrast must be among n_target=4000, .*noise=0.3, seed=0; got 'n'; "
    ):
        load("toy_contrast", n=3)
    with pytest.raises(ValueError, match=r"options of grassy_mnist must be among .*folder=None; got 'threshold'; "):
        load("grassy_mnist", threshold=0.3)


@pytest.mark.parametrize(
    ("name", "option", "value", "sentence"),
    [
        ("toy_contrast", "n_target", 0, "n_target must be an integer of at least 1; got 0"),
        ("toy_contrast", "n_background", 2.5, "n_background must be an integer"),
        ("toy_contrast", "n_features", 3, "n_features must be an integer of at least 7"),
        ("toy_contrast", "noise", -1, "noise must be a number of at least 0; got -1"),
        ("toy_contrast", "noise", float("nan"), "noise must be a number"),
        ("toy_contrast", "noise", "loud", "noise must be a number of at least 0; got 'loud'"),
        ("toy_contrast", "seed", -1, "seed must be an integer of at least 0"),
        ("toy_contrast", "seed", None, "seed must be an integer"),
        ("grassy_digits", "size", 7, "size must be an integer from 8 to 128; got 7"),
        ("grassy_digits", "size", 129, "size must be an integer from 8 to 128; got 129"),
        ("grassy_digits", "n_test", True, "n_test must be an integer of at least 1; got True"),
        ("grassy_digits", "rho", 1.1, "rho must be a number from 0 to 1; got 1.1"),
        ("grassy_mnist", "rho", "half", "rho must be a number from 0 to 1"),
        ("grassy_mnist", "n_per_class", 0, "n_per_class must be an integer"),
        ("grassy_mnist", "folder", 3, "folder must be a path; got 3"),
        ("grassy_mnist_nonlinear", "threshold", 2, "threshold must be a number from 0 to 1; got 2"),
    ],
)
def test_a_bad_option_is_refused(name, option, value, sentence):
    with pytest.raises(ValueError, match=sentence):
        load(name, **{option: value})


def test_numpy_scalars_are_accepted_as_options():
    splits = load("toy_contrast", n_target=np.int64(4), noise=np.float32(0.5))
    assert len(splits.train.target) == 4


def blobs(*, n: int = 10, seed: int = 0) -> Splits:
    """Gaussian vectors of a plug-in."""
    rng = np.random.default_rng(seed)
    return Splits(Samples(rng.standard_normal((n, 3))), Samples(rng.standard_normal((n, 3))))


@pytest.fixture
def catalogue(monkeypatch):
    """Return the catalogue of data sets, restored after the test."""
    monkeypatch.setattr(DATA_SETS, "_registered", {})
    monkeypatch.setattr(DATA_SETS, "_entries", None)
    return DATA_SETS


def test_a_registered_function_is_a_data_set(catalogue):
    catalogue.register("blobs", blobs)
    assert data_sets()["blobs"] is blobs
    assert len(load("blobs", n=4).train) == 4
    assert origin("blobs", {"n": 4}) == {"name": "blobs", "options": {"n": 4}}
    with pytest.raises(ValueError, match="options of blobs must be among n=10, seed=0; got 'm'"):
        load("blobs", m=4)
    with pytest.raises(ValueError, match="name must be a data set with every combination of its factors; got 'blobs'"):
        grid("blobs")
    with pytest.raises(ValueError, match="'toy_contrast' is taken"):
        catalogue.register("toy_contrast", blobs)


def test_a_registered_data_set_may_have_a_grid_and_a_stand_in(catalogue):
    known = catalogue["dsprites_redrawn"]
    catalogue.register("sprites", DataSet(blobs, grid=known.grid, stand_in=lambda options: ("blobs", {})))
    assert len(grid("sprites", size=32)) == 737_280
    assert origin("sprites", {"n": 3}) == {"name": "blobs", "options": {}}


def test_an_entry_point_of_an_installed_package_is_a_data_set(catalogue, monkeypatch):
    point = EntryPoint("blobs", f"{__name__}:blobs", "untwine.data")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == "untwine.data" else [])
    assert "blobs" in data_sets()
    assert load("blobs", n=4).test.x.shape == (4, 3)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (3, "data set 'mine' must be a DataSet or a function that returns Splits; got int"),
        (dict, "must be a DataSet or a function that returns Splits; got type"),
        (lambda n: None, "options of data set 'mine' must be keywords with defaults; got 'n'; write n=... in its signature"),
        (lambda **options: None, r"must be keywords with defaults; got '\*\*options'"),
    ],
)
def test_what_is_not_a_data_set_is_refused(catalogue, entry, sentence):
    with pytest.raises(TypeError, match=sentence):
        catalogue.register("mine", entry)


def test_a_data_set_must_return_splits(catalogue):
    catalogue.register("mine", lambda n=3: np.zeros((n, 2)))
    with pytest.raises(TypeError, match=r"data set 'mine' must return untwine.data.Splits; got ndarray"):
        load("mine")
