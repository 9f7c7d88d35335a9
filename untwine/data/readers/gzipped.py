"""Binary files that may be compressed by gzip."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path


def read_bytes(path: Path, kind: str) -> bytes:
    """Return the content of a plain or gzipped file; `kind` says in the error message what the file must be."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} must be {kind}; it cannot be read ({error}); download it again.") from None
