"""Write docs/metrics: a page for every metric of the catalogue, from what its code says of it, and an index.

Run `python tools/metric_pages.py` after a change of a metric's scores, directions, needs, options or version; `--check` writes
nothing and exits with 1 if a page is out of date. The images of the pages are drawn by `python tools/metric_images.py`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from untwine.evaluation.registry import METRICS
from untwine.method.fields import describe
from untwine.metrics import Directions, Metric

ROOT = Path(__file__).parents[1]
PAGES, IMAGES = ROOT / "docs" / "metrics", ROOT / "docs" / "images" / "metrics"
INDEX = """# Metrics

What each number of `untwine evaluate` means. A metric scores the codes of each block, or what is decoded from them; a score is named
`<score>.<block>`, such as `probe.salient`, and comes with a 95 % interval, the number of samples, its direction and the version of its metric. Which
direction is better depends on the block: the label should be predicted from `salient`, and not from `common`.

`un.evaluate(method, samples)` and `untwine evaluate RUN` score every metric that applies and is scored by default, `--metrics NAME ...` those that are named.
The functions behind them are in `untwine.metrics` and take plain arrays, so any codes can be scored. The images show codes, or decoded images, that score high and low;
the numbers in them are those of the metric itself, colours are classes, groups or values of a factor, and a matrix shows how much each latent encodes about each factor. These pages are written by `python tools/metric_pages.py`, their images drawn by
`python tools/metric_images.py`.

One score alone says little. A block that predicts the label may hold all else as well: look at both blocks, and at chance. Codes can score well and still decode
badly: look at the reconstruction, too.
"""
BLOCKS = ("salient", "common", "class", "content", "z")


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    ours = {name: metric for name, metric in METRICS.items() if metric.function.__module__.startswith("untwine.")}
    return {"README.md": index(ours)} | {f"{name}.md": page(metric) for name, metric in ours.items()}


def index(metrics: Mapping[str, Metric]) -> str:
    """Return the index: the metrics that are scored by default, and the others."""
    parts = [INDEX]
    for default, title in ((True, "Scored by default"), (False, "Scored on request")):
        rows = [f"| [{n}]({n}.md) | {_cell(m.description)} |" for n, m in metrics.items() if m.default == default]
        parts.append("\n".join([f"## {title}\n", "| metric | what it measures |", "| --- | --- |", *rows, ""]))
    return "\n".join(parts)


def page(metric: Metric) -> str:
    """Return the page of one metric."""
    paragraphs = [f"# {metric.name}", metric.description]
    if (IMAGES / f"{metric.name}.png").exists():
        image = f"![Examples with their scores](../images/metrics/{metric.name}.png)"
        paragraphs += [image, f"Drawn by `python tools/metric_images.py {metric.name}`."]
    rows = [f"| `{name}` | {_cell(one.explanation)} | {_better(one.directions)} |" for name, one in metric.scores.items()]
    if rows:
        paragraphs.append("\n".join(["| score | what it says | better |", "| --- | --- | --- |", *rows]))
    readers = dict.fromkeys(one.reader for one in metric.scores.values() if one.reader)
    when = "By default" if metric.default else "On request"
    facts = [f"- **Scored**: {when.lower()}; `untwine evaluate RUN --metrics {metric.name}`."]
    facts += [f"- **Needs**: {'; '.join(one.needs for one in metric.requires)}."] if metric.requires else []
    facts += [f"- **Predicted by**: {'; '.join(readers)}."] if readers else []
    facts += [f"- **Version**: {metric.version}; raised whenever the same codes would get another value."]
    paragraphs.append("\n".join(facts))
    if options := describe(type(metric.options)):
        lines = [
            "| " + " | ".join((f"`{one.name}`", _cell(one.kind), f"`{one.default!r}`", _cell(one.meaning))) + " |"
            for one in options
        ]
        table = ["| option | type | default | meaning |", "| --- | --- | --- | --- |", *lines]
        paragraphs += [
            "## Options",
            f'`--metric-set {metric.name}.{options[0].name}=VALUE`, in Python `"{metric.name}({options[0].name}=VALUE)"`.',
            "\n".join(table),
        ]
    return "\n\n".join(paragraphs) + "\n"


def _better(directions: Directions) -> str:
    """Return which direction is better, with the blocks where it is another."""
    words = {"higher": "higher", "lower": "lower", "info": "neither"}
    by_block = {block: words[directions[block]] for block in BLOCKS}
    if len(set(by_block.values())) == 1:
        return by_block["z"]
    grouped: dict[str, list[str]] = {}
    for block, word in by_block.items():
        grouped.setdefault(word, []).append(f"`{block}`")
    return "; ".join(f"{word} in {', '.join(blocks)}" for word, blocks in grouped.items())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def main() -> int:
    """Write all pages, or check them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    check, texts = parser.parse_args().check, pages()
    known = {path.name: path.read_text(encoding="utf-8") for path in PAGES.glob("*.md")}
    outdated = sorted(name for name in known.keys() | texts.keys() if known.get(name) != texts.get(name))
    if not check:
        PAGES.mkdir(exist_ok=True)
        for name in outdated:
            (PAGES / name).write_text(texts[name], encoding="utf-8") if name in texts else (PAGES / name).unlink()
    print("\n".join(f"docs/metrics/{name}" for name in outdated))
    return int(check and bool(outdated))


if __name__ == "__main__":
    sys.exit(main())
