"""`untwine list`: methods, data sets and metrics, or one of them in detail."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal

from untwine.cli import docstrings
from untwine.cli.flags import Json
from untwine.cli.outputs import next_command, print_json, print_table

ORDER = 10
WIDTH = 80  # of text in paragraphs
OPTION = ("name", "kind", "default", "meaning")
EVALUATED = {False: "by default", True: "on request"}
SUPERVISION = {
    "nothing": "none",
    "groups": "groups: target and background samples",
    "labels": "labels: the class of every sample",
}


def command(what: Literal["methods", "data", "metrics"], name: str | None = None, *, json: Json = False) -> None:
    """List methods, data sets or metrics; with NAME, describe one: source, options, defaults and what they mean.

    For example:

    - all methods: `untwine list methods`
    - the options of one: `untwine list methods principled_vae`
    - source, licence, files, studies and options of a data set: `untwine list data celeba`
    - the scores and options of a metric: `untwine list metrics z_diff`
    - for a script: `untwine list metrics --json`

    Parameters
    ----------
    what
        What to list.
    name
        A name from that list, to describe in detail.
    """
    entries = _LISTS[what](name)
    if json:
        print_json(entries)
    elif name is None:
        _print_list(what, entries)
    else:
        _print_detail(entries[0])


def _methods(name: str | None) -> list[dict[str, Any]]:
    from untwine.method.fields import describe
    from untwine.methods import METHODS, find_method

    def entry(kind: Any) -> dict[str, Any]:
        about = {"name": kind.name, "summary": docstrings.summary(kind), "needs": kind.needs, "options": kind().get_params()}
        if name is None:
            return about
        about |= {"supervision": SUPERVISION[kind.needs], "citation": kind.citation(), "presets": _presets(kind)}
        return about | {"parameters": [option._asdict() for option in describe(kind)]}

    return [entry(kind) for kind in (METHODS.values() if name is None else (find_method(name),))]


def _presets(kind: Any) -> dict[str, dict[str, Any]]:
    """Return the presets of a method by --preset and data set: its fields and the options of the data."""
    sources = {"paper": kind.papers, "authors": kind.public_code}
    return {
        source: {data: {"fields": dict(one.fields), "data": dict(one.data.options)} for data, one in known.items()}
        for source, known in sources.items()
    }


def _data(name: str | None) -> list[dict[str, Any]]:
    from untwine.data import data_sets
    from untwine.data.data_set import as_data_set

    def entry(key: str, function: Any) -> dict[str, Any]:
        parameters = docstrings.options(function)
        about = {"name": key, "summary": docstrings.summary(function), "options": {o["name"]: o["default"] for o in parameters}}
        if name is None:
            return about
        card = as_data_set(function).card  # a plug-in's data set may have none
        texts = docstrings.description(function)
        return about | {"description": texts, "card": None if card is None else asdict(card), "parameters": parameters}

    return [entry(key, function) for key, function in _chosen(data_sets(), name, "data set").items()]


def _metrics(name: str | None) -> list[dict[str, Any]]:
    from untwine.evaluation.registry import METRICS
    from untwine.method.fields import describe

    def entry(metric: Any) -> dict[str, Any]:
        options = describe(type(metric.options))
        about = {"name": metric.name, "summary": metric.description, "on_request": not metric.default}
        about |= {"options": {option.name: option.default for option in options}}
        scores = [f"- {score}: {info.explanation}" for score, info in metric.scores.items()]
        parameters = [option._asdict() for option in options]
        return about if name is None else about | {"description": scores, "version": metric.version, "parameters": parameters}

    return [entry(metric) for metric in _chosen(METRICS, name, "metric").values()]


_LISTS = {"methods": _methods, "data": _data, "metrics": _metrics}


def _chosen(known: Mapping[str, Any], name: str | None, kind: str) -> Mapping[str, Any]:
    """Return all entries or the named one; refuse an unknown name with the nearest."""
    from untwine.registry.checks import suggestion

    if name is None:
        return known
    if name not in known:
        raise ValueError(f"the {kind} must be a name from the catalogue; got {name!r}; {suggestion(name, known)}")
    return {name: known[name]}


def _print_list(what: str, entries: list[dict[str, Any]]) -> None:
    columns = [key for key in ("name", "needs", "on_request", "summary") if key in entries[0]]
    rows = [[entry[key] if key != "on_request" else EVALUATED[entry[key]] for key in columns] for entry in entries]
    print_table([key.replace("on_request", "evaluated") for key in columns], rows)
    if sys.stdout.isatty():
        print(f"\n{next_command('list', what, entries[0]['name'])}")


def _print_detail(entry: Mapping[str, Any]) -> None:
    print(f"{entry['name']}: {entry['summary']}")
    previous = ""
    for paragraph in entry.get("description", ()):
        print("" if previous.startswith("- ") and paragraph.startswith("- ") else "\n", end="")
        print(_fill(paragraph, "  " if paragraph.startswith("- ") else ""))
        previous = paragraph
    facts = {
        "supervision": entry.get("supervision"),
        "citation": entry.get("citation"),
        "evaluated": "on_request" in entry and EVALUATED[entry["on_request"]],
        "version": entry.get("version"),
    }
    shown = [f"{name}: {value}" for name, value in facts.items() if value]
    if shown:
        print("\n" + "\n".join(_fill(line, "    ") for line in shown))
    _print_presets(entry.get("presets", {}))
    if entry.get("parameters"):
        flag = "--set " if "supervision" in entry else "--data-set "
        if "on_request" in entry:
            flag = f"--metric-set {entry['name']}."
        print(f"\nOptions ({flag}name=value):\n")
        _print_options(entry["parameters"])


def _print_presets(presets: Mapping[str, Mapping[str, Any]]) -> None:
    """Print each preset: the data with their options, then the options of the method; equal ones once."""
    for source, known in presets.items():
        if known:
            owner = "the paper's setting" if source == "paper" else "the authors' code where it differs from the paper"
            print(f"\nPresets (--preset {source}), {owner}:\n")
        shown: dict[str, str] = {}
        for data, preset in known.items():
            print(_fill(f"- {data}: {_settings(preset['data'])}", "  "))
            fields = _settings(preset["fields"])
            print(_fill(f"  with {fields}" if fields not in shown else f"  with the options of {shown[fields]}", "    "))
            shown.setdefault(fields, data)


def _settings(options: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _print_options(options: list[dict[str, Any]]) -> None:
    """Print options: on a terminal as a list of paragraphs, piped as a table with one line each."""
    if sys.stdout.isatty():
        for option in options:
            print(_fill(f"{option['name']}={option['default']}  ({option['kind']})", "    "))
            print(_fill(f"    {option['meaning']}", "    "))
    else:
        rows = [[str(option[key]) for key in OPTION] for option in options]
        print_table(("name", "type", "default", "meaning"), rows)


def _fill(text: str, indent: str) -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
