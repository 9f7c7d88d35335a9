"""The file of a study, in TOML: what it may say, and the cells that it means. Nothing in it is ever run.

Methods and data sets are names from the closed tables, and a method checks its fields itself. The fields of a cell come,
each over the one before, from `size.<size>.fields` and the data set's `fields` (as far as the method has them), the paper's
setting (`preset`), the row's `fields` and the row's fields of that size. A list of values sweeps a field; several lists, of one
length, are swept side by side. Of a swept row with `lowest`, the table shows only the value with the lowest mean of that score.
A row may show scores with another `ending` than a column names, such as those of the constant predictor, "_constant.x".
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from untwine.data import data_sets
from untwine.evaluation.registry import METRICS
from untwine.methods import find_method
from untwine.study.cells import Cell
from untwine.study.grammar import CHOICES, SCORING, SIZES, check_among, check_known, check_table, is_a


class Row(NamedTuple):
    """One row of the table: what the file says, for swept rows with one value each."""

    label: str
    said: Mapping[str, Any]
    swept: tuple[str, Any] | None = None


def read(path: Path) -> dict[str, Any]:
    """Read and check the file, and return what it says."""
    import tomllib  # compiles long expressions

    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} expected TOML, but it cannot be read ({error}); correct it.") from None
    try:
        _check(said)
        for size in SIZES:
            cells(said, path.stem, size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return said


def cells(said: Mapping[str, Any], study: str, size: str) -> list[Cell]:
    """Return the cells of a study in one size, data set by data set."""
    if size not in SIZES:
        raise ValueError(f"size must be one of {', '.join(SIZES)}; got {size!r}.")
    here = said.get("size", {}).get(size, {})
    scoring = {"resamples": 2, "epochs_scored": (), **{key: said[key] for key in SCORING if key in said}}
    scoring |= {key: here[key] for key in SCORING if key in here}
    scoring.setdefault("epochs_metrics", scoring["metrics"])
    return [
        _cell(said, study, size, data, row, seed, scoring)
        for data in said["data"]
        if size in data.get("sizes", SIZES)
        for row in rows(said, size, label(data))
        if "method" in row.said
        for seed in scoring["seeds"]
    ]


def rows(said: Mapping[str, Any], size: str, data: str | None = None) -> Iterator[Row]:
    """Yield the rows of the table, a swept one for each value; those without a method have published figures alone.

    With `data`, only the rows that this data set has.
    """
    for row in said["row"]:
        if data is not None and data not in row.get("data", (data,)):
            continue
        fields = {**row.get("fields", {}), **row.get(size, {})}
        swept = [field for field, value in fields.items() if isinstance(value, list)]
        if len({len(fields[field]) for field in swept}) > 1:
            raise ValueError(
                f"the row {row['label']!r} expected lists of one length to sweep together, but {' and '.join(swept)} differ."
            )
        for values in zip(*(fields[field] for field in swept), strict=True):
            # Several lists go side by side; the first one names the row.
            name = f"{values[0]:g}" if isinstance(values[0], float) else str(values[0])
            one = {**row, size: {**row.get(size, {}), **dict(zip(swept, values, strict=True))}}
            yield Row(f"{row['label']} {swept[0]}={name}", one, (swept[0], values[0]))
        if not swept:
            yield Row(row["label"], row)


def published_label(row: Row) -> str:
    """Return under which name the paper's figures of a row stand: where a sweep shows its best, the name without values."""
    return str(row.said["label"]) if "lowest" in row.said else row.label


def columns(said: Mapping[str, Any], data: str) -> list[Mapping[str, Any]]:
    """Return the columns that a data set has."""
    return [column for column in said["column"] if data in column.get("data", (data,))]


def title(column: Mapping[str, Any]) -> str:
    """Return what a column is called."""
    return str(column.get("title", column["scores"][0]))


def label(data: Mapping[str, Any]) -> str:
    """Return what a data set is called in the table."""
    return str(data.get("label", data["name"]))


def _cell(
    said: Mapping[str, Any], study: str, size: str, data: Mapping[str, Any], row: Row, seed: int, scoring: Mapping[str, Any]
) -> Cell:
    here, there, kind = said.get("size", {}).get(size, {}), data.get(size, {}), find_method(row.said["method"])
    known = kind().get_params()
    shared = {**here.get("fields", {}), **data.get("fields", {}), **there.get("fields", {})}
    fields = {key: value for key, value in shared.items() if key in known}
    fields |= kind.papers.get(data["name"], {}) if here.get("preset") else {}
    fields |= {**row.said.get("fields", {}), **row.said.get(size, {})}
    check_known(fields, known, f"the method {kind.name!r} of the row {row.label!r}")
    made = kind(**{**fields, "seed": seed})
    made.check()
    epochs = sum(value for field, value in made.get_params().items() if field.startswith("epochs"))
    watched = tuple(scoring["epochs_scored"]) if epochs else ()  # a closed form has none
    if watched and max(watched) > epochs:
        raise ValueError(f"epochs_scored expected epochs up to the {epochs} of the row {row.label!r}; got {max(watched)}.")
    return Cell(
        study,
        size,
        label(data),
        row.label,
        name=data["name"],
        options=_options(data, {**data.get("options", {}), **there.get("options", {})}),
        part=said.get("part", "test"),
        method=kind.name,
        params=made.get_params(),
        shuffle=row.said.get("shuffle", ""),
        learn=data.get("learn", "folds"),
        metrics=tuple(row.said.get("metrics", scoring["metrics"])),
        resamples=scoring["resamples"],
        epochs_scored=watched,
        epochs_metrics=tuple(scoring["epochs_metrics"]) if watched else (),
    )


def _options(data: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a data set, for a changed default is a changed configuration too."""
    named = data_sets()
    check_known([data["name"]], named, "the catalogue of data sets", "data set")
    defaults = {option: p.default for option, p in inspect.signature(named[data["name"]]).parameters.items()}
    check_known(options, defaults, f"the data set {data['name']!r}")
    return {**defaults, **options}


def _check(said: Mapping[str, Any]) -> None:
    """Refuse what a study cannot mean."""
    check_table(said, "study", "a study")
    for key in ("data", "row", "column"):
        for table in said[key]:
            check_table(table, key, f"[[{key}]]")
    for size, table in said.get("size", {}).items():
        check_table(said["size"], "size", "[size]")
        check_table(table, "one size", f"[size.{size}]")
    check_table(said.get("figure", {}), "figure", "[figure]")
    for data in said["data"]:
        check_among(data.get("sizes", ()), SIZES, f"sizes of the data set {label(data)!r}")
        for size in SIZES:
            check_table(data.get(size, {}), "data's size", f"{size} of the data set {label(data)!r}")
    for key, choices in CHOICES.items():
        check_among([table[key] for table in (said, *said["row"], *said["data"]) if key in table], choices, key)
    for table in (said, *said.get("size", {}).values(), *said["row"]):
        check_among([*table.get("metrics", ()), *table.get("epochs_metrics", ())], METRICS, "metrics")
        if table.get("resamples", 2) < 2:
            raise ValueError(f"resamples expected at least 2, to make an interval of; got {table['resamples']}.")
    _check_labels(said)
    _check_shared_fields(said)
    _check_published(said)


def _check_labels(said: Mapping[str, Any]) -> None:
    names = [label(data) for data in said["data"]]
    # Rows of different data sets may share a label: a method may need other fields there.
    of_rows = [("rows", [row.label for row in rows(said, size, data)]) for size in SIZES for data in names]
    for kind, found in (("data sets", names), *of_rows):
        if twice := [one for one in found if found.count(one) > 1]:
            raise ValueError(f"the {kind} must be a label each, but {twice[0]!r} is there twice; give one another label.")
        if odd := [one for one in found if set(one) & set(",|")]:
            raise ValueError(f"the {kind} must be labels without comma and bar; got {odd[0]!r}.")
    for column in said["column"]:
        check_among(column.get("data", ()), names, f"data of the column {title(column)!r}")
    known = [score for column in said["column"] for score in column["scores"]]
    for row in said["row"]:
        check_among(row.get("data", ()), names, f"data of the row {row['label']!r}")
        check_among([row["lowest"]] if "lowest" in row else (), known, f"lowest of the row {row['label']!r}")
        if "lowest" in row and not any(one.swept for size in SIZES for one in rows({"row": [row]}, size)):
            raise ValueError(f"the row {row['label']!r} must be a list of values to choose the lowest of, but sweeps nothing.")
    for data in names:
        found = [title(column) for column in columns(said, data)]
        if len(found) != len(set(found)) or not found:
            raise ValueError(f"{data} expected columns with a title each, but has {', '.join(found) or 'no column'}.")


def _check_shared_fields(said: Mapping[str, Any]) -> None:
    kinds = [find_method(row["method"]) for row in said["row"] if "method" in row]
    known = [field for kind in kinds for field in kind().get_params()]
    for table in (
        *said.get("size", {}).values(),
        *said["data"],
        *(data.get(size, {}) for data in said["data"] for size in SIZES),
    ):
        check_known(table.get("fields", {}), known, "the methods of this study", "field")


def _check_published(said: Mapping[str, Any]) -> None:
    for data, figures in said.get("published", {}).items():
        check_among([data], [label(one) for one in said["data"]], "published")
        of_rows = {published_label(row) for size in SIZES for row in rows(said, size, data)}
        if not is_a("table", figures):
            raise ValueError(f"published.{data} must be a list of figures for each row; got {figures!r}.")
        check_among(figures, of_rows, f"published.{data}")
        for row, values in figures.items():
            if not is_a("numbers", values) or len(values) > len(columns(said, data)):
                raise ValueError(f"published.{data}.{row} must be a number for each column, or nan; got {values!r}.")
