"""Draw the subpackages of the package and their imports: docs/images/architecture.svg, from the import statements of the code.

    python tools/import_graph.py            writes the file (`make architecture`)
    python tools/import_graph.py --check    exits with 1 if the file is not what the present code gives

A subpackage (or a module at the root) is drawn one level above the highest one that it imports. An arrow goes from a subpackage
to one that it imports; an arrow that follows from others (a imports b, b imports c, so a may import c) is left out. Lazy
imports count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "untwine"
DRAWING = ROOT / "docs" / "images" / "architecture.svg"
ORDER = ROOT / "tests" / "test_imports.py"  # the list SUBPACKAGES, which the imports are tested against

LEFT_OUT = ("__main__", "_typing")  # one line each
WIDTH, HEIGHT = 176, 58  # of a box
PASSAGE = 8  # where an arrow passes between boxes
GAP, LEVEL, MARGIN = 24, 118, 24  # between boxes, between levels, around
NOTES = {
    "registry": ("catalogues, plug-ins,", "checks of options"),
    "samples": ("Samples: what was observed",),
    "latents": ("Latents: blocks of codes",),
    "runs": ("the run folder: names,", "formats, versions"),
    "data": ("catalogue, readers, splits",),
    "training": ("loop, stages, batches,", "optimizer, checkpoints"),
    "losses": ("pure functions of tensors",),
    "networks": ("plain modules, pretrained", "feature extractors"),
    "linear": ("group covariances,", "contrast test"),
    "method": ("the contract: fit, encode,", "decode, save, load"),
    "manipulate": ("swap, remove, sample,", "interpolate, traverse"),
    "methods": ("one paper, one file",),
    "export": ("ONNX, AnnData, the Hub",),
    "metrics": ("arrays in, floats out",),
    "evaluation": ("evaluate, gallery,", "diagnostics"),
    "plots": ("functions that return", "a matplotlib Figure"),
    "report": ("one page from", "run folders"),
    "study": ("data x method x seed,", "and the long table"),
    "selection": ("compare and tune", "under a budget"),
    "explore": ("the local web app", "on run folders"),
    "cli": ("one file per command",),
}
STYLE = """
  svg { --paper: #ffffff; --box: #f2f5f9; --rule: #8494a8; --ink: #1c2733; --note: #5a6a7d; --arrow: #7d8fa6; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #14191f; --box: #212a34; --rule: #5d6f84; --ink: #e8eef5; --note: #a3b2c4; --arrow: #7f93ab; }
  }
  .paper { fill: var(--paper); }
  .box { fill: var(--box); stroke: var(--rule); }
  .name { fill: var(--ink); font: 600 15px system-ui, sans-serif; }
  .note { fill: var(--note); font: 11px system-ui, sans-serif; }
  .arrow { fill: none; stroke: var(--arrow); stroke-width: 1.4; }
  .head { fill: var(--arrow); }
"""


def subpackages() -> tuple[str, ...]:
    """Return the subpackages in the order of the test of imports."""
    for node in ast.parse(ORDER.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SUBPACKAGES":
            return tuple(subpackage for subpackage in ast.literal_eval(node.value) if subpackage not in LEFT_OUT)
    raise ValueError(f"{ORDER} must have the list SUBPACKAGES; got none; add it.")


def imports(known: Sequence[str]) -> dict[str, set[str]]:
    """Return for each subpackage the subpackages that it imports."""
    graph: dict[str, set[str]] = {subpackage: set() for subpackage in known}
    for path in sorted(PACKAGE.rglob("*.py")):
        subpackage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if subpackage in graph else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
                names = [f"untwine.{name}" for name in names] if module == "untwine" else [module]
            others = {name.split(".")[1] for name in names if name.startswith("untwine.")}
            graph[subpackage] |= (others & set(graph)) - {subpackage}
    return graph


def reduce(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return the transitive reduction: edges that do not follow from others."""

    def reach(subpackage: str) -> set[str]:
        return set().union(*({other, *reach(other)} for other in graph[subpackage]))

    return {
        subpackage: {one for one in others if not any(one in reach(o) for o in others - {one})}
        for subpackage, others in graph.items()
    }


def levels(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """Return for each subpackage the length of the longest chain of imports below it."""

    def level(subpackage: str) -> int:
        return 1 + max((level(other) for other in graph[subpackage]), default=-1)

    return {subpackage: level(subpackage) for subpackage in graph}


def draw() -> str:
    """Return the drawing."""
    known = subpackages()
    graph = imports(known)
    edges, level = reduce(graph), levels(graph)
    paths = [
        [subpackage, *(f"{subpackage} {other} {n}" for n in range(level[subpackage] - 1, level[other], -1)), other]
        for subpackage in known
        for other in sorted(edges[subpackage], key=known.index)
    ]
    place = _place(known, level, paths)
    wide = max(x + (WIDTH / 2 if point in level else 0) for point, (x, _) in place.items()) + MARGIN
    high = max(y for _, y in place.values()) + HEIGHT + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}">',
        "<title>The subpackages of untwine and their imports: an arrow goes from a subpackage to one it imports.</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{wide:g}" height="{high:g}"/>',
        '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
        '<path class="head" d="M0 0 8 4 0 8z"/></marker>',
        *(_arrow(path, paths, place) for path in paths),
        *(line for subpackage in known for line in _box(subpackage, *place[subpackage])),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _place(known: Sequence[str], level: Mapping[str, int], paths: Sequence[Sequence[str]]) -> dict[str, tuple[float, float]]:
    """Return the middle of the upper edge of each box, and of each gap that an arrow passes between two boxes.

    Within a level, boxes and gaps are sorted by the mean place of what they are joined to (the barycentre heuristic).
    """
    top = max(level.values())
    passed = {point: top_level - n for path in paths for n, point in enumerate(path) for top_level in [level[path[0]]]}
    order = {point: number for number, point in enumerate([*known, *(point for point in passed if point not in known)])}
    rows = [[p for p in order if (level[p] if p in level else passed[p]) == number] for number in range(top + 1)]
    joined: dict[str, list[str]] = {point: [] for point in order}
    for path in paths:
        for one, other in pairwise(path):
            joined[one].append(other)
            joined[other].append(one)
    size = {point: float(WIDTH if point in level else PASSAGE) for point in order}
    widest = max(sum(size[point] + GAP for point in row) - GAP for row in rows)
    x: dict[str, float] = {}

    def align(row: list[str]) -> None:
        left = MARGIN + (widest - sum(size[point] + GAP for point in row) + GAP) / 2
        for point in row:
            x[point] = left + size[point] / 2
            left += size[point] + GAP

    for row in rows:
        align(row)
    for _ in range(12):
        for row in [*rows, *rows[::-1]]:
            row.sort(key=lambda point: (sum(x[o] for o in joined[point]) / max(len(joined[point]), 1), order[point]))
            align(row)
    least = min(x[point] - size[point] / 2 for point in order) - MARGIN
    return {
        point: (round(x[point] - least, 1), float(MARGIN + (top - number) * LEVEL))
        for number, row in enumerate(rows)
        for point in row
    }


def _arrow(path: Sequence[str], paths: Sequence[Sequence[str]], place: Mapping[str, tuple[float, float]]) -> str:
    subpackage, other = path[0], path[-1]
    below = sorted((one for one in paths if one[0] == subpackage), key=lambda one: place[one[1]])
    above = sorted((one for one in paths if one[-1] == other), key=lambda one: place[one[-2]])
    x, y = place[subpackage][0] + WIDTH * ((below.index(path) + 1) / (len(below) + 1) - 0.5), place[subpackage][1] + HEIGHT
    line = f"M{x:.1f} {y:g}"
    for point in path[1:]:
        to_x, to_y = place[point]
        if point == other:
            to_x += WIDTH * ((above.index(path) + 1) / (len(above) + 1) - 0.5)
        bend = (to_y - y) / 2
        line += f"C{x:.1f} {y + bend:g} {to_x:.1f} {to_y - bend:g} {to_x:.1f} {to_y:g}"
        x, y = to_x, to_y + HEIGHT
        line += f"V{y:g}" if point != other else ""
    return f'<path class="arrow" marker-end="url(#head)" d="{line}"><title>{subpackage} imports {other}</title></path>'


def _box(subpackage: str, x: float, y: float) -> list[str]:
    left = x - WIDTH / 2
    notes = NOTES.get(subpackage, ())
    return [
        f'<rect class="box" x="{left:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>',
        f'<text class="name" x="{left + 10:g}" y="{y + 20:g}">{escape(subpackage)}</text>',
        *(
            f'<text class="note" x="{left + 10:g}" y="{y + 36 + 14 * n:g}">{escape(note)}</text>'
            for n, note in enumerate(notes)
        ),
    ]


def main(arguments: list[str]) -> int:
    """Write the drawing, or with `--check` compare it with the committed one."""
    drawing = draw()
    if "--check" in arguments:
        if DRAWING.exists() and DRAWING.read_text(encoding="utf-8") == drawing:
            return 0
        print(f"{DRAWING.relative_to(ROOT)} must show the present imports; got another drawing; run `make architecture`.")
        return 1
    DRAWING.write_text(drawing, encoding="utf-8")
    print(DRAWING.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
