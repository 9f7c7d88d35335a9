import numpy as np
import pytest
from celeba_files import NAMES, attributes, indices_of, make_folder, make_packed

from untwine.data import load


@pytest.mark.parametrize("form", ["folder", "npz"])
def test_faces_have_their_attributes_as_factors(tmp_path, form):
    if form == "folder":
        make_folder(tmp_path, 60)
    else:
        make_packed(tmp_path / "celeba_some.npz", 60)
    train, test = load("celeba", folder=tmp_path)
    assert (len(train), len(test)) == (54, 6)
    assert train.factor_names == tuple(NAMES)
    columns = attributes(60)
    indices = [indices_of(split.x) for split in (train, test)]
    assert sorted([*indices[0], *indices[1]]) == list(range(60))
    for split, own in zip((train, test), indices, strict=True):
        np.testing.assert_array_equal(split.factors, columns[own])
    few = load("celeba", folder=tmp_path, n_train=5, n_test=2, size=32)
    assert (len(few.train), len(few.test), few.train.shape) == (5, 2, (3, 32, 32))
    assert set(indices_of(few.test.x)) <= set(indices[1])


def test_celebas_own_partition_takes_precedence(tmp_path):
    make_folder(tmp_path, 40, partition=[0] * 25 + [1] * 5 + [2] * 10)
    train, test = load("celeba", folder=tmp_path, test=0.5)
    np.testing.assert_array_equal(indices_of(train.x), np.arange(30))
    np.testing.assert_array_equal(indices_of(test.x), np.arange(30, 40))


def test_an_empty_split_is_refused(tmp_path):
    make_folder(tmp_path, 10, partition=[0] * 10)
    with pytest.raises(ValueError, match="must list training and test faces; got 10 and 0"):
        load("celeba", folder=tmp_path)
