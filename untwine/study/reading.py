"""Reading a study's TOML file: checks of its content, and the cells that it describes. Nothing in it is ever executed.

Methods and data sets are names from the catalogues, and a method checks its fields itself. The fields of a cell are merged in
this order, later ones win: the fixed values of what is otherwise chosen from the data (`defaults = "fixed"`, of the study or
of the row), `size.<size>.fields`, the data set's `fields` (both as far as the method has them), the paper's preset
(`preset`), the row's `fields`, the row's fields of that size. Options of the data likewise: their defaults, those of the
rows' presets, the data set's `options`, its options of that size. A list of values sweeps a field; several lists of one length
are swept together. Of a swept row with `lowest` or `highest`, the table shows only the value with the lowest or the highest
mean of that score.
A row may show scores with another `ending` than a column names, such as those of the constant predictor, "_constant.x".
Metrics are names, with options where wanted: "z_diff(leave_out=shape)", whose score is "z_diff(leave_out=shape).z".
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from untwine.data import data_sets
from untwine.evaluation.registry import find_metric
from untwine.methods import find_method
from untwine.registry.checks import check_choice, check_int
from untwine.study.cells import Cell
from untwine.study.schema import BEST, CHOICES, SCORING, SIZES, check_among, check_known, check_table, is_a


class Row(NamedTuple):
    """One row of the table, as the file describes it; a swept row has one for each value."""

    label: str
    spec: Mapping[str, Any]
    swept: tuple[str, Any] | None = None


def read(path: Path) -> dict[str, Any]:
    """Read and check the file, and return its content."""
    import tomllib  # compiles long expressions

    try:
        spec = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be TOML; got a file that cannot be parsed ({error}); correct it.") from None
    try:
        _check(spec)
        for size in SIZES:
            cells(spec, path.stem, size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
    return spec


def cells(spec: Mapping[str, Any], study: str, size: str) -> list[Cell]:
    """Return the cells of a study in one size, data set by data set."""
    check_choice("size", size, SIZES)
    here = spec.get("size", {}).get(size, {})
    scoring = {"resamples": 2, "epochs_scored": (), **{key: spec[key] for key in SCORING if key in spec}}
    scoring |= {key: here[key] for key in SCORING if key in here}
    scoring.setdefault("epochs_metrics", scoring["metrics"])
    planned = [
        _cell(spec, study, size, data, row, seed, scoring)
        for data in spec["data"]
        if size in data.get("sizes", SIZES)
        for row in rows(spec, size, label(data))
        if "method" in row.spec
        for seed in scoring["seeds"]
    ]
    last = max((_epochs(cell.params) for cell in planned), default=0)
    if last and scoring["epochs_scored"] and max(scoring["epochs_scored"]) > last:
        raise ValueError(
            f"epochs_scored must be at most {last}, the epochs of the longest row; got {max(scoring['epochs_scored'])}."
        )
    return planned


class Resources(NamedTuple):
    """What one cell needs: threads, that is cores, gigabytes of memory, and GPUs; 0 for memory that is not looked at."""

    threads: int = 1
    memory: float = 0.0
    gpus: float = 0.0


def resources(spec: Mapping[str, Any], size: str) -> Resources:
    """Return what a cell of one size needs."""
    return Resources(**{**spec.get("resources", {}), **spec.get("size", {}).get(size, {}).get("resources", {})})


def rows(spec: Mapping[str, Any], size: str, data: str | None = None) -> Iterator[Row]:
    """Yield the rows of the table, a swept one for each value; rows without a method have published values only.

    With `data`, only the rows that this data set has.
    """
    for row in spec["row"]:
        if data is not None and data not in row.get("data", (data,)):
            continue
        fields = {**row.get("fields", {}), **row.get(size, {})}
        swept = [field for field, value in fields.items() if isinstance(value, list)]
        if len({len(fields[field]) for field in swept}) > 1:
            raise ValueError(
                f"lists that are swept together must have one length; {', '.join(swept)} of the row {row['label']!r} differ."
            )
        for values in zip(*(fields[field] for field in swept), strict=True):
            # Several lists are swept together; the first one names the row.
            name = f"{values[0]:g}" if isinstance(values[0], float) else str(values[0])
            one = {**row, size: {**row.get(size, {}), **dict(zip(swept, values, strict=True))}}
            yield Row(f"{row['label']} {swept[0]}={name}", one, (swept[0], values[0]))
        if not swept:
            yield Row(row["label"], row)


def published_label(row: Row) -> str:
    """Return the name of a row's published values: for a sweep that shows only its best, the label without the value."""
    return str(row.spec["label"]) if best_by(row.spec) else row.label


def best_by(row: Mapping[str, Any]) -> str:
    """Return the key that says which value of a sweep is shown alone, "lowest" or "highest"; empty for a row that shows all."""
    return next((key for key in BEST if key in row), "")


def columns(spec: Mapping[str, Any], data: str) -> list[Mapping[str, Any]]:
    """Return the columns that a data set has."""
    return [column for column in spec["column"] if data in column.get("data", (data,))]


def title(column: Mapping[str, Any]) -> str:
    """Return the title of a column."""
    return str(column.get("title", column["scores"][0]))


def label(data: Mapping[str, Any]) -> str:
    """Return the label of a data set in the table."""
    return str(data.get("label", data["name"]))


def _cell(
    spec: Mapping[str, Any], study: str, size: str, data: Mapping[str, Any], row: Row, seed: int, scoring: Mapping[str, Any]
) -> Cell:
    here, there, kind = spec.get("size", {}).get(size, {}), data.get(size, {}), find_method(row.spec["method"])
    known = kind().get_params()
    shared = {**here.get("fields", {}), **data.get("fields", {}), **there.get("fields", {})}
    fixed = row.spec.get("defaults", spec.get("defaults")) == "fixed"
    fields = kind.fixed_defaults() if fixed else {}
    fields |= {key: value for key, value in shared.items() if key in known}
    preset = kind.papers.get(data["name"]) if here.get("preset") else None
    published = _preset_options(spec, data, size) if here.get("preset") else {}
    fields |= preset.fields if preset else {}
    fields |= {**row.spec.get("fields", {}), **row.spec.get(size, {})}
    check_known(fields, known, f"the method {kind.name!r} of the row {row.label!r}")
    method = kind(**{**fields, "seed": seed})
    method.check()
    # A shorter row is scored after the epochs that it has; closed-form methods have none.
    watched = tuple(epoch for epoch in scoring["epochs_scored"] if epoch <= _epochs(method.get_params()))
    return Cell(
        study,
        size,
        label(data),
        row.label,
        name=data["name"],
        options=_options(data, {**published, **_own_options(data, size)}),
        part=spec.get("part", "test"),
        method=kind.name,
        params=method.get_params(),
        shuffle=row.spec.get("shuffle", ""),
        learn=data.get("learn", "folds"),
        metrics=_spelled(row.spec.get("metrics", scoring["metrics"])),
        resamples=scoring["resamples"],
        epochs_scored=watched,
        epochs_metrics=_spelled(scoring["epochs_metrics"]) if watched else (),
    )


def _spelled(metrics: Sequence[str]) -> tuple[str, ...]:
    """Return metrics as they are always written: an option at its default changes no fingerprint."""
    return tuple(find_metric(metric).spelling for metric in metrics)


def _epochs(params: Mapping[str, Any]) -> int:
    """Return the epochs of all stages of a method; 0 for a closed form, no bound where the data decide."""
    epochs = [value for field, value in params.items() if field.startswith("epochs")]
    return sys.maxsize if "auto" in epochs else sum(epochs)


def _preset_options(spec: Mapping[str, Any], data: Mapping[str, Any], size: str) -> dict[str, Any]:
    """Return the data options of the presets of all rows of a data set; they must agree, as rows are compared."""
    options: dict[str, Any] = {}
    owners: dict[str, str] = {}
    kinds = [find_method(row.spec["method"]) for row in rows(spec, size, label(data)) if "method" in row.spec]
    for kind in kinds:
        preset = kind.papers.get(data["name"])
        for option, value in preset.data.options.items() if preset else ():
            if options.setdefault(option, value) != value and option not in _own_options(data, size):
                raise ValueError(
                    f"the presets of all rows must have the same data; got {option}={options[option]!r} of {owners[option]!r} "
                    f"and {value!r} of {kind.name!r} for {label(data)!r}; give {option} in the options of the data set."
                )
            owners.setdefault(option, kind.name)
    return options


def _own_options(data: Mapping[str, Any], size: str) -> dict[str, Any]:
    return {**data.get("options", {}), **data.get(size, {}).get("options", {})}


def _options(data: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a data set, defaults included: a changed default is a changed configuration too."""
    named = data_sets()
    check_among([data["name"]], named, "the names of [[data]]")
    defaults = {option: p.default for option, p in inspect.signature(named[data["name"]]).parameters.items()}
    check_known(options, defaults, f"the data set {data['name']!r}")
    return {**defaults, **options}


def _check(spec: Mapping[str, Any]) -> None:
    """Refuse content that does not describe a study."""
    check_table(spec, "study", "a study")
    for key in ("data", "row", "column"):
        for table in spec[key]:
            check_table(table, key, f"[[{key}]]")
    for size, table in spec.get("size", {}).items():
        check_table(spec["size"], "size", "[size]")
        check_table(table, "one size", f"[size.{size}]")
        check_table(table.get("resources", {}), "resources", f"resources of [size.{size}]")
    check_table(spec.get("resources", {}), "resources", "[resources]")
    check_table(spec.get("figure", {}), "figure", "[figure]")
    for data in spec["data"]:
        check_among(data.get("sizes", ()), SIZES, f"sizes of the data set {label(data)!r}")
        for size in SIZES:
            check_table(data.get(size, {}), "data's size", f"{size} of the data set {label(data)!r}")
    for key, choices in CHOICES.items():
        check_among([table[key] for table in (spec, *spec["row"], *spec["data"]) if key in table], choices, key)
    for table in (spec, *spec.get("size", {}).values(), *spec["row"]):
        _spelled([*table.get("metrics", ()), *table.get("epochs_metrics", ())])  # refuses unknown names and options
        check_int("resamples", table.get("resamples", 2), 2)  # an interval needs two
    _check_labels(spec)
    _check_shared_fields(spec)
    _check_published(spec)


def _check_labels(spec: Mapping[str, Any]) -> None:
    names = [label(data) for data in spec["data"]]
    # Rows of different data sets may share a label: a method may need other fields on each.
    of_rows = [("rows", [row.label for row in rows(spec, size, data)]) for size in SIZES for data in names]
    for kind, labels in (("data sets", names), *of_rows):
        if twice := [one for one in labels if labels.count(one) > 1]:
            raise ValueError(f"the labels of {kind} must be unique; got {twice[0]!r} twice; change one.")
        if odd := [one for one in labels if set(one) & set(",|")]:
            raise ValueError(f"the labels of {kind} must have no comma and no bar; got {odd[0]!r}.")
    for column in spec["column"]:
        check_among(column.get("data", ()), names, f"data of the column {title(column)!r}")
    known = [score for column in spec["column"] for score in column["scores"]]
    for row in spec["row"]:
        check_among(row.get("data", ()), names, f"data of the row {row['label']!r}")
        check_among([row[key] for key in BEST if key in row], known, f"{best_by(row)} of the row {row['label']!r}")
        if set(BEST) <= set(row):
            raise ValueError(f"the row {row['label']!r} must have 'lowest' or 'highest'; got both keys; remove one.")
        if best_by(row) and not any(one.swept for size in SIZES for one in rows({"row": [row]}, size)):
            raise ValueError(
                f"the row {row['label']!r} must sweep a field, because it has the key {best_by(row)!r}; got no list of "
                "values; remove the key."
            )
    for data in names:
        titles = [title(column) for column in columns(spec, data)]
        if len(titles) != len(set(titles)) or not titles:
            raise ValueError(f"the columns of {data} must have unique titles; got {', '.join(titles) or 'no column'}.")


def _check_shared_fields(spec: Mapping[str, Any]) -> None:
    kinds = [find_method(row["method"]) for row in spec["row"] if "method" in row]
    known = [field for kind in kinds for field in kind().get_params()]
    for table in (
        *spec.get("size", {}).values(),
        *spec["data"],
        *(data.get(size, {}) for data in spec["data"] for size in SIZES),
    ):
        check_known(table.get("fields", {}), known, "the methods of this study", "field")


def _check_published(spec: Mapping[str, Any]) -> None:
    for data, figures in spec.get("published", {}).items():
        check_among([data], [label(one) for one in spec["data"]], "published")
        of_rows = dict.fromkeys(published_label(row) for size in SIZES for row in rows(spec, size, data))
        if not is_a("table", figures):
            raise ValueError(f"published.{data} must be a table with a list of numbers for each row; got {figures!r}.")
        check_among(figures, of_rows, f"published.{data}")
        for row, values in figures.items():
            if not is_a("numbers", values) or len(values) > len(columns(spec, data)):
                raise ValueError(f"published.{data}.{row} must be a number for each column, or nan; got {values!r}.")
