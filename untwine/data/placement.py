"""Downloads of the catalogue's data sets: fetched and unpacked aside, checked, and moved to where the loaders look."""

from __future__ import annotations

import filecmp
import inspect
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untwine.data.data_card import DataCard
from untwine.data.data_set import as_data_set
from untwine.data.download import Watch, digest, fetch_file
from untwine.data.location import data_folder
from untwine.data.remote import Download
from untwine.data.unpack import is_archive, unpack
from untwine.registry.checks import check_choice, suggestion

ASIDE = ".downloads"
ATTEMPTS = 20


@dataclass(frozen=True)
class Fetched:
    """A file that was downloaded: its address, its number of bytes and its SHA-256."""

    url: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Obtained:
    """Data that are in place.

    Parameters
    ----------
    name
        The name of the download.
    folder
        Where they are.
    files
        What was downloaded; empty where the data were in place before.
    by_hand
        What must be placed there by hand, where that is missing.
    """

    name: str
    folder: Path
    files: tuple[Fetched, ...] = ()
    by_hand: str = ""


def find_downloads(name: str, options: Mapping[str, Any]) -> tuple[Download, ...]:
    """Return what a data set of the catalogue needs with these options, or the download of that name."""
    from untwine.data.catalogue import DATA_SETS

    known = {key: as_data_set(entry) for key, entry in DATA_SETS.items()}
    downloads = {one.name: one for entry in known.values() for one in entry.downloads}
    if name not in known and name in downloads:
        if options:
            raise ValueError(f"the download {name!r} has no options; got {', '.join(options)}; drop them.")
        return (downloads[name],)
    if name not in known:
        names = sorted({*known, *downloads})
        raise ValueError(f"name must be a data set or a download; got {name!r}; {suggestion(name, names)}")
    defaults = {option: p.default for option, p in inspect.signature(known[name].load).parameters.items()}
    for option in options:
        if option not in defaults or option == "folder":
            choices = ", ".join(key for key in defaults if key != "folder")
            raise ValueError(f"options of {name} must be among {choices}; got {option!r}; drop it.")
    chosen = defaults | dict(options)
    needs = known[name].downloads or (_placed_by_hand(name, known[name].card) if "folder" in defaults else ())
    for key in sorted({key for one in needs for key in one.when}):
        check_choice(key, chosen[key], [str(one.when[key]) for one in needs if key in one.when])
    return tuple(one for one in needs if _is_needed(one, chosen))


def _is_needed(download: Download, options: Mapping[str, Any]) -> bool:
    wanted = all(options[key] == value for key, value in download.when.items())
    return wanted and not any(options[key] == value for key, value in download.unless.items())


def _placed_by_hand(name: str, card: DataCard | None) -> tuple[Download, ...]:
    """Return what a data set without a download needs, in the words of its card."""
    if card is None:
        return ()

    def check(folder: Path) -> None:
        raise ValueError(f"{folder} must be looked at by the loader of {name}; any subset may be there; load it.")

    return (Download(name, card.licence, "", (), check, by_hand=f"{card.files} Source: {card.source}"),)


def obtain(download: Download, folder: str | Path | None, watch: Watch | None = None) -> Obtained:
    """Download files to where the loaders look for them, unless they are there.

    Nothing that exists is overwritten. An interrupted download leaves what it has in `.downloads/` of the data folder, where
    the next call continues; a second process waits for the first one.

    Parameters
    ----------
    download
        What to download.
    folder
        The data folder; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    watch
        As in `fetch_file`.
    """
    root = data_folder(folder)
    target = root / download.folder
    if _is_there(download, target):
        return Obtained(download.name, target)
    if download.by_hand:
        return Obtained(download.name, target, by_hand=download.by_hand)
    aside = root / ASIDE / download.name
    with _locked(aside.with_suffix(".lock")):
        if _is_there(download, target):  # another process has placed them
            return Obtained(download.name, target)
        _make_folder(aside)
        try:
            _check_room(download, aside)
            fetched = tuple(_fetch(download, aside, watch))
            _place(_unpack(download, aside), target)
            shutil.rmtree(aside)
        finally:
            _remove_empty(aside)
    return Obtained(download.name, target, fetched)


def _is_there(download: Download, target: Path) -> bool:
    if not target.is_dir():
        return False
    try:
        download.check(target)
    except ValueError:
        return False
    return True


def _fetch(download: Download, aside: Path, watch: Watch | None) -> Iterator[Fetched]:
    for file in download.files:
        path = aside / file.name
        url = fetch_file(file, path, watch)
        yield Fetched(url, path.stat().st_size, digest(path))


def _unpack(download: Download, aside: Path) -> Path:
    """Unpack all files into a folder aside, and check them; files that are not the data are deleted."""
    content = aside / "content"
    shutil.rmtree(content, ignore_errors=True)  # of an interrupted call
    content.mkdir()
    try:
        for file in download.files:
            if is_archive(file.name):
                unpack(aside / file.name, content, download.limits, download.within)
            else:
                os.replace(aside / file.name, content / file.name)
        download.check(content)
    except ValueError:
        shutil.rmtree(aside)  # what is wrong would be found again
        raise
    except OSError as error:
        shutil.rmtree(content, ignore_errors=True)
        raise ValueError(
            f"{aside} must have room for the unpacked files; got {(error.strerror or str(error)).lower()}; free some, and run "
            "the same command again: what was downloaded is kept."
        ) from None
    return content


def _place(content: Path, target: Path) -> None:
    """Move files to where the loaders look: at once where the folder is new, else each beside what is there."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(content, target)
        return
    moves = [(path, target / path.relative_to(content)) for path in sorted(content.rglob("*")) if path.is_file()]
    for path, new in moves:
        if new.exists() and not (new.is_file() and filecmp.cmp(path, new, shallow=False)):
            raise ValueError(
                f"{new} must be absent or the same file as the downloaded one; got another; nothing was overwritten: move it "
                "away, and run the same command again."
            )
    for path, new in moves:
        if not new.exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            os.rename(path, new)


def _make_folder(folder: Path) -> None:
    for _ in range(ATTEMPTS):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return
        except (FileNotFoundError, FileExistsError) as error:  # another process may just have removed the empty folder
            problem: OSError = error
        except OSError as error:
            problem = error
            break
    raise _not_writable(folder, problem)


def _not_writable(folder: Path, error: OSError) -> ValueError:
    return ValueError(
        f"the data folder must be writable; {folder} cannot be written ({(error.strerror or str(error)).lower()}); set "
        "UNTWINE_DATA, or choose another."
    )


def _check_room(download: Download, aside: Path) -> None:
    needed, free = sum(file.size or 0 for file in download.files), shutil.disk_usage(aside).free
    if free < needed:
        raise ValueError(
            f"{aside} must have room for {needed / 1e6:,.0f} MB; got {free / 1e6:,.0f} MB; free some, set UNTWINE_DATA, or "
            "choose another folder."
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time through; the file is removed by whoever holds it."""
    import fcntl

    while True:
        _make_folder(path.parent)
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except FileNotFoundError:
            continue  # another process has just removed the empty folder
        except OSError as error:
            raise _not_writable(path.parent, error) from None
        fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists() and os.fstat(handle).st_ino == path.stat().st_ino:
            break
        os.close(handle)  # the process before has removed this one
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)
        _remove_empty(path.parent)


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # it holds what can be continued, or another download is under way
        folder.rmdir()
