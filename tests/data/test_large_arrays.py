import sys

import numpy as np
import pytest

from untwine.data.readers import large_arrays as module
from untwine.data.readers.large_arrays import iterate_blocks, load_array, open_array


@pytest.fixture
def array():
    return np.random.default_rng(0).integers(0, 256, (200, 4, 3), dtype=np.uint8)


def write(path, array, **others):
    if path.suffix == ".npy":
        np.save(path, array)
    else:
        (np.savez_compressed if "compressed" in path.name else np.savez)(path, images=array, **others)
    return path


@pytest.mark.parametrize("name", ["plain.npz", "compressed.npz", "one.npy"])
@pytest.mark.parametrize("block_bytes", [1, 50, 1000, 1 << 24])
def test_samples_are_in_the_requested_order_for_any_block_size(tmp_path, array, name, block_bytes, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", block_bytes)
    shape, read = open_array(write(tmp_path / name, array), "images")
    assert shape == array.shape
    for indices in ([199, 0, 7, 7, 3], [5], list(range(200)), list(range(150, 100, -1))):
        np.testing.assert_array_equal(read(np.array(indices)), array[indices])


def test_blocks_cover_the_array_once(tmp_path, array, monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 100)
    path = write(tmp_path / "compressed.npz", array)
    blocks = list(iterate_blocks(path, "images"))
    assert [start for start, _ in blocks] == list(range(0, 200, 8))
    np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), array)


def test_other_arrays_of_the_file_are_never_read(tmp_path, array):
    path = tmp_path / "compressed.npz"
    np.savez(path, images=array, metadata=np.array([{"title": 1}], dtype=object), labels=np.arange(3.0))
    np.testing.assert_array_equal(open_array(path, "images")[1](np.array([2])), array[[2]])
    np.testing.assert_array_equal(load_array(path, "labels"), np.arange(3.0))
    with pytest.raises(ValueError, match="must hold an array metadata; it cannot be read"):
        load_array(path, "metadata")


def test_h5_files_are_read_by_h5py(tmp_path, array, monkeypatch):
    real = pytest.importorskip("h5py")  # in the dev extra
    path = tmp_path / "some.h5"
    with real.File(path, "w") as file:
        file["images"], file["labels"], file["wide"] = array, np.arange(3.0), array.astype(np.int64)
        file.create_dataset("compressed", data=array, chunks=(7, 4, 1), compression="gzip")
    for name in ("images", "compressed"):
        for block_bytes in (1, 50, 1 << 24):
            monkeypatch.setattr(module, "BLOCK_BYTES", block_bytes)
            shape, read = open_array(path, name)
            assert shape == array.shape
            for indices in ([9, 3, 3], [199, 0], list(range(150, 100, -1))):
                np.testing.assert_array_equal(read(np.array(indices)), array[indices])
    np.testing.assert_array_equal(load_array(path, "labels"), np.arange(3.0))
    with pytest.raises(ValueError, match="must hold an array missing; it cannot be read"):
        open_array(path, "missing")
    with pytest.raises(ValueError, match="must hold uint8 as wide; got int64"):
        open_array(path, "wide")


def test_without_h5py_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"some.h5 needs the package h5py; install it .*\.npz\.$") as error:
        open_array(tmp_path / "some.h5", "images")
    assert "\n" not in str(error.value)


def test_damaged_files_and_other_dtypes_are_refused(tmp_path, array):
    path = write(tmp_path / "compressed.npz", array)
    with pytest.raises(ValueError, match="must hold an array imgs of uint8; it cannot be read"):
        open_array(path, "imgs")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        open_array(path, "images")
    write(tmp_path / "wide.npz", array.astype(np.int64))
    with pytest.raises(ValueError, match=r"it holds int64 of shape \(200, 4, 3\)"):
        open_array(tmp_path / "wide.npz", "images")
    write(tmp_path / "wide.npy", array.astype(np.int64))
    with pytest.raises(ValueError, match="must hold uint8 as images; got int64"):
        open_array(tmp_path / "wide.npy", "images")
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(ValueError, match=r"bad.npy must hold an array; it cannot be read"):
        open_array(tmp_path / "bad.npy", "images")
