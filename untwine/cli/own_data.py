"""Your own data on the command line: which flags go together, as the name and options that `untwine.load` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from untwine.cli.flags import ColumnFlags
from untwine.cli.settings import parse_settings


def named_data(data: str | None, columns: ColumnFlags, settings: Sequence[str]) -> tuple[str | None, dict[str, Any]]:
    """Return the name or path of data and its options, None for several paths; flags that exclude each other are refused.

    Parameters
    ----------
    data
        What --data names, if anything.
    columns
        The flags of your own data.
    settings
        Those of --data-set.
    """
    options = parse_settings(settings, "--data-set")
    given = own_options(data, columns)
    if twice := [name for name in given if name in options]:
        raise ValueError(f"{twice[0]} must be given once; got a flag for it and --data-set {twice[0]}=...; leave one out.")
    if given and data is not None and "target" not in given:
        from untwine.data import data_sets

        if data in data_sets():
            raise ValueError(
                f"columns get roles in your own data; got --data {data}, a data set of the catalogue; leave the flags of "
                "columns out."
            )
    return data, {**options, **given}


def own_options(data: str | None, columns: ColumnFlags) -> dict[str, Any]:
    """Return the options of `untwine.data.read` that the flags stand for."""
    options = {
        "group": columns.group_column,
        "label": columns.label_column,
        "covariates": list(columns.covariate),
        "source": columns.source_column,
        "factors": list(columns.factor_column),
        "id": columns.id_column,
        "file_column": columns.file_column,
    }
    options = {name: value for name, value in options.items() if value}
    if columns.target:
        if data is not None:
            raise ValueError(f"--target takes the place of --data; got both ({data}); leave one of them out.")
        if columns.group_column is not None:
            raise ValueError(
                "--target says which files are targets, and --group-column which samples; got both; give either paths by "
                "--target and "
                "--background, or one path by --data with --group-column."
            )
        if len(columns.background) != 1:
            got = f"{len(columns.background)} paths" if columns.background else "none"
            raise ValueError(f"--target must come with one --background, the path of the background; got {got}.")
        return {**options, "target": _targets(columns.target), "background": columns.background[0]}
    if columns.background and columns.group_column is None:
        raise ValueError(
            "--background is a path beside --target, or a value of the column of --group-column; got "
            f"{columns.background[0]!r} with "
            "neither; add one of them."
        )
    if columns.background:
        options["background"] = columns.background[0] if len(columns.background) == 1 else list(columns.background)
    return options


def _targets(given: Sequence[str]) -> str | list[str] | dict[str, str]:
    """Return one path, several paths, or paths by name where names are given."""
    pairs = [_pair(one) for one in given]
    if not any(name for name, _ in pairs):
        return pairs[0][1] if len(pairs) == 1 else [path for _, path in pairs]
    if nameless := [path for name, path in pairs if not name]:
        raise ValueError(f"--target must be NAME=PATH for all targets or for none; {nameless[0]} has no name; give it one.")
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError(f"--target must have different names; got {', '.join(name for name, _ in pairs)}; rename one.")
    return dict(pairs)


def _pair(text: str) -> tuple[str, str]:
    """Return name and path; a path that exists may have an equals sign itself."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).expanduser().exists():
        return "", text
    if not name or not path:
        raise ValueError(f"--target must be PATH or NAME=PATH; got {text!r}.")
    return name, path
