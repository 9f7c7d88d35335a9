import numpy as np
import pytest
from celeba_files import NAMES, attributes, make_folder, make_packed

from untwine.data import load


def rows_of(x):
    side = x.shape[-1]
    return np.round(np.median(x[:, 0, side * 5 // 8 : side * 6 // 8, side // 4 : side * 3 // 4], axis=(1, 2)) / 2).astype(int)


@pytest.mark.parametrize("form", ["folder", "packed"])
def test_faces_come_with_their_attributes(tmp_path, form):
    if form == "folder":
        make_folder(tmp_path, 60)
    else:
        make_packed(tmp_path / "celeba_some.npz", 60)
    train, test = load("celeba", folder=tmp_path)
    assert (len(train), len(test)) == (54, 6)
    assert train.factor_names == tuple(NAMES)
    columns = attributes(60)
    rows = [rows_of(part.x) for part in (train, test)]
    assert sorted([*rows[0], *rows[1]]) == list(range(60))
    for part, numbers in zip((train, test), rows, strict=True):
        np.testing.assert_array_equal(part.factors, columns[numbers])
    few = load("celeba", folder=tmp_path, n_train=5, n_test=2, size=32)
    assert (len(few.train), len(few.test), few.train.shape) == (5, 2, (3, 32, 32))
    assert set(rows_of(few.test.x)) <= set(rows[1])


def test_celebas_own_partition_decides_where_it_is_there(tmp_path):
    make_folder(tmp_path, 40, partition=[0] * 25 + [1] * 5 + [2] * 10)
    train, test = load("celeba", folder=tmp_path, test=0.5)
    np.testing.assert_array_equal(rows_of(train.x), np.arange(30))
    np.testing.assert_array_equal(rows_of(test.x), np.arange(30, 40))


def test_one_kind_of_faces_is_not_enough(tmp_path):
    make_folder(tmp_path, 10, partition=[0] * 10)
    with pytest.raises(ValueError, match="expected faces for training and for testing, but has only one kind"):
        load("celeba", folder=tmp_path)
