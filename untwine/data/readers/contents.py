"""The content of files as bytes and as text: unpacked within bounds, recognised where it is of another kind, decoded."""

from __future__ import annotations

import codecs
import gzip
import os
import zlib
from pathlib import Path

from untwine.data.readers import notes

LEAST_BOUND = 2**28
LARGEST_RATIO = 1032  # of deflate: what a byte can become at most
KINDS = {  # by their first bytes
    b"PK\x03\x04": "a zip archive, an Excel workbook or an .npz",
    b"PAR1": "Parquet",
    b"ARROW1": "Feather",
    b"\x89HDF": "HDF5",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"%PDF": "a PDF document",
    b"\x93NUMPY": "an array of numpy (.npy)",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x80\x04": "a Python pickle, which is never read",
    b"\x80\x05": "a Python pickle, which is never read",
}


def largest_content() -> int:
    """Return how many bytes a packed file may unpack to: half of this machine's memory."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        memory = 2**33
    return max(LEAST_BOUND, memory // 2)


def check_unpacked(path: Path, size: int, advice: str) -> None:
    """Refuse a packed file that unpacks to more than the machine can hold."""
    bound = largest_content()
    if size > bound:
        raise ValueError(
            f"{path} must unpack to at most {bound / 2**30:.2g} GiB, half of this machine's memory; it unpacks to more; "
            f"{advice}."
        )


def read_text(path: Path, encoding: str | None) -> str:
    """Return the text of a file, gzipped or not: UTF-8 or, with a byte order mark, UTF-16, unless the encoding is given."""
    content = _unpacked(path)
    if not content.strip():
        raise ValueError(f"{path} must have rows of numbers; it is empty; add rows.")
    for start, kind in KINDS.items():
        if content.startswith(start):
            raise ValueError(f"{path} must be a table of text; its content is {kind}; correct its ending, or save it as text.")
    if encoding is None and content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
        notes.say(f"{path} is text in UTF-16, by its byte order mark.")
    try:
        text = content.decode(encoding or "utf-8-sig")
    except LookupError:
        raise ValueError(f"encoding must be one that Python knows; got {encoding!r}; write 'latin-1', for instance.") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path} must be text in {(encoding or 'utf-8').upper()}; line {line} is not; save it as UTF-8, or name its "
            "encoding, "
            "such as encoding='latin-1'."
        ) from None
    if "\x00" in text:
        raise ValueError(
            f"{path} must be a table of text; it has null characters; save it as UTF-8, or name its encoding, such as "
            "encoding='utf-16-le'."
        )
    return text


def _unpacked(path: Path) -> bytes:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed:
        if path.suffix.lower() == ".gz":
            raise ValueError(f"{path} must be compressed by gzip, as its ending says; it is not; correct its ending.")
        return path.read_bytes()
    try:
        if path.stat().st_size * LARGEST_RATIO > largest_content():
            _count(path)
        with gzip.open(path) as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} must be complete; it cannot be unpacked ({error}); compress it again.") from None


def _count(path: Path) -> None:
    """Unpack a file without keeping anything, up to the bound."""
    size = 0
    with gzip.open(path) as file:
        while block := file.read(2**20):
            size += len(block)
            check_unpacked(path, size, "save it as Parquet, or take fewer rows or columns")
