"""Files that are whole or not there at all, and that hold only numbers and text."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from untwine._typing import Array

CHUNK = 2**22  # elements of a tensor that are written at a time
DTYPES = {  # as safetensors names them
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def write(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file aside, sync it and rename it, so that no reader and no crash ever sees half of it."""
    with atomic(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that is written aside, synced and renamed at the end; where that is not reached, nothing is there."""
    with atomic_path(path) as aside, open(aside, "wb") as file:
        yield file


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Name a file to write aside, which is synced and renamed at the end; where that is not reached, nothing is there."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    try:
        yield Path(aside)
        with open(aside, "rb+") as file:
            os.fsync(file.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder to write in, or say now why it cannot be written."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(path, os.W_OK) else "permission denied"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        raise ValueError(f"{path} must be a folder that can be written; it cannot ({reason}); choose another.")


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write JSON that any reader accepts: NaN and infinity are refused."""
    write(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object, or say in one sentence why it cannot be read."""
    try:
        content = json.loads(Path(path).read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path} must be JSON; it is truncated or something else ({error}); restore it or make the run again."
        ) from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must be a JSON object; got a {type(content).__name__}; restore it or make the run again.")
    return content


def write_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write arrays as compressed npz without objects."""
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **arrays)
    write(path, content.getvalue())


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Read what `write_arrays` wrote; objects are refused, never unpickled."""
    damaged = (OSError, EOFError, AttributeError, KeyError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except damaged as error:
        raise ValueError(str(error)) from None


def write_tensors(path: str | os.PathLike[str], tensors: Mapping[str, Tensor], notes: Mapping[str, Any] | None = None) -> str:
    """Write tensors and notes as one safetensors file, tensor by tensor, and return its SHA-256."""
    digest = hashlib.sha256()
    with atomic(path) as file:
        for chunk in _safetensors(tensors, notes or {}):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def tensors_sha256(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 that the file of `write_tensors` would have."""
    digest = hashlib.sha256()
    for chunk in _safetensors(tensors, {}):
        digest.update(chunk)
    return digest.hexdigest()


def _safetensors(tensors: Mapping[str, Tensor], notes: Mapping[str, Any]) -> Iterator[bytes | memoryview]:
    """Yield the content of a safetensors file: the length of a JSON header, the header, and the tensors' bytes one by one.

    The format's own library joins them all in memory first, for which embedding tables may be too large.
    """
    header: dict[str, Any] = {"__metadata__": {"notes": json.dumps(notes)}}
    # The widest dtypes come first, so that every tensor is aligned to its element size.
    order = sorted(tensors, key=lambda name: (-tensors[name].element_size(), name))
    end = 0
    for name in order:
        tensor, start = tensors[name], end
        end += tensor.numel() * tensor.element_size()
        header[name] = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    yield len(text).to_bytes(8, "little") + text
    for name in order:
        flat = tensors[name].detach().cpu().contiguous().reshape(-1)
        for start in range(0, len(flat), CHUNK):
            yield flat[start : start + CHUNK].view(torch.uint8).numpy().data


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote, or say in one sentence why it cannot be read."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            notes = json.loads((file.metadata() or {}).get("notes", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118 (not a mapping)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{path} must be a whole safetensors file; it is truncated or damaged ({error}); restore it."
        ) from None


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
