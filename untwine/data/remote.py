"""What may be downloaded: files at public addresses, and where a loader looks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

GIGABYTE = 10**9


@dataclass(frozen=True)
class RemoteFile:
    """One file at a public address.

    Parameters
    ----------
    urls
        Its addresses, the preferred one first.
    size
        Its published size in bytes, where it is known; a file of more than twice that is refused.
    sha256
        Its SHA-256, only where it was computed from the file in hand.
    """

    urls: tuple[str, ...]
    size: int | None = None
    sha256: str = ""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.urls[0].rpartition("/")[2]

    @property
    def limit(self) -> int:
        """The largest number of bytes that is accepted."""
        return 2 * self.size if self.size is not None else 20 * GIGABYTE


@dataclass(frozen=True)
class Download:
    """Files that make up a data set, or one of the sets that it is made of.

    Parameters
    ----------
    name
        What `untwine data get` calls it.
    licence
        What may be done with the files; shown before they are downloaded.
    folder
        Where they go, below the data folder.
    files
        The files; none where they must be placed by hand. A .zip, .tar, .tar.gz, .tgz or .gz is unpacked.
    check
        From the folder that holds the files to anything: raises a `ValueError` if they are not the data.
    within
        The folder in an archive whose files are taken, without that folder; by default all files.
    limits
        The largest number of files in an archive, and of bytes in all of them.
    by_hand
        What to place there, where no program may or can download it.
    when
        Options of the data set for which the files are needed; by default for all.
    unless
        Options of the data set for which they are not.
    """

    name: str
    licence: str
    folder: str
    files: tuple[RemoteFile, ...]
    check: Callable[[Path], object]
    within: str = ""
    limits: tuple[int, int] = (10_000, 20 * GIGABYTE)
    by_hand: str = ""
    when: Mapping[str, object] = field(default_factory=dict)
    unless: Mapping[str, object] = field(default_factory=dict)


def require_files(folder: Path, counts: Mapping[str, int]) -> None:
    """Refuse a folder that does not have these numbers of files by their patterns."""
    for pattern, n in counts.items():
        n_files = sum(1 for path in folder.glob(pattern) if path.is_file())
        if n_files != n:
            raise ValueError(f"{folder} must have {n:,} files {pattern}; got {n_files:,}; download them again.")
