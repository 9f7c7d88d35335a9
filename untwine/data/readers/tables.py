"""Samples from tables of text: of numbers, or of files of images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from untwine.data.readers import notes
from untwine.data.readers.file_lists import find_file_column, read_listed
from untwine.data.readers.image_stack import ImageRules
from untwine.data.readers.roles import Roles
from untwine.data.readers.table_columns import (
    Impute,
    TableRules,
    as_samples,
    assign_roles,
    choose_features,
    complete,
    describe,
)
from untwine.data.readers.text_tables import TextTable, described_cells, numbers, open_table
from untwine.registry.checks import listed
from untwine.samples import Samples


def read_table(
    path: Path,
    roles: Roles,
    *,
    features: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    impute: Impute | None = None,
    categories: str | Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    file_column: str | None = None,
    size: int | None = None,
    fit: str | None = None,
    bits: int | None = None,
    matte: str | None = None,
    orientation: bool | None = None,
) -> Samples:
    """Read a table of text, one row per sample, with or without a header.

    Without roles, columns named `group`, `label`, `source` and `id` become groups, labels, sources and ids: `group` has
    integers (0 is the background), or names of which one is `background`; an empty cell of `label` is an unknown class. A first
    column without a name that is different in every row becomes the ids. All other columns are the features, under their names.

    Parameters
    ----------
    path
        A `.csv` or `.tsv`, or a gzipped one.
    roles
        Which columns are group, label, covariates, source, factors and id.
    features
        Columns to take as features; by default all without a role.
    drop
        Columns to leave out.
    impute
        What stands in for missing values of a feature: the mean or the median of the column over all samples read, test samples
        included. Without it missing values are refused.
    categories
        Covariates whose numbers are categories, such as a batch number.
    separator, decimal, encoding, header
        The mark between columns, the decimal mark, the encoding of the text, and whether there is a header, where they cannot
        be found out.
    file_column
        The column that lists files of images, for a table that lists them; by default `file`, `path`, `image` or `filename`.
    size, fit, bits, matte, orientation
        For a table that lists images: see `read_images`.
    """
    rules = TableRules.of(features, drop, impute, categories)
    images = {"size": size, "fit": fit, "bits": bits, "matte": matte, "orientation": orientation}
    images = {name: value for name, value in images.items() if value is not None}
    image_rules = ImageRules.of(**images)
    table = open_table(path, separator, decimal, encoding, header)
    listing = find_file_column(table, file_column)
    if listing is not None:
        return _listed(table, listing, roles, rules, image_rules)
    if images:
        raise ValueError(
            f"{next(iter(images))} applies to images; {path} is a table of numbers; drop it, or name the column that lists "
            "files "
            "by file_column."
        )
    columns, usual = _assign(table, roles, rules)
    taken = choose_features(path, table.names, roles, [*columns], rules)
    places = {name: i for i, name in enumerate(table.names)}
    wanted = [places[name] for name in taken] if table.names else list(range(table.width))
    n, cells = described_cells(table, list(columns.values()))
    if not n:
        raise ValueError(f"{path} must have at least one row of numbers below its header; got none; add rows.")
    wanted = _without_blank_end(table, wanted)
    if not wanted:
        raise ValueError(
            f"{path} must have at least one column of numbers besides group and label (and source, id); got none; add one."
        )
    x = complete(path, numbers(table, wanted, n), [table.name(i) for i in wanted], rules.impute)
    columns_of = {name: cells[i] for name, i in columns.items()}
    described = describe(path, columns_of, roles, usual, rules.categories, table.decimal)
    return as_samples(path, x, tuple(table.names[i] for i in wanted) if table.names else (), described)


def _listed(table: TextTable, listing: int, roles: Roles, rules: TableRules, images: ImageRules) -> Samples:
    """Return the images that a table lists."""
    if rules.features or rules.impute:
        raise ValueError(f"features and impute are of tables of numbers; {table.path} lists images; leave them out.")
    columns, usual = _assign(table, roles, rules)
    n, cells = described_cells(table, [*columns.values(), listing])
    if not n:
        raise ValueError(f"{table.path} must list at least one file below its header; got none; add rows.")
    others = [name for i, name in enumerate(table.names) if i not in (listing, *columns.values())]
    if others:
        notes.say(f"{table.path}: columns without a role are left out: {listed(others)}.")
    columns_of = {name: cells[i] for name, i in columns.items()}
    described = describe(table.path, columns_of, roles, usual, rules.categories, table.decimal)
    return read_listed(table.path, cells[listing], described, images)


def _assign(table: TextTable, roles: Roles, rules: TableRules) -> tuple[dict[str, int], dict[str, str]]:
    """Return the columns with a role by name, and for those that have it by their name alone, which."""
    path, names = table.path, table.names
    named = (*roles.names, *rules.features, *rules.drop)
    if not names and named and roles.required:
        raise ValueError(
            f"{path} must have a header where columns are named; it has none, so there is no {named[0]!r}; add one."
        )
    usual = assign_roles(path, names, roles, rules.drop)
    described = {*roles.names, *usual}
    columns = {name: i for i, name in enumerate(names) if name in described}
    if "" in names:
        _take_unnamed(table, roles, columns, usual)
    return columns, usual


def _take_unnamed(table: TextTable, roles: Roles, columns: dict[str, int], usual: dict[str, str]) -> None:
    """Take a first column without a name as the ids where each row has another one; a last one without any cell is left out."""
    path, unnamed = table.path, [i for i, name in enumerate(table.names) if not name]
    _, cells = described_cells(table, unnamed)
    for i in unnamed:
        if i == table.width - 1 and not any(cells[i]):
            continue  # by a separator at the end of every line
        if i or len(set(cells[i])) < len(cells[i]):
            raise ValueError(
                f"{path} must have a name for every column; column {i + 1} has none; name it, or leave it out if it is only a "
                "row "
                "index."
            )
        if roles.id is None and "id" not in usual.values():
            columns[""], usual[""] = i, "id"
            notes.say(f"{path}: the first column has no name and another value in every row: it is the id.")


def _without_blank_end(table: TextTable, features: list[int]) -> list[int]:
    if table.names and not table.names[-1] and features and features[-1] == table.width - 1:
        notes.say(f"{table.path} has a separator at the end of its lines.")
        return features[:-1]
    return [i for i in features if not table.names or table.names[i]]
