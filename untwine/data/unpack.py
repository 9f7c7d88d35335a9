"""Archives unpacked safely: no path outside the folder, no links or devices, nothing overwritten, and bounded in size."""

from __future__ import annotations

import gzip
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Protocol

CHUNK = 1 << 20
DAMAGED = (OSError, EOFError, NotImplementedError, RuntimeError, tarfile.TarError, zipfile.BadZipFile, zlib.error)
TAR = (".tar", ".tar.gz", ".tgz")


class Readable(Protocol):
    """What gives the content of a member piece by piece."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, at most `size` of them, and none at the end."""
        ...


# The path of a member in its archive, and its content; the content must be read before the next member.
Member = tuple[str, Readable]


def is_archive(name: str) -> bool:
    """Return whether a file of this name is unpacked."""
    return name.endswith((*TAR, ".zip", ".gz"))


def unpack(path: Path, folder: Path, limits: tuple[int, int], within: str = "") -> None:
    """Unpack a .zip, .tar, .tar.gz or .gz file into a folder.

    Parameters
    ----------
    path
        The archive.
    folder
        An existing folder; a file that is there is not overwritten.
    limits
        The largest number of members, and of bytes in all of them.
    within
        The folder in the archive whose files are taken, without that folder; by default all files.
    """
    budget = _Budget(path, limits)
    try:
        for name, content in _members(path, budget):
            inside = _relative(path, name, within)
            target = None if inside is None else folder.joinpath(*inside.parts)
            if target is not None:
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(target, content, budget)
            else:
                budget.skip(content)
    except FileExistsError as error:
        raise ValueError(f"{path} must have each file once; got {error.filename} twice; nothing was overwritten.") from None
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of the archive
        raise ValueError(f"{path} must be a whole archive; it cannot be read ({error}); download it again.") from None


class _Budget:
    """What may still be unpacked."""

    def __init__(self, path: Path, limits: tuple[int, int]) -> None:
        self.path, self.limits = path, limits
        self.members, self.size = limits

    def count(self) -> None:
        self.members -= 1
        if self.members < 0:
            raise ValueError(f"{self.path} must have at most {self.limits[0]:,} members; got more; nothing was kept of it.")

    def read(self, content: Readable) -> bytes:
        chunk = content.read(CHUNK)
        self.size -= len(chunk)
        if self.size < 0:
            raise ValueError(f"{self.path} must unpack to at most {self.limits[1]:,} bytes; got more; nothing was kept of it.")
        return chunk

    def skip(self, content: Readable) -> None:
        while self.read(content):
            pass


def _members(path: Path, budget: _Budget) -> Iterator[Member]:
    if path.name.endswith(".zip"):
        return _zip_members(path, budget)
    return _tar_members(path, budget) if path.name.endswith(TAR) else _gzip_member(path, budget)


def _zip_members(path: Path, budget: _Budget) -> Iterator[Member]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            budget.count()
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _not_a_file(path, member.filename)
            if not member.is_dir():
                with archive.open(member) as content:
                    yield member.filename, content


def _tar_members(path: Path, budget: _Budget) -> Iterator[Member]:
    with gzip.open(path) if not path.name.endswith(".tar") else path.open("rb") as stream:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                budget.count()
                if not (member.isreg() or member.isdir()):
                    raise _not_a_file(path, member.name)
                content = archive.extractfile(member) if member.isreg() else None
                if content is not None:
                    yield member.name, content
        budget.skip(stream)  # to the end, where gzip has its checksum


def _gzip_member(path: Path, budget: _Budget) -> Iterator[Member]:
    budget.count()
    with gzip.open(path) as content:
        yield path.name.removesuffix(".gz"), content


def _not_a_file(path: Path, name: str) -> ValueError:
    return ValueError(f"{path} must hold files and folders alone; got a link or device, {name!r}; nothing was kept of it.")


def _relative(path: Path, name: str, within: str) -> PurePosixPath | None:
    """Return where a member goes, relative to the folder; None where it is not wanted."""
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts or "\\" in name or "\0" in name or not inside.parts:
        raise ValueError(f"{path} must have members inside of it alone; got {name!r}; nothing was kept of it.")
    if not within:
        return inside
    return inside.relative_to(within) if inside.is_relative_to(within) and inside != PurePosixPath(within) else None


def _write(target: Path, content: Readable, budget: _Budget) -> None:
    with target.open("xb") as file:
        while chunk := budget.read(content):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
