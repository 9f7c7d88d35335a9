"""How to reproduce a run: the command line and the Python lines."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from untwine.report.markup import Markup, join, tag
from untwine.report.section import Section
from untwine.runs.compatibility import settle
from untwine.runs.reading import Run

WIDTH = 92
SPLIT = ("test", "seed")  # options of your own data that say how they are split
OWN = "own"  # the name of a module that was given in Python


def reproduce(run: Run) -> Markup:
    """Return the lines that reproduce the run."""
    return join(
        tag("p", "On the command line:"),
        tag("pre", tag("code", command_line(run))),
        tag("p", "In Python:"),
        tag("pre", tag("code", python_lines(run))),
    )


def command_line(run: Run) -> str:
    """Return the shell commands that fit and score the run again."""
    words = [f"untwine fit {shlex.quote(run.method)}"]
    if "target" not in _options(run):  # which, with the background, takes the place of a name
        words += [f"--data {shlex.quote(str(run.table('data').get('name') or 'YOUR_DATA'))}"]
    words += [f"--data-set {shlex.quote(setting(key, value))}" for key, value in _options(run).items()]
    words += [f"--features {shlex.quote(features)}"] if (features := _features(run)) else []
    words += [f"--set {shlex.quote(setting(key, value))}" for key, value in _settings(run).items()]
    words += [f"--out {shlex.quote(str(run.path))}"]
    return " \\\n    ".join(_wrap(words, " ")) + f"\nuntwine evaluate {shlex.quote(str(run.path))}"


def fit_again(run: Run, changes: Mapping[str, Any]) -> str:
    """Return the shell command that fits the run again with other fields, into a folder beside it."""
    changed = replace(
        run, card={**run.card, "params": {**run.table("params"), **changes}}, path=run.path.with_name(_beside(run, changes))
    )
    return command_line(changed).rpartition("\n")[0]


def show_data(run: Run) -> str:
    """Return the shell command that shows the data of the run: your own files, or the page of a data set by name."""
    options, name = _options(run), run.table("data").get("name")
    own = "target" in options or name is None or Path(str(name)).suffix or "/" in str(name)
    if not own:
        return shlex.join(["untwine", "list", "data", str(name)])
    words = ["untwine", "data", "show"] + ([] if "target" in options else [str(name or "YOUR_DATA")])
    for key, value in options.items():
        words += ["--data-set", setting(key, value)] if key not in SPLIT else []
    return shlex.join([*words, "--out", str(run.path.with_name(f"{run.path.name}-data.png"))])


def _beside(run: Run, changes: Mapping[str, Any]) -> str:
    return "-".join([run.path.name, *(f"{name}={_text(value)}" for name, value in changes.items())])


def python_lines(run: Run) -> str:
    """Return the Python lines that load the run, and that fit it again."""
    name = run.table("data").get("name")
    given = "".join(f", {key}={value!r}" for key, value in _options(run).items())
    own = run.card.get("own_networks")
    networks = ", networks=networks" if own else ""
    features = _features(run)
    loaded = ", features=features" if features == OWN else ""
    fitted = loaded or (f", features={features!r}" if features else "")
    lines = ["import untwine as un", ""]
    lines += [
        f"data = un.load({str(name)!r}{given})" if name else "data = ...  # your own: data.train and data.test, each Samples"
    ]
    lines += [f"networks = ...  # your own modules: {', '.join(map(str, own))}"] if isinstance(own, list) and own else []
    lines += ["features = ...  # your own frozen module"] if loaded else []
    lines += [f"method = un.load_method({str(run.path)!r}{networks}{loaded})"]
    params = _wrap([f"{key}={value!r}," for key, value in _settings(run).items()], " ")
    lines += ["again = type(method)(", *(f"    {line}" for line in params), f").fit(data.train{networks}{fitted})"]
    return "\n".join([*lines, "un.evaluate(again, data.test)"])


def _features(run: Run) -> str:
    """Return the name of the network whose features of images the run was fitted on; empty where there is none."""
    features = run.table("data").get("features")
    return str(features.get("name", "")) if isinstance(features, Mapping) else ""


def _options(run: Run) -> Mapping[str, Any]:
    options = run.table("data").get("options")
    return options if isinstance(options, Mapping) else {}


def setting(name: str, value: Any) -> str:
    """Return what --set or --data-set is given for an option."""
    return f"{name}={_text(value)}"


def _settings(run: Run) -> Mapping[str, Any]:
    """Return the options that repeat the fit, with what was chosen from the data."""
    return settle(run.table("params"), run.table("found"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _wrap(words: Iterable[str], space: str) -> list[str]:
    """Return words in lines of at most `WIDTH` characters; a word is never broken."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(space) + len(word) <= WIDTH:
            lines[-1] += space + word
        else:
            lines.append(word)
    return lines


SECTION = Section("Reproduce this run", 170, reproduce)
