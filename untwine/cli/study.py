"""The commands on studies: run one, and print its table beside the paper's figures."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from untwine.study import Study, Table
from untwine.study.reading import title
from untwine.study.results import Entry

study = App(
    name="study", help="Run the studies of published tables, and print ours beside the paper's.", help_format="markdown"
)
study.default_parameter = Parameter(negative=())

Size = Literal["small", "paper"]


@study.command
def run(
    file: Path,
    *,
    size: Size = "small",
    workers: int = 2,
    threads: int = 1,
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    out: Path = Path("runs/studies"),
    results: Path | None = None,
    quiet: bool = False,
) -> None:
    """Run all cells of a study that are not finished; one that was stopped or killed goes on with the same command.

    Example: `untwine study run studies/principled_table1.toml --workers 2 --only row=PCA,seed=0`.

    Parameters
    ----------
    file
        The study, a TOML file.
    size
        `small`, for two cores: 40 minutes at most for each published table, hours for the longer `_goals`; or `paper`.
    workers
        How many cells run at a time, each in a process of its own.
    threads
        The threads of each.
    only
        Only some cells, as row=...,data=...,seed=...; may be repeated, and a name that is given twice means either.
    out
        Where the run folders go.
    results
        The folder of the long table of finished cells; `results` beside the study's file where not given.
    quiet
        Show no progress.
    """
    began = monotonic()
    try:
        ran = Study.read(file).run(
            out, size, workers=workers, threads=threads, only=_only(only), results=results, progress=not quiet
        )
    except KeyboardInterrupt:
        print("untwine: stopped; the same command goes on.", file=sys.stderr)
        sys.exit(130)
    for sentence in (*ran.skipped, *(f"failed: {one}" for one in ran.failed)):
        print(f"untwine: {sentence}", file=sys.stderr)
    took = f"{(monotonic() - began) / 60:.1f} minutes"
    counts = f"{ran.finished} cells run, {ran.known} finished before, {len(ran.failed)} failed"
    print(f"{counts}, in {took}  (next: untwine study table {file})")
    if ran.failed:
        sys.exit(1)


@study.command
def table(
    file: Path,
    *,
    size: Size = "small",
    results: Path | None = None,
    epoch: int | None = None,
    spread: Literal["deviation", "range"] = "deviation",
    markdown: bool = False,
    json: bool = False,
    figure: Path | None = None,
) -> None:
    """Print mean and standard deviation over seeds for every row and column, beside the paper's figures.

    Examples: `untwine study table studies/infogan_table1.toml`; best, average and worst seed, as some papers print them:
    `untwine study table studies/infogan_table1.toml --spread range`; as it was after 4 epochs, where the study scores then:
    `untwine study table studies/infogan_table2.toml --epoch 4`.

    Parameters
    ----------
    file
        The study, a TOML file.
    size
        `small` or `paper`.
    results
        The folder of the long table; `results` beside the study's file where not given.
    epoch
        Scores after this epoch, one of the study's `epochs_scored`, in place of those at the end.
    spread
        `deviation` over seeds, or their `range`: the lowest and the highest.
    markdown
        Print it as Markdown.
    json
        Print it as JSON.
    figure
        Draw the study's figure to this file instead.
    """
    read = Study.read(file)
    if figure is not None:
        from untwine.plots.studies import study_figure

        panels = read.panels(size, results)
        study_figure(panels).savefig(figure, dpi=150)
        print(figure)
        return
    found = read.table(size, results, epoch)
    if json:
        content = {"study": read.name, "size": size, "others": found.others, "entries": [e._asdict() for e in found.entries]}
        print(json_format.dumps(content, indent=2, allow_nan=False))
    else:
        print("\n".join(shown(read, found, markdown, spread)))


def shown(read: Study, found: Table, markdown: bool, spread: str = "deviation") -> Iterator[str]:
    """Yield the lines of the table, one block for each data set."""
    digits = {title(column): column.get("digits", 2) for column in read.spec["column"]}
    yield f"{'**' * markdown}{read.spec['title']}{'**' * markdown}"
    for data in dict.fromkeys(entry.data for entry in found.entries):
        here = [entry for entry in found.entries if entry.data == data]
        yield ""
        if not any(entry.seeds for entry in here):
            yield f"{data}: missing: no cell is finished."
            continue
        lines = [[data, *dict.fromkeys(entry.column for entry in here), "seeds"]]
        for row in dict.fromkeys(entry.row for entry in here):
            cells = [entry for entry in here if entry.row == row]
            done, of = cells[0].seeds, cells[0].of
            if of or any(entry.published is not None for entry in cells):
                words = (_words(entry, digits[entry.column], spread) for entry in cells)
                lines.append([row, *words, f"{done} of {of}" if of else "-"])
        yield from _aligned(lines, markdown)
    yield ""
    over = "Mean ± standard deviation over seeds" if spread == "deviation" else "Mean over seeds (lowest to highest)"
    yield f"{over}; in brackets the paper's; (all): from all codes of a method without separate blocks."
    if found.others:
        yield f"{found.others} cells of another configuration are in the long table and not shown."


def _words(entry: Entry, digits: int, spread: str) -> str:
    paper = "" if entry.published is None else f" [{entry.published:.{digits}f}]"
    if entry.mean is None:
        return ("missing" if entry.of and not entry.seeds else "-") + paper
    beside = "" if entry.std is None else f" ± {entry.std:.{digits}f}"
    if beside and spread == "range":
        beside = f" ({entry.lowest:.{digits}f} to {entry.highest:.{digits}f})"
    return f"{entry.mean:.{digits}f}{beside}{' (all)' * entry.score.endswith('.z')}{paper}"


def _aligned(lines: Sequence[Sequence[str]], markdown: bool) -> Iterator[str]:
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    if markdown:
        lines = [lines[0], ["---" for _ in wide], *lines[1:]]
    for line in lines:
        if markdown:
            yield f"| {' | '.join(line)} |"
        else:
            yield "  ".join(text.ljust(width) for text, width in zip(line, wide, strict=True)).rstrip()


def _only(words: Sequence[str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for word in ",".join(words).split(",") if words else ():
        key, equals, value = word.partition("=")
        if not equals or (key == "seed" and not value.isdigit()):
            raise ValueError(f"--only expected row=...,data=...,seed=... with a number as seed; got {word!r}.")
        found.setdefault(key, []).append(int(value) if key == "seed" else value)
    return found
