"""Files are whole or not there at all."""

import json
import os
import stat
import threading

import pytest
import torch

from untwine.runs import files


def listing(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(params=["replace", "fsync", "chmod", "encode"])
def failing_content(request, monkeypatch):
    """Make one step of a write fail; return what to write."""
    if request.param == "encode":
        return "a lone surrogate \ud800"

    def fail(*arguments, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, request.param, fail)
    return "new"


def test_a_write_that_fails_leaves_the_old_file_and_no_temporary_one(tmp_path, failing_content):
    (tmp_path / "file").write_text("old")
    with pytest.raises((OSError, UnicodeEncodeError)):
        files.write(tmp_path / "file", failing_content)
    assert listing(tmp_path) == {"file": b"old"}


def test_an_interrupt_leaves_no_temporary_file_either(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path / "file", b"new")
    assert listing(tmp_path) == {}


def test_write_makes_the_folders_and_leaves_a_readable_file(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    files.write(path, "héllo")
    files.write(path, b"\x00\xff")
    assert listing(path.parent) == {"file": b"\x00\xff"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_reader_never_sees_half_a_file(tmp_path):
    path, contents = tmp_path / "file", [bytes([i]) * 200_000 for i in range(20)]
    files.write(path, contents[0])
    contents_read, done = set(), threading.Event()

    def read():
        while not done.is_set():
            contents_read.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for content in contents:
        files.write(path, content)
    done.set()
    reader.join()
    assert contents_read <= set(contents)


def test_json_refuses_what_other_readers_would(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "file", {"value": float("nan")})
    assert listing(tmp_path) == {}
    files.write_json(tmp_path / "file", {"value": [1, None, "x"]})
    assert files.read_json(tmp_path / "file") == {"value": [1, None, "x"]}
    assert json.loads((tmp_path / "file").read_text())


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"a": }', b"[" * 100_000, b"not json"])
def test_a_file_that_is_not_json_is_refused_with_one_error_message(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match=r"^.*file must be JSON; it is truncated or something else \(.*\); restore it"):
        files.read_json(tmp_path / "file")


def test_tensors_and_notes_come_back_bit_for_bit(tmp_path):
    tensors = {
        "double": torch.randn(3, 2, dtype=torch.float64),
        "bytes": torch.arange(5, dtype=torch.uint8),
        "transposed": torch.randn(3, 4).T,
        "scalar": torch.tensor(1e-45),
        "not finite": torch.tensor([float("nan"), float("inf")]),
    }
    digest = files.write_tensors(tmp_path / "file", tensors, {"at": {"step": 3}, "list": [1.5, "x"]})
    assert digest == files.sha256(tmp_path / "file")
    read, notes = files.read_tensors(tmp_path / "file")
    assert notes == {"at": {"step": 3}, "list": [1.5, "x"]}
    assert set(read) == set(tensors)
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert read[name].contiguous().numpy().tobytes() == tensor.contiguous().numpy().tobytes(), name


@pytest.mark.parametrize("length", [0, 4, 8, 60, -1])
def test_truncated_tensors_are_refused_with_one_error_message(tmp_path, length):
    files.write_tensors(tmp_path / "file", {"x": torch.arange(100)})
    (tmp_path / "file").write_bytes((tmp_path / "file").read_bytes()[:length])
    with pytest.raises(
        ValueError, match=r"file must be a whole safetensors file; it is truncated or damaged \(.*\); restore it\."
    ):
        files.read_tensors(tmp_path / "file")
