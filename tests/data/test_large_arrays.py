import sys

import numpy as np
import pytest

from untwine.data.readers import stored_rows as module
from untwine.data.readers.stored_rows import blocks, small_array, stored_rows


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 256, (200, 4, 3), dtype=np.uint8)


def write(path, array, **others):
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        (np.savez_compressed if "packed" in path.name else np.savez)(path, images=array, **others)
    return path


@pytest.mark.parametrize("name", ["plain.npz", "packed.npz", "one.npy"])
@pytest.mark.parametrize("at_once", [1, 50, 1000, 1 << 24])
def test_chosen_rows_come_in_the_order_asked_for_whatever_the_block(tmp_path, array, name, at_once, monkeypatch):
    monkeypatch.setattr(module, "BYTES_AT_ONCE", at_once)
    shape, read = stored_rows(write(tmp_path / name, array), "images")
    assert shape == array.shape
    for rows in ([199, 0, 7, 7, 3], [5], list(range(200)), list(range(150, 100, -1))):
        np.testing.assert_array_equal(read(np.array(rows)), array[rows])


def test_blocks_go_through_everything_once(tmp_path, array, monkeypatch):
    monkeypatch.setattr(module, "BYTES_AT_ONCE", 100)
    path = write(tmp_path / "packed.npz", array)
    parts = list(blocks(path, "images"))
    assert [start for start, _ in parts] == list(range(0, 200, 8))
    np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), array)


def test_other_arrays_of_the_file_may_be_anything_and_are_never_read(tmp_path, array):
    path = tmp_path / "packed.npz"
    np.savez(path, images=array, metadata=np.array([{"title": 1}], dtype=object), labels=np.arange(3.0))
    np.testing.assert_array_equal(stored_rows(path, "images")[1](np.array([2])), array[[2]])
    np.testing.assert_array_equal(small_array(path, "labels"), np.arange(3.0))
    with pytest.raises(ValueError, match="expected an array metadata, but it cannot be read"):
        small_array(path, "metadata")


def test_h5_files_are_read_by_h5py(tmp_path, array, monkeypatch):
    real = pytest.importorskip("h5py")  # of the dev extra
    path = tmp_path / "some.h5"
    with real.File(path, "w") as file:
        file["images"], file["labels"], file["wide"] = array, np.arange(3.0), array.astype(np.int64)
        file.create_dataset("packed", data=array, chunks=(7, 4, 1), compression="gzip")
    for name in ("images", "packed"):
        for at_once in (1, 50, 1 << 24):
            monkeypatch.setattr(module, "BYTES_AT_ONCE", at_once)
            shape, read = stored_rows(path, name)
            assert shape == array.shape
            for rows in ([9, 3, 3], [199, 0], list(range(150, 100, -1))):
                np.testing.assert_array_equal(read(np.array(rows)), array[rows])
    np.testing.assert_array_equal(small_array(path, "labels"), np.arange(3.0))
    with pytest.raises(ValueError, match="expected an array images, but it cannot be read"):
        stored_rows(path, "images")
    with pytest.raises(ValueError, match="expected uint8 as wide, but holds int64"):
        stored_rows(path, "wide")


def test_without_h5py_one_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"some.h5 needs the package h5py; install it .*\.npz\.$") as error:
        stored_rows(tmp_path / "some.h5", "images")
    assert "\n" not in str(error.value)


def test_damaged_or_other_files_get_their_sentence(tmp_path, array):
    path = write(tmp_path / "packed.npz", array)
    with pytest.raises(ValueError, match="expected an array imgs of uint8, but it cannot be read"):
        stored_rows(path, "imgs")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        stored_rows(path, "images")
    write(tmp_path / "wide.npz", array.astype(np.int64))
    with pytest.raises(ValueError, match=r"it holds int64 of shape \(200, 4, 3\)"):
        stored_rows(tmp_path / "wide.npz", "images")
    write(tmp_path / "wide.npy", array.astype(np.int64))
    with pytest.raises(ValueError, match="expected uint8 as images, but holds int64"):
        stored_rows(tmp_path / "wide.npy", "images")
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match=r"bad.npy must be an array, but it cannot be read"):
        stored_rows(tmp_path / "bad.npy", "images")
