"""Features are found by name: of samples, data frames and AnnData, in memory and from a run folder."""

import json

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from small import small

import untwine as un
from untwine import Samples

NAMES = ("a", "b", "c", "d", "e")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)).astype("float32") * np.array([1, 5, 20, 1, 3], "float32")
GROUPS = np.arange(40) % 2
ORDER = [4, 2, 0, 1, 3]


@pytest.fixture(scope="module")
def method():
    return small("contrastive_pca").fit(Samples(X, groups=GROUPS, feature_names=NAMES))


def mixed(x=X):
    return Samples(x[:, ORDER], groups=GROUPS[: len(x)], feature_names=[NAMES[i] for i in ORDER])


class Items:
    """An object with a length and items that are objects of the same kind, which numpy reads one by one."""

    reads = 0

    def __init__(self, x):
        self.X, self.shape = x, x.shape

    def __len__(self):
        return self.X.shape[0]

    def __getitem__(self, index):
        type(self).reads += 1
        assert type(self).reads < 10, "read item by item"
        return self


def frame(x, names):
    return pd.DataFrame(x, columns=list(names))


def cells(x, names):
    obs, var = pd.DataFrame(index=[f"cell {i}" for i in range(x.shape[0])]), pd.DataFrame(index=list(names))
    return anndata.AnnData(x, obs=obs, var=var)


def test_features_in_another_order_get_the_same_codes(method):
    expected = method.transform(X)
    np.testing.assert_array_equal(method.transform(mixed()), expected)
    np.testing.assert_array_equal(method.transform(frame(X[:, ORDER], mixed().feature_names)), expected)
    np.testing.assert_array_equal(un.manipulate.remove(method, mixed()), un.manipulate.remove(method, X))
    assert method.score(mixed()) == method.score(Samples(X, groups=GROUPS))
    values = [un.evaluate(method, one, ["reconstruction"])["reconstruction.x"].value for one in (Samples(X), mixed())]
    assert values[0] == values[1]


def test_missing_features_are_named_and_others_are_left_out_with_a_warning(method):
    with pytest.raises(ValueError, match=r"^x must have the 5 features of the fit; it lacks 2: b, d; add or rename columns\.$"):
        method.encode(Samples(X[:, [0, 2, 4]], feature_names=("a", "c", "e")))
    more = Samples(np.c_[X[:, :1], X], feature_names=("depth", *NAMES))
    with pytest.warns(UserWarning, match=r"^x has features that the fit does not have, which are left out: depth\.$"):
        codes = method.transform(more)
    np.testing.assert_array_equal(codes, method.transform(X))
    many = Samples(np.zeros((2, 3000)), feature_names=[f"gene number {i}" for i in range(3000)])
    wide = small("pca").fit(Samples(RNG.normal(size=(9, 3000)), feature_names=[f"gene {i}" for i in range(3000)]))
    with pytest.raises(ValueError, match=r"and 29.. more; add or rename") as error:
        wide.encode(many)
    assert len(str(error.value)) < 400


def test_a_run_keeps_the_names_and_runs_without_names_keep_loading(method, tmp_path):
    method.save(tmp_path / "run")
    loaded = un.load_method(tmp_path / "run")
    assert loaded.feature_names_in_.tolist() == list(NAMES)
    np.testing.assert_array_equal(loaded.transform(mixed()), method.transform(X))
    small("contrastive_pca").fit(X, GROUPS).save(tmp_path / "plain")
    assert "feature_names" not in json.loads((tmp_path / "plain" / "method.json").read_text())
    plain = un.load_method(tmp_path / "plain")
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(plain.transform(frame(X, NAMES)), plain.transform(X))


def test_the_names_of_a_data_frame_are_feature_names_in_as_in_scikit_learn():
    method = small("contrastive_pca").fit(frame(X, NAMES), GROUPS)
    assert method.feature_names_in_.dtype == object
    assert method.feature_names_in_.tolist() == list(NAMES)
    assert not hasattr(method.fit(frame(X, range(5)), GROUPS), "feature_names_in_")  # columns that are no strings
    assert not hasattr(method.fit(X, GROUPS), "feature_names_in_")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_anndata_is_taken_with_its_names(kind, method, monkeypatch):
    adata = cells(kind(X), NAMES)
    monkeypatch.setattr(anndata.AnnData, "__getitem__", lambda self, index: pytest.fail("read item by item"))
    samples = Samples(adata)
    np.testing.assert_array_equal(samples.dense(), X)
    assert sparse.issparse(samples.x) == (kind is not np.asarray)
    assert samples.feature_names == NAMES
    assert samples.ids[3] == "cell 3"
    fitted = small("contrastive_pca").fit(adata, GROUPS)
    np.testing.assert_array_equal(fitted.transform(X), method.transform(X))
    shuffled = cells(kind(X[:, ORDER]), mixed().feature_names)
    np.testing.assert_array_equal(fitted.transform(shuffled), method.transform(X))


def test_what_numpy_would_read_item_by_item_is_refused_at_once():
    with pytest.raises(
        TypeError, match=r"^x must be an array, a data frame or AnnData; got Items, which is none; pass its values"
    ):
        small("pca").fit(Items(X))


def test_target_and_background_are_joined_by_name():
    both = Samples.contrast(target=mixed(X[:9]), background=Samples(X[9:], feature_names=NAMES, ids=np.arange(31)))
    np.testing.assert_array_equal(both.x, np.concatenate([X[9:], X[:9]]))
    assert both.feature_names == NAMES
    assert both.ids[-1] == "target 8"
    assert both[[30, 0]].ids.tolist() == ["30", "0"]
    with pytest.raises(ValueError, match=r"features of the background; it lacks 1: e"):
        Samples.contrast(target=Samples(X[:, :4], feature_names=NAMES[:4]), background=Samples(X, feature_names=NAMES))


@pytest.mark.parametrize(
    ("x", "names", "sentence"),
    [
        (X, ("a", "b"), "one name for each of the 5 features; got 2"),
        (X, ("a", "b", "a", "c", "d"), "must be different; got a more than once"),
        (np.zeros((2, 1, 8, 8)), ("a",), "must go with vectors"),
    ],
)
def test_wrong_names_are_refused(x, names, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples(x, feature_names=names)


def test_ids_must_be_one_for_each_sample():
    with pytest.raises(ValueError, match="ids must be one value for each of the 40 samples of x; got shape"):
        Samples(X, ids=["a"])
