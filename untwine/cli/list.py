"""The command `untwine list`."""

from __future__ import annotations

from typing import Any, Literal

from untwine.cli.rows import print_json


def list_(what: Literal["methods", "data", "metrics"], *, json: bool = False) -> None:
    """List what there is: methods, data sets or metrics.

    Parameters
    ----------
    what
        `methods`, `data` or `metrics`.
    json
        Print a list of objects with `name`, `summary` and, where there are some, `options` with their defaults.
    """
    rows = _LISTS[what]()
    if json:
        print_json(rows)
        return
    wide = max(len(row["name"]) for row in rows) + 2
    for row in rows:
        needs = f" (needs {row['needs']})" if row.get("needs", "nothing") != "nothing" else ""
        print(f"{row['name']:{wide}}{row['summary']}{needs}")
        if row.get("options"):
            print(" " * wide + "  ".join(f"{key}={value}" for key, value in row["options"].items()))


def _methods() -> list[dict[str, Any]]:
    from untwine.methods import METHODS

    return [
        {"name": name, "summary": _first_line(kind), "needs": kind.needs, "options": kind().get_params()}
        for name, kind in METHODS.items()
    ]


def _data() -> list[dict[str, Any]]:
    import inspect

    from untwine.data import data_sets

    return [
        {
            "name": name,
            "summary": _first_line(function),
            "options": {key: option.default for key, option in inspect.signature(function).parameters.items()},
        }
        for name, function in data_sets().items()
    ]


def _metrics() -> list[dict[str, Any]]:
    from untwine.evaluation.registry import METRICS

    return [{"name": name, "summary": metric.description} for name, metric in METRICS.items()]


_LISTS = {"methods": _methods, "data": _data, "metrics": _metrics}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]
