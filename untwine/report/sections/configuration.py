"""The configuration of a run: what was fitted, on what and with what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from untwine.report.markup import Markup, tag
from untwine.report.section import Section
from untwine.runs.reading import Run


def configuration(run: Run) -> Markup:
    """Return the tables of the run's card."""
    tables = {
        "parameters": run.table("params"),
        "data": {"shape of a sample": run.card.get("shape"), **run.table("data")},
        "dimensions of the blocks": run.table("blocks"),
        "versions": run.table("versions"),
        "seconds": run.table("seconds"),
        "files": {key: run.card[key] for key in ("weights_sha256", "sha256", "format_version") if key in run.card},
    }
    return tag("div", *(_settings(name, rows) for name, rows in tables.items() if rows), class_="sheet")


def _settings(name: str, rows: Mapping[str, Any]) -> Markup:
    lines = [
        tag("tr", tag("th", str(key), scope="row"), tag("td", _text(value)))
        for key, value in rows.items()
        if value is not None or name == "parameters"
    ]
    return tag("div", tag("table", tag("caption", name), tag("tbody", *lines), class_="settings"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


SECTION = Section("Configuration", 160, configuration)
