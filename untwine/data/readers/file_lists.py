"""Tables that list files of images, one per row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from untwine.data.readers.formats import IMAGES
from untwine.data.readers.image_stack import ImageRules, read_stack
from untwine.data.readers.text_tables import TextTable
from untwine.registry.checks import listed, suggestion
from untwine.samples import Samples

USUAL_NAMES = ("file", "path", "image", "filename", "file_name")


def find_file_column(table: TextTable, given: str | None) -> int | None:
    """Return the column that lists files: the one that is named, or one of a usual name that has images in its first row."""
    if given is not None:
        if given not in table.names:
            raise ValueError(
                f"{table.path} must have the column {given!r}; it has none of that name; {suggestion(given, table.names)}"
            )
        return table.names.index(given)
    columns = [i for i, name in enumerate(table.names) if name.lower() in USUAL_NAMES]
    if not columns:
        return None
    _, first = next(table.rows(), (0, None))
    listing = [i for i in columns if first is not None and first[i].strip().lower().endswith(IMAGES)]
    if len(listing) > 1:
        names = " and ".join(repr(table.names[i]) for i in listing)
        raise ValueError(f"{table.path} must list files in one column; got {names}; say which by file_column.")
    return listing[0] if listing else None


def read_listed(path: Path, files: list[str], described: Mapping[str, Any], rules: ImageRules) -> Samples:
    """Read the images that a table lists, as paths from its folder on or whole ones; their names as listed are the ids."""
    if empty := sum(not name for name in files):
        raise ValueError(f"{path} must list a file in every row; {empty} of {len(files)} rows have none; fill them in.")
    paths = [path.parent / Path(name.replace("\\", "/")).expanduser() for name in files]
    if others := [name for name in files if not name.lower().endswith(IMAGES)]:
        raise ValueError(
            f"{path} must list images ({', '.join(IMAGES)}); got {listed(map(repr, others), 100)}; leave them out."
        )
    if missing := [name for name, one in zip(files, paths, strict=True) if not one.is_file()]:
        raise ValueError(
            f"{path} must list files that exist, as paths from {path.parent} on; {len(missing)} of {len(files)} do not: "
            f"{listed(missing, 100)}; correct the paths."
        )
    columns = {"ids": np.array(files), **described}
    try:
        return Samples(read_stack(paths, rules), **columns)
    except (ValueError, TypeError) as error:
        raise error if str(path.parent) in str(error) else type(error)(f"{path}: {error}") from None
