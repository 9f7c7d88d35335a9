"""The model card of a run: a README.md with YAML metadata that says what was fitted, how well it does and how it is loaded.

The layout is that of the Hugging Face Hub; values in the metadata are JSON, which is YAML too.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untwine.runs import files
from untwine.runs.names import MODEL_CARD
from untwine.runs.scores import Score

MARK = "# Written by untwine and rewritten by `untwine evaluate`; remove this line to keep your own text."
TAGS = ("untwine", "disentanglement", "representation-learning")
SHOWN = 40  # characters of an option's value
WORDS = {"higher": "higher is better", "lower": "lower is better", "info": "for information"}


def write_model_card(
    folder: str | os.PathLike[str], card: Mapping[str, Any], citation: str, scores: Mapping[str, Score] | None = None
) -> None:
    """Write the model card of a run, unless somebody has put a README.md of their own there.

    Parameters
    ----------
    folder
        The run folder.
    card
        The configuration of the run, as `read_card` returns it.
    citation
        What the method's paper is.
    scores
        The scores of the run, where it has some.
    """
    path = Path(folder) / MODEL_CARD
    if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace").splitlines():
        return
    blocks = [_metadata(card, scores or {}), _about(card, citation), _use(card), _scores(scores or {}), _options(card)]
    licence = (
        "## Licence\n\nThe code of untwine is under the MIT licence. Weights that were fitted to data are bound to the "
        "terms of these data.\n"
    )
    files.write(path, "\n".join([*filter(None, blocks), licence]))


def _metadata(card: Mapping[str, Any], scores: Mapping[str, Score]) -> str:
    method, data = str(card["method"]), _data(card)
    lines: dict[str, Any] = {
        "library_name": "untwine",
        "tags": [*TAGS, method.replace("_", "-")],
        "model_name": f"{method} on {data}",
        "code_license": "mit",
        "untwine": {key: card[key] for key in ("format_version", "method", "blocks", "shape", "versions") if key in card},
    }
    if measured := {name: score for name, score in scores.items() if math.isfinite(score.value)}:
        metrics = [{"type": name, "name": name, "value": score.value} for name, score in measured.items()]
        result = {
            "task": {"type": "feature-extraction", "name": "disentanglement"},
            "dataset": {"type": data, "name": data},
            "metrics": metrics,
        }
        lines["model-index"] = [{"name": method, "results": [result]}]
    content = "\n".join(f"{key}: {json.dumps(value, allow_nan=False)}" for key, value in lines.items())
    return f"---\n{MARK}\n{content}\n---\n"


def _about(card: Mapping[str, Any], citation: str) -> str:
    data, shape = card.get("data") or {}, card.get("shape") or []
    blocks = ", ".join(f"`{name}` ({width})" for name, width in (card.get("blocks") or {}).items())
    sample = f"vectors of {shape[0]} features" if len(shape) == 1 else f"images of {' x '.join(map(str, shape))}"
    known = [f"`{key}={value}`" for key, value in (data.get("options") or {}).items()]
    lines = [
        f"# {card['method']} on {_data(card)}\n",
        f"- **Method**: `{card['method']}`. {_line(citation)}",
        f"- **Blocks** of codes, with their dimensions: {blocks}.",
        f"- **Data**: {_data(card)}{' with ' + ', '.join(known) if known else ''}: {data.get('rows', 'unknown')} {sample}.",
        f"- **Fingerprint** of the data: `{str(data.get('fingerprint', 'unknown'))[:16]}`.",
    ]
    return "\n".join(lines) + "\n"


def _use(card: Mapping[str, Any]) -> str:
    block = next((name for name in ("salient", "class") if name in (card.get("blocks") or {})), None)
    own = card.get("own_networks") or []
    networks = f", networks={{{', '.join(f'{name!r}: ...' for name in own)}}}" if own else ""
    lines = [
        "import untwine as un",
        "",
        f'method = un.load_method("path/to/this/folder"{networks})  # JSON and safetensors: nothing is executed',
        "z = method.encode(x)  # x: an array, a data frame, AnnData or Samples",
    ]
    if block:
        lines.append(f'without = method.decode(z.remove("{block}"))')
    commands = ["untwine encode path/to/this/folder DATA --out codes.csv", "untwine report path/to/this/folder"]
    python, shell = "\n".join(lines), "\n".join(commands)
    return f"## Use\n\n```python\n{python}\n```\n\n```\n{shell}\n```\n"


def _scores(scores: Mapping[str, Score]) -> str:
    if not scores:
        return "## Scores\n\nNone yet: `untwine evaluate path/to/this/folder`.\n"
    head = "| score | value | 95 % interval | n | |\n| --- | --- | --- | --- | --- |\n"
    rows = [
        f"| {_cell(name)} | {one.value:.4g} | {one.low:.4g} to {one.high:.4g} | {one.n} | {WORDS.get(one.direction, '')} |\n"
        for name, one in scores.items()
    ]
    return "## Scores\n\nOn held-out samples.\n\n" + head + "".join(rows)


def _options(card: Mapping[str, Any]) -> str:
    rows = [f"| {_cell(key)} | {_cell(_short(value))} |\n" for key, value in (card.get("params") or {}).items()]
    return "## Options\n\n| option | value |\n| --- | --- |\n" + "".join(rows)


def _data(card: Mapping[str, Any]) -> str:
    """Return the name of the data: of a path its last part, for the card may be published."""
    name = (card.get("data") or {}).get("name")
    return Path(str(name)).name if name else "data without a name"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _line(text: str) -> str:
    return " ".join(text.split())


def _cell(text: str) -> str:
    return _line(text).replace("|", r"\|")
