"""`python -m benchmarks`: measure, print a table, write it as JSON, and fail if a bound does not hold."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from benchmarks import instructions, peer
from benchmarks.against import against
from benchmarks.figures import Figure
from benchmarks.suites import SUITES

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None, folder: Path = HERE) -> int:
    """Return 0 if every bound holds, 1 if one does not, 2 if pythae is not installed."""
    options = _options(arguments)
    if options.against is not None:
        return _compare(options.against, options.quick, options.instructions)
    if options.instructions:
        print("--instructions compares with another checkout; add --against FOLDER.", file=sys.stderr)
        return 2
    with_pythae = {"pythae", "factors"} if options.quick else {"pythae", "factors", "memory"}
    if with_pythae & set(options.only) and not peer.available():
        print("pythae could not be imported: install the extra 'bench', or leave out its suites with --only.", file=sys.stderr)
        return 2
    torch.set_num_threads(min(2, torch.get_num_threads()))
    figures: list[Figure] = []
    for number, suite in enumerate(options.only, 1):
        summary = " ".join(str(SUITES[suite].__doc__).split())
        print(f"[{number}/{len(options.only)}] {suite}: {summary}", flush=True)
        start = perf_counter()
        for one in SUITES[suite](options.quick):
            figures.append(one)
            print(f"      {one.name}: {one.value:.3f} {one.unit} ({perf_counter() - start:.0f} s)", flush=True)
    _show(figures)
    # Only a whole run replaces the figures that are committed.
    whole = list(options.only) == list(SUITES) and not options.quick
    _keep(figures, [folder / "out" / "bench.json", *([folder / "latest.json"] if whole else [])])
    return 0 if all(one.ok for one in figures) else 1


def _compare(other: Path, quick: bool, count: bool) -> int:
    """Measure this version beside another checkout; its figures are printed and not written."""
    if not (other / "untwine" / "__init__.py").exists():
        print(
            f"--against must be a checkout of untwine; {other} has no untwine/__init__.py; see git worktree.", file=sys.stderr
        )
        return 2
    if count and not instructions.available():
        print("--instructions needs Valgrind, which is not installed; install Debian's package valgrind.", file=sys.stderr)
        return 2
    torch.set_num_threads(min(2, torch.get_num_threads()))
    figures = []
    for one in instructions.instructions(other.resolve()) if count else against(other.resolve(), quick):
        figures.append(one)
        print(f"{one.name}: {one.value:.3f}", flush=True)
    _show(figures)
    return 0 if all(one.ok for one in figures) else 1


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", type=_names, default=list(SUITES), help=f"suites, separated by commas: {','.join(SUITES)}")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to check that it runs; the numbers mean nothing")
    parser.add_argument(
        "--against", type=Path, help="another checkout of untwine to compare the speed with, in place of suites"
    )
    parser.add_argument(
        "--instructions", action="store_true", help="with --against: count instructions by Valgrind in place of time"
    )
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(SUITES):
        raise argparse.ArgumentTypeError(f"--only must be names among {', '.join(SUITES)}; got {', '.join(sorted(unknown))}.")
    return [name for name in SUITES if name in names]


def _show(figures: Sequence[Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("measured", "median", "lowest to highest", "bound", "", title="untwine side by side")
    for one in figures:
        bound = "" if one.bound is None else f"{one.direction} {one.bound:g} {one.unit}"
        verdict = "" if one.bound is None else "[green]ok" if one.ok else "[bold red]FAILED"
        table.add_row(one.name, f"{one.value:.3f} {one.unit}", f"{one.low:.3f} to {one.high:.3f}", bound, verdict)
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    for one in figures:
        sides = {key: value for key, value in one.detail.items() if isinstance(value, dict)}
        for key, value in sides.items():
            numbers = ", ".join(f"{side} {number:,g}" for side, number in value.items())
            console.print(f"{one.name}: {key.replace('_', ' ')}: {numbers}", highlight=False, soft_wrap=True)


def _keep(figures: Sequence[Figure], paths: Sequence[Path]) -> None:
    content: dict[str, Any] = {
        "threads": torch.get_num_threads(),
        "versions": {
            "python": platform.python_version(),
            **{name: _version(name) for name in ("untwine", "torch", "numpy", "pythae")},
        },
        "figures": [one.plain() for one in figures],
    }
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=2) + "\n")


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
