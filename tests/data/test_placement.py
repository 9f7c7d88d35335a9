"""Data sets downloaded from a server on this machine, in the layouts of the real archives, and loaded from where they went."""

import errno
import gzip
import hashlib
import io
import shutil
import struct
import tarfile
import threading
import zipfile
from collections import namedtuple
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from file_server import Behaviour, FileServer
from PIL import Image
from scipy.io import savemat

import untwine as un
from untwine.data import data_sets, download, placement
from untwine.data.catalogue import DATA_SETS
from untwine.data.data_set import as_data_set
from untwine.data.readers import cifar10, mnist
from untwine.data.remote import Download, require_files
from untwine.data.sets.cars3d import cars3d
from untwine.data.sets.smallnorb import smallnorb

RNG = np.random.default_rng(0)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "PAUSE", 0.0)
    server = FileServer()
    yield server
    server.close()


@pytest.fixture
def offer(server, monkeypatch):
    """A function that serves contents by file name as a data set's download, with another check where the real one is large."""

    def offered(name, contents, check=None, data_set=None):
        data_set = data_set or name
        entry = as_data_set(DATA_SETS[data_set])
        old = next(one for one in entry.downloads if one.name == name)
        assert sorted(contents) == sorted(file.name for file in old.files)
        server.files.update({key: Behaviour(content) for key, content in contents.items()})
        files = tuple(replace(file, urls=(server.url + file.name,), size=None) for file in old.files)
        new = replace(old, files=files, check=check or old.check)
        downloads = tuple(new if one is old else one for one in entry.downloads)
        monkeypatch.setitem(DATA_SETS._registered, data_set, replace(entry, downloads=downloads))
        return new

    return offered


def png(array):
    content = io.BytesIO()
    Image.fromarray(array).save(content, "png")
    return content.getvalue()


def tarred(files):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return content.getvalue()


def digest(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def small_mnist(monkeypatch):
    """MNIST's four files with a few digits, whose checksums are taken as the right ones."""
    arrays = {
        "x_train": RNG.integers(0, 255, (200, 28, 28), np.uint8),
        "y_train": np.arange(200, dtype=np.uint8) % 10,
        "x_test": RNG.integers(0, 255, (50, 28, 28), np.uint8),
        "y_test": np.arange(50, dtype=np.uint8) % 10,
    }
    monkeypatch.setattr(mnist, "DIGESTS", {name: digest(mnist.as_idx(array)) for name, array in arrays.items()})
    return arrays, {f"{mnist.FILES[name]}.gz": gzip.compress(mnist.as_idx(array)) for name, array in arrays.items()}


def refuse(path, *_):
    raise PermissionError(errno.EACCES, "Permission denied", str(path))


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_mnist_is_downloaded_and_its_data_sets_load(offer, tmp_path, small_mnist):
    arrays, contents = small_mnist
    offer("mnist", contents, data_set="digit_style")
    (obtained,) = un.data.get("digit_style", tmp_path)
    assert names(tmp_path) == sorted(f"mnist/{file}" for file in mnist.FILES.values())
    assert {file.url.rpartition("/")[2]: (file.size, file.sha256) for file in obtained.files} == {
        name: (len(content), digest(content)) for name, content in contents.items()
    }
    splits = un.load("digit_style", size=16, folder=tmp_path)
    assert len(splits.train) > 0
    np.testing.assert_array_equal(mnist.read_mnist(tmp_path / "mnist")["x_train"], arrays["x_train"])
    assert un.data.get("digit_style", tmp_path, digits="embedded") == ()


def test_a_second_call_downloads_nothing(offer, server, tmp_path, small_mnist):
    offer("mnist", small_mnist[1], data_set="digit_style")
    un.data.get("digit_style", tmp_path)
    del server.requests[:]
    (again,) = un.data.get("digit_style", tmp_path)
    assert (again.folder, again.files) == (tmp_path / "mnist", ())
    assert server.requests == []


def test_a_wrong_checksum_leaves_nothing(offer, tmp_path, small_mnist):
    contents = small_mnist[1] | {"t10k-labels-idx1-ubyte.gz": gzip.compress(mnist.as_idx(np.zeros(50, np.uint8)))}
    offer("mnist", contents, data_set="digit_style")
    with pytest.raises(ValueError, match=r"MNIST's y_test must have SHA-256 .*; got "):
        un.data.get("digit_style", tmp_path)
    assert names(tmp_path) == []


def test_only_missing_files_are_added_and_nothing_is_overwritten(offer, tmp_path, small_mnist):
    offer("mnist", small_mnist[1], data_set="digit_style")
    mine = tmp_path / "mnist" / "notes.txt"
    mine.parent.mkdir()
    mine.write_text("mine")
    un.data.get("digit_style", tmp_path)
    assert names(tmp_path) == sorted(["mnist/notes.txt", *(f"mnist/{file}" for file in mnist.FILES.values())])
    other = tmp_path / "mnist" / mnist.FILES["y_test"]
    other.write_bytes(b"other")
    with pytest.raises(ValueError, match=r"t10k-labels-idx1-ubyte must be absent or the same file .* nothing was overwritten"):
        un.data.get("digit_style", tmp_path)
    assert (other.read_bytes(), mine.read_text()) == (b"other", "mine")
    other.unlink()
    un.data.get("digit_style", tmp_path)  # continues with what was downloaded
    mnist.read_mnist(tmp_path / "mnist")


def test_cifar10_is_unpacked_to_where_its_reader_looks(offer, tmp_path, monkeypatch):
    records = {split: RNG.integers(0, 10, (n, 3073), np.uint8) for split, n in (("train", 50), ("test", 10))}
    files = {f"data_batch_{i + 1}.bin": block.tobytes() for i, block in enumerate(np.split(records["train"], 5))}
    files |= {"test_batch.bin": records["test"].tobytes(), "batches.meta.txt": b"airplane\n", "readme.html": b"<html>"}
    right = {f"y_{split}": digest(one[:, 0].tobytes()) for split, one in records.items()}
    right |= {f"x_{split}": digest(one[:, 1:].tobytes()) for split, one in records.items()}
    monkeypatch.setattr(cifar10, "DIGESTS", right)
    archive = tarred({f"cifar-10-batches-bin/{name}": content for name, content in files.items()})
    offer("cifar10", {"cifar-10-binary.tar.gz": archive}, data_set="cifar_mnist")
    un.data.get("cifar10", tmp_path)
    assert names(tmp_path) == sorted(f"cifar10/cifar-10-batches-bin/{name}" for name in files)
    np.testing.assert_array_equal(cifar10.read_cifar10(tmp_path)["y_train"], records["train"][:, 0])


def test_cars3d_takes_its_cars_out_of_an_archive_with_more(offer, tmp_path):
    cars = {}
    for i in range(4):
        content = io.BytesIO()
        savemat(
            content, {"im": RNG.integers(0, 255, (16, 16, 3, 24, 4), np.uint8), "mask": np.zeros((16, 16, 24, 4), np.uint8)}
        )
        cars[f"car_{i:03}_mesh.mat"] = content.getvalue()
    more = {"data/cars/list.txt": b"car_000_mesh\n", "data/sprites/sprites_1.mat": b"x", "data/shapes48.mat": b"x"}
    archive = tarred({f"data/cars/{name}": content for name, content in cars.items()} | more)
    offer("cars3d", {"nips2015-analogy-data.tar.gz": archive}, partial(require_files, counts={"*.mat": 4}))
    un.data.get("cars3d", tmp_path)
    assert names(tmp_path) == sorted(f"cars3d/{name}" for name in (*cars, "list.txt"))
    assert len(cars3d(size=16, folder=tmp_path).train) + len(cars3d(size=16, folder=tmp_path).test) == 4 * 96


def test_coil20_comes_from_a_zip(offer, tmp_path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for i in range(1, 4):
            for j in range(5):
                archive.writestr(f"coil-20-proc/obj{i}__{j}.png", png(np.full((16, 16), 10 * i + j, np.uint8)))
    offer("coil20", {"coil-20-proc.zip": content.getvalue()}, partial(require_files, counts={"**/obj*__*.png": 15}))
    un.data.get("coil20", tmp_path)
    assert "coil20/coil-20-proc/obj1__0.png" in names(tmp_path)
    splits = un.load("coil20", size=16, n_test=3, folder=tmp_path)
    assert (len(splits.train), len(splits.test)) == (12, 3)


def test_smallnorb_s_matrices_are_unpacked_and_checked(offer, tmp_path):
    def matrix(array, magic):
        shape = (*array.shape, *[1] * (3 - array.ndim))
        return gzip.compress(struct.pack(f"<Ii{len(shape)}i", magic, array.ndim, *shape) + array.tobytes())

    contents = {}
    for split, instances in (("5x46789x9x18x6x2x96x96-training", (4, 6)), ("5x01235x9x18x6x2x96x96-testing", (0, 1))):
        levels = np.array([(c, i, e, a, 0) for c in range(5) for i in instances for e in range(2) for a in (0, 2)], "<i4")
        images = RNG.integers(0, 255, (len(levels), 2, 96, 96), np.uint8)
        contents[f"smallnorb-{split}-dat.mat.gz"] = matrix(images, 0x1E3D4C55)
        contents[f"smallnorb-{split}-cat.mat.gz"] = matrix(levels[:, 0].copy(), 0x1E3D4C54)
        contents[f"smallnorb-{split}-info.mat.gz"] = matrix(levels[:, 1:].copy(), 0x1E3D4C54)
    offer("smallnorb", contents)
    un.data.get("smallnorb", tmp_path)
    assert names(tmp_path) == sorted(f"smallnorb/{name.removesuffix('.gz')}" for name in contents)
    splits = smallnorb(size=16, folder=tmp_path)
    assert (len(splits.train), len(splits.test)) == (40, 40)


def test_edges2shoes_takes_its_pairs(offer, tmp_path):
    pair = Image.fromarray(RNG.integers(0, 255, (16, 32, 3), np.uint8))
    content = io.BytesIO()
    pair.save(content, "jpeg")
    files = {f"edges2shoes/{split}/{i}_AB.jpg": content.getvalue() for split in ("train", "val") for i in range(3)}
    offer(
        "edges2shoes", {"edges2shoes.tar.gz": tarred(files)}, partial(require_files, counts={"train/*.jpg": 3, "val/*.jpg": 3})
    )
    un.data.get("edges2shoes", tmp_path)
    assert names(tmp_path) == sorted(files)
    assert len(un.load("edges2shoes", size=16, folder=tmp_path).train) == 6


def test_a_page_in_the_place_of_an_npz_or_h5_file_is_found_out(offer, tmp_path):
    offer("dsprites", {"dsprites_ndarray_co1sh3sc6or40x32y32_64x64.npz": b"<html>sign in</html>"})
    with pytest.raises(ValueError, match="must hold an array imgs of uint8; it cannot be read"):
        un.data.get("dsprites", tmp_path)
    offer("shapes3d", {"3dshapes.h5": b"<html>sign in</html>"})
    with pytest.raises(ValueError, match="must be an HDF5 file; it begins with 3c68746d"):
        un.data.get("shapes3d", tmp_path)
    assert names(tmp_path) == []


def test_the_kind_of_mpi3d_decides_what_is_downloaded(offer, tmp_path):
    content = io.BytesIO()
    np.savez(content, allow_pickle=False, images=np.zeros((4, 64, 64, 3), np.uint8))
    offer("mpi3d_real", {"mpi3d_real.npz": content.getvalue()}, data_set="mpi3d")
    un.data.get("mpi3d", tmp_path, kind="real")
    assert names(tmp_path) == ["mpi3d/mpi3d_real.npz"]
    with pytest.raises(
        ValueError, match=r"mpi3d must be placed by hand in .*; place there: real3d_complicated_shapes_ordered.npz"
    ):
        un.data.get("mpi3d", tmp_path, kind="real_complex")


def test_two_processes_at_once_download_once(offer, server, tmp_path, small_mnist):
    one = offer("mnist", small_mnist[1], data_set="digit_style")
    for file in server.files.values():
        file.pause = 0.02
    results = []
    threads = [threading.Thread(target=lambda: results.append(placement.obtain(one, tmp_path))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(result.files) for result in results) == [0, 0, 4]
    assert len(server.requests) == 4
    assert names(tmp_path) == sorted(f"mnist/{file}" for file in mnist.FILES.values())


def test_the_folder_of_locks_may_vanish_at_any_moment(tmp_path, monkeypatch):
    make, vanished = Path.mkdir, []

    def vanishes(folder, *arguments, **options):
        make(folder, *arguments, **options)
        if len(vanished) < 3:
            vanished.append(folder)
            folder.rmdir()

    monkeypatch.setattr(Path, "mkdir", vanishes)
    with placement._locked(tmp_path / ".downloads" / "one.lock"):
        assert names(tmp_path) == [".downloads/one.lock"]
    assert len(vanished) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_crash_before_the_end_leaves_the_target_untouched_and_the_next_call_ends_it(
    offer, server, tmp_path, small_mnist, monkeypatch
):
    one = offer("mnist", small_mnist[1], data_set="digit_style")

    def crash(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(placement, "unpack", crash)
        with pytest.raises(KeyboardInterrupt):
            placement.obtain(one, tmp_path)
    assert not (tmp_path / "mnist").exists()
    assert len(server.requests) == 4
    placement.obtain(one, tmp_path)
    assert len(server.requests) == 4  # what was downloaded is kept
    mnist.read_mnist(tmp_path / "mnist")
    assert names(tmp_path) == sorted(f"mnist/{file}" for file in mnist.FILES.values())


def test_a_folder_that_cannot_be_written_and_a_full_one_are_refused_before_anything_is_asked(
    offer, server, tmp_path, small_mnist, monkeypatch
):
    one = offer("mnist", small_mnist[1], data_set="digit_style")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"the data folder must be writable; .* cannot be written \(not a directory\)"):
        placement.obtain(one, tmp_path / "file" / "data")
    with pytest.raises(ValueError, match="the data folder must be writable"):
        placement.obtain(one, "/proc/untwine")
    with monkeypatch.context() as patch:
        patch.setattr(placement.os, "open", refuse)  # what root is never refused
        with pytest.raises(ValueError, match=r"cannot be written \(permission denied\)"):
            placement.obtain(one, tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: namedtuple("Usage", "free")(1_000_000))
    large = replace(one, files=tuple(replace(file, size=1_000_000) for file in one.files))
    with pytest.raises(ValueError, match="must have room for 4 MB; got 1 MB; free some"):
        placement.obtain(large, tmp_path)
    assert server.requests == []


def test_what_must_be_placed_by_hand_is_said_with_source_and_licence(tmp_path):
    for name in ("celeba", "affectnet", "rafd", "brats", "chairs3d", "kth"):
        with pytest.raises(
            ValueError, match=f"{name} must be placed by hand in {tmp_path}; nothing was downloaded; .* Source: "
        ):
            un.data.get(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_photographs_are_asked_for_beside_a_download(offer, tmp_path, small_mnist):
    offer("mnist", small_mnist[1], data_set="grassy_mnist")
    digits, grass = un.data.get("grassy_mnist", tmp_path)
    assert (len(digits.files), grass.by_hand.partition(",")[0]) == (4, "photographs of grass")
    (tmp_path / "grass").mkdir()
    for name in "ab":
        (tmp_path / "grass" / f"{name}.png").write_bytes(png(np.zeros((70, 70, 3), np.uint8)))
    assert un.data.get("grassy_mnist", tmp_path)[1].by_hand == ""


def test_unknown_names_and_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match="name must be a data set or a download; got 'mnst'; did you mean 'mnist'"):
        un.data.get("mnst", tmp_path)
    with pytest.raises(ValueError, match=r"options of mpi3d must be among kind, .*; got 'sort'; drop it"):
        un.data.get("mpi3d", tmp_path, sort="toy")
    with pytest.raises(ValueError, match="the download 'mnist' has no options; got kind"):
        un.data.get("mnist", tmp_path, kind="x")


def test_every_download_goes_to_a_public_address_and_below_the_data_folder():
    for name in data_sets():
        for one in as_data_set(DATA_SETS[name]).downloads:
            assert isinstance(one, Download)
            assert one.folder
            assert ".." not in one.folder
            assert bool(one.files) != bool(one.by_hand)
            assert all(url.startswith(("https://", "http://www.scottreed.info/")) for file in one.files for url in file.urls)
            assert one.licence
