"""Your own data as a run needs them: split, and read again as they were read for the fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from untwine.data.readers.arrays import read_test_mask
from untwine.data.readers.formats import IMAGE_FILES, format_of
from untwine.data.readers.roles import Roles
from untwine.data.reading import existing, read, read_with
from untwine.data.splits import Splits, hold_out
from untwine.registry.names import as_names
from untwine.samples import Samples

TEST_SHARE = 0.2
ROLES = ("group", "background", "label", "covariates", "source", "factors", "id")
SPLIT = ("test", "seed")
RULES = ("fit", "bits", "matte", "orientation")  # of images, which a table that lists them has too
# How images were read before these were options; runs from then store none of them.
FIRST_RULES: Mapping[str, Any] = {"bits": 16, "orientation": False}


def load_own(path: str | Path | None = None, *, test: float = TEST_SHARE, seed: int = 0, **options: Any) -> Splits:
    """Your own files or folders, split at random; see `read` for the options besides test and seed.

    An .npz with the array `split`, "train" or "test" for each sample, keeps that split.
    """
    samples = read(path, **options)
    if samples.ids is None:
        samples = replace(samples, ids=np.arange(len(samples)))  # a split keeps the positions in the file
    is_test = None if path is None else read_test_mask(Path(path).expanduser(), len(samples))
    if is_test is None:
        return hold_out(samples, test, seed)
    if (test, seed) != (TEST_SHARE, 0):
        raise ValueError(f"{path} has its own split; test and seed must be left out; got test={test} and seed={seed}.")
    return Splits(samples[~is_test], samples[is_test])


def own_origin(path: str | Path | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and options of your own data, with what images are read by, whatever the defaults will be."""
    stored = {key: _plain(value) for key, value in options.items()}
    if path is None:
        targets = stored["target"]
        names = targets.values() if isinstance(targets, dict) else targets if isinstance(targets, list) else [targets]
        name = " and ".join(map(str, (*names, stored["background"])))
    else:
        name = str(path)
    if _of_images(path, options):
        stored = {"bits": FIRST_RULES["bits"], "orientation": True} | stored
    return {"name": name, "options": stored}


def as_fitted(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that read the data of a run as they were read for its fit."""
    path = None if "target" in options else name
    return {**(FIRST_RULES if _of_images(path, options) else {}), **options}


def others_options(stored: Mapping[str, Any], given: str | Path) -> dict[str, Any]:
    """Return the options by which other data are read like those of a run: its own, where both are files of one format.

    Which path is the target and which the background, and how its own data were split, say nothing of others.
    """
    name, options = stored.get("name"), dict(stored.get("options", {}))
    own, path = Path(_first(options["target"]) if "target" in options else str(name)).expanduser(), Path(given).expanduser()
    if name is None or not own.exists() or not path.exists():
        return {}
    formats = format_of(own), format_of(path)
    if formats[0] is not formats[1]:  # an image may come beside a table that lists images, a table in another format
        tables = all("features" in one.options for one in formats)
        known = RULES if formats[1] is IMAGE_FILES else (*ROLES, *formats[1].options) if tables else ()
        return {key: value for key, value in options.items() if key in known}
    beside = ("target", "background") if "target" in options else ()
    options = as_fitted(str(name), options)
    return {key: value for key, value in options.items() if key not in (*SPLIT, *beside)}


def read_like(stored: Mapping[str, Any], path: Path, features: tuple[str, ...], **options: Any) -> Samples:
    """Read a file for a fitted method, like the data of its run; it may lack columns with a role and have further ones.

    Parameters
    ----------
    stored
        Name and options of the data of the run.
    path
        The file.
    features
        The names of the run's features, where it has some.
    **options
        Options in place of those of the run.
    """
    path = existing(path)
    known = format_of(path).options
    options = {**others_options(stored, path), **options}
    if features and "features" in known:
        options.setdefault("features", list(features))
    background = options.pop("background", ())
    single: dict[str, Any] = {name: options.pop(name, None) for name in ("group", "label", "source", "id")}
    several: dict[str, Any] = {name: as_names(name, options.pop(name, ())) for name in ("covariates", "factors")}
    roles = Roles(background=as_names("background", background), required=False, **single, **several)
    return read_with(path, roles, options)


def _first(targets: Any) -> str:
    several = list(targets.values()) if isinstance(targets, Mapping) else targets
    return str(several[0] if isinstance(several, list) else several)


def _of_images(path: str | Path | None, options: Mapping[str, Any]) -> bool:
    given = Path(path if path is not None else _first(options["target"])).expanduser()
    return given.exists() and format_of(given) is IMAGE_FILES


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
