"""Files that are whole or not there at all, and that can only hold numbers and text."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor


def write(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file aside, sync it and rename it, so that no reader and no crash ever sees half of it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
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


def folder(path: str | os.PathLike[str]) -> None:
    """Make a folder that files are going to be written in, or say now why that cannot be."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        reason = "" if os.access(path, os.W_OK) else "permission denied"
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    if reason:
        raise ValueError(f"{path} expected to be a folder that can be written in, but it cannot ({reason}); choose another.")


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write JSON that any reader accepts: NaN and infinity are refused."""
    write(path, json.dumps(content, indent=2, allow_nan=False) + "\n")


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a JSON object, or say in one sentence why that cannot be done."""
    try:
        content = json.loads(Path(path).read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path} expected JSON, but it is truncated or not JSON ({error}); restore it or make the run again."
        ) from None
    if not isinstance(content, dict):
        raise ValueError(
            f"{path} expected a JSON object, but holds a {type(content).__name__}; restore it or make the run again."
        )
    return content


def write_tensors(path: str | os.PathLike[str], tensors: Mapping[str, Tensor], notes: Mapping[str, Any] | None = None) -> str:
    """Write tensors and notes as one safetensors file, and return its SHA-256."""
    from safetensors.torch import save

    content = save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, {"notes": json.dumps(notes or {})}
    )
    write(path, content)
    return hashlib.sha256(content).hexdigest()


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote; a file that is not whole is refused in one sentence."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            notes = json.loads((file.metadata() or {}).get("notes", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, notes  # noqa: SIM118 (not a mapping)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} expected whole safetensors, but it is truncated or damaged ({error}); restore it.") from None


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
