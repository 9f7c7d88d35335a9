"""`untwine study list`, `run`, `status` and `table`: reproduce a published table, and print it beside the paper's numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import localtime, monotonic, strftime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from untwine.cli.flags import EVERY, Json, Quiet
from untwine.cli.outputs import align, next_command, print_json, print_table

if TYPE_CHECKING:
    from untwine.study import Study, Table
    from untwine.study.results import Entry
    from untwine.study.status import Status

ORDER = 100
command = App(
    name="study",
    help="Reproduce published tables: many runs (data x method x seed), and one table beside the paper's numbers.",
    help_format="markdown",
    default_parameter=EVERY,
)

File = Annotated[Path, Parameter(help="The study: a name that `untwine study list` shows, or a TOML file.")]
Size = Annotated[
    Literal["small", "paper"],
    Parameter(help="`small`, for two cores: at most 40 minutes per published table, hours for the `_goals`; or `paper`."),
]
On = Annotated[
    str,
    Parameter(
        help="Where cells run: `local`, processes of this machine; `here`, one after the other in this process; `ray`, a Ray "
        "cluster, which needs `pip install 'untwine[cluster]'`, or the address of its client server, `ray://HOST:PORT`."
    ),
]
Results = Annotated[
    Path | None,
    Parameter(
        help="The folder of the long table of finished cells; by default `results` beside the study's file, and "
        "`runs/studies/results` for a study of an installed package."
    ),
]


@command.command(name="list")
def list_(*, json: Json = False) -> None:
    """List the studies that come with the package: name, finished cells of each size, title, and the paper's table."""
    from untwine.study import Study
    from untwine.study.published import published_studies
    from untwine.study.schema import SIZES

    studies = [Study.read(path) for path in published_studies().values()]
    finished = [{size: study.finished(size) for size in SIZES} for study in studies]
    if json:
        print_json(
            [
                {"name": study.name, "title": study.spec["title"], "paper": study.spec.get("paper")}
                | {"finished": {size: {"finished": done, "of": of} for size, (done, of) in sizes.items()}}
                for study, sizes in zip(studies, finished, strict=True)
            ]
        )
        return
    rows = [
        (study.name, *(f"{sizes[size][0]} of {sizes[size][1]}" for size in ("small", "paper")), *_titles(study))
        for study, sizes in zip(studies, finished, strict=True)
    ]
    print_table(("name", "small cells", "paper's cells", "title", "paper"), rows)


def _titles(study: Study) -> tuple[str, str]:
    return str(study.spec["title"]), str(study.spec.get("paper", "-"))


@command.command
def run(
    file: File,
    *,
    size: Size = "small",
    on: On = "local",
    workers: int | None = None,
    threads: int | None = None,
    memory: float | None = None,
    gpus: float | None = None,
    address: str | None = None,
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    out: Path = Path("runs/studies"),
    results: Results = None,
    quiet: Quiet = False,
) -> None:
    """Run all cells of a study that are not finished; the same command resumes an interrupted study.

    For example:

    - two processes of this machine: `untwine study run principled_table1 --only row=PCA,seed=0`
    - all cores of this machine: `untwine study run principled_table1 --on ray`
    - a Ray cluster: `untwine study run principled_table1 --on ray --address head:6379 --threads 2 --memory 8`

    A data set whose files are missing is skipped with a sentence. The exit code is 0 if no cell failed, 1 if one did, and 2 if
    the data of all cells are missing. The same command may run several times at once: each takes cells that no other has.

    Parameters
    ----------
    workers
        How many cells run at a time, each in its own process; by default 2, and on Ray as many as there is room for.
    threads
        Threads of each cell; on Ray also the cores that are reserved for it. By default what the study says, or 1.
    memory
        Gigabytes that Ray reserves for each cell; by default what the study says, or none.
    gpus
        GPUs that Ray reserves for each cell; by default what the study says, or none.
    address
        With `--on ray`, a running cluster, as HOST:PORT; by default one is started on this machine and ended afterwards.
    only
        Only these cells, as row=...,data=...,seed=...; may be repeated, and a name given twice means either value.
    out
        The folder of the run folders.
    """
    from untwine.study import Study

    start = monotonic()
    try:
        ran = Study.read(file).run(
            out,
            size,
            on=on,
            workers=2 if workers is None and on == "local" else workers,
            threads=threads,
            memory=memory,
            gpus=gpus,
            address=address,
            only=_parse_only(only),
            results=results,
            progress=not quiet,
        )
    except KeyboardInterrupt:
        print("untwine: stopped; the same command resumes the study.", file=sys.stderr)
        sys.exit(130)
    for sentence in (*ran.skipped, *(f"failed: {cell}" for cell in ran.failed)):
        print(f"untwine: {sentence}", file=sys.stderr)
    if ran.skipped and not (ran.finished or ran.known or ran.failed):
        raise ValueError(
            f"{file.stem} must have data for at least one cell; the data of all are missing; set UNTWINE_DATA to a folder that "
            "has them, or choose other cells by --only."
        )
    counts = f"{ran.finished} cells run, {ran.known} finished before, {len(ran.failed)} failed"
    print(f"{counts}, in {(monotonic() - start) / 60:.1f} minutes  {next_command('study', 'table', file)}")
    if ran.failed:
        sys.exit(1)


@command.command
def status(
    file: File, *, size: Size = "small", out: Path = Path("runs/studies"), results: Results = None, json: Json = False
) -> None:
    """Print what of a study is finished, running (by whom, since when), failed (why) and missing, and the time left.

    It asks no process, only the folders, so it sees the cells of every `study run`, on every machine that shares them.

    Parameters
    ----------
    out
        The folder of the run folders, as it was given to `study run`.
    """
    from untwine.study import Study

    study = Study.read(file)
    progress = study.status(out, size, results)
    if json:
        print_json(_status_json(study, size, progress))
        return
    rows = [(data, *map(str, one.counts.values())) for data, one in _by_data(progress).items()]
    print_table(("data", *progress.counts), [*rows, ("all", *map(str, progress.counts.values()))])
    for one in progress.of("running"):
        if one.runs is not None:
            since = strftime("%Y-%m-%d %H:%M:%S", localtime(one.runs.since))
            print(f"running: {one.cell}: process {one.runs.pid} on {one.runs.host}, since {since}")
    for one in progress.of("failed"):
        print(f"failed: {one.cell}: {one.sentence}")
    for sentence in dict.fromkeys(one.sentence for one in progress.of("missing") if one.sentence):
        print(f"missing: {sentence}")
    if progress.seconds_left:
        at_once = max(len(progress.of("running")), 1)
        print(f"about {progress.seconds_left / 60:.1f} minutes left with {at_once} at a time")


def _by_data(progress: Status) -> dict[str, Status]:
    names = dict.fromkeys(one.cell.data for one in progress.cells)
    return {name: progress._replace(cells=[one for one in progress.cells if one.cell.data == name]) for name in names}


def _status_json(study: Study, size: str, progress: Status) -> dict[str, Any]:
    cells = []
    for cell, state, runs, sentence in progress.cells:
        one = {"data": cell.data, "row": cell.row, "seed": cell.seed, "state": state}
        cells.append(one | ({"runs": runs._asdict()} if runs else {}) | ({"sentence": sentence} if sentence else {}))
    return {"study": study.name, "size": size, **progress.counts, "seconds_left": progress.seconds_left, "cells": cells}


@command.command
def table(
    file: File,
    *,
    size: Size = "small",
    results: Results = None,
    epoch: int | None = None,
    spread: Literal["std", "range"] = "std",
    markdown: bool = False,
    json: Json = False,
    figure: Path | None = None,
) -> None:
    """Print mean and standard deviation over seeds for every row and column, beside the paper's numbers.

    For example:

    - `untwine study table infogan_table1`
    - lowest and highest seed, as some papers print them: `untwine study table infogan_table1 --spread range`
    - scores after 4 epochs, where the study has them: `untwine study table infogan_table2 --epoch 4`

    Parameters
    ----------
    epoch
        Scores after this epoch, one of the study's `epochs_scored`, instead of the final ones.
    spread
        `std`, the standard deviation over seeds, or `range`, the lowest and the highest seed.
    markdown
        Print the table as Markdown.
    figure
        Draw the study's figure to this file instead.
    """
    from untwine.study import Study

    study = Study.read(file)
    if figure is not None:
        from untwine.plots.studies import study_figure

        study_figure(study.panels(size, results)).savefig(figure, dpi=150)
        print(figure)
        return
    result = study.table(size, results, epoch)
    if json:
        entries = [entry._asdict() for entry in result.entries]
        print_json({"study": study.name, "size": size, "others": result.others, "entries": entries})
    else:
        print("\n".join(table_lines(study, result, markdown, spread)))


def table_lines(study: Study, result: Table, markdown: bool, spread: str = "std") -> Iterator[str]:
    """Yield the lines of the table, one section for each data set."""
    from untwine.study.reading import title

    digits = {title(column): column.get("digits", 2) for column in study.spec["column"]}
    yield f"{'**' * markdown}{study.spec['title']}{'**' * markdown}"
    for data in dict.fromkeys(entry.data for entry in result.entries):
        here = [entry for entry in result.entries if entry.data == data]
        yield ""
        if not any(entry.seeds for entry in here):
            yield f"{data}: missing: no cell is finished."
            continue
        lines = [[data, *dict.fromkeys(entry.column for entry in here), "seeds"]]
        for row in dict.fromkeys(entry.row for entry in here):
            cells = [entry for entry in here if entry.row == row]
            done, of = cells[0].seeds, cells[0].of
            if of or any(entry.published is not None for entry in cells):
                texts = (_text(entry, digits[entry.column], spread) for entry in cells)
                lines.append([row, *texts, f"{done} of {of}" if of else "-"])
        yield from _markdown(lines) if markdown else align(lines)
    yield ""
    over = "Mean ± standard deviation over seeds" if spread == "std" else "Mean over seeds (lowest to highest)"
    yield f"{over}; in brackets the paper's; (all): from all codes of a method without separate blocks."
    readers = _readers(study)
    if readers:
        by = "; by ".join(f"{reader}: {', '.join(columns)}" for reader, columns in readers.items())
        yield f"Predicted from the codes by {by}."
    if result.others:
        yield f"{result.others} cells of another configuration are in the long table and not shown."


def _readers(study: Study) -> dict[str, list[str]]:
    """Return the columns whose scores are those of a predictor, by the predictor: one encodes more for it than for another."""
    from untwine.evaluation.registry import find_score
    from untwine.study.reading import title

    readers: dict[str, list[str]] = {}
    for column in study.spec["column"]:
        info = find_score(column["scores"][0])
        if info is not None and info.reader and title(column) not in readers.setdefault(info.reader, []):
            readers[info.reader].append(title(column))
    return readers


def _text(entry: Entry, digits: int, spread: str) -> str:
    paper = "" if entry.published is None else f" [{entry.published:.{digits}f}]"
    if entry.mean is None:
        return ("missing" if entry.of and not entry.seeds else "-") + paper
    beside = "" if entry.std is None else f" ± {entry.std:.{digits}f}"
    if beside and spread == "range":
        beside = f" ({entry.lowest:.{digits}f} to {entry.highest:.{digits}f})"
    return f"{entry.mean:.{digits}f}{beside}{' (all)' * entry.score.endswith('.z')}{paper}"


def _markdown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for row in (rows[0], ["---"] * len(rows[0]), *rows[1:]):
        yield f"| {' | '.join(row)} |"


def _parse_only(words: Sequence[str]) -> dict[str, list[Any]]:
    chosen: dict[str, list[Any]] = {}
    for word in ",".join(words).split(",") if words else ():
        key, equals, value = word.partition("=")
        if not equals or (key == "seed" and not value.isdigit()):
            raise ValueError(f"--only must be row=...,data=...,seed=... with an integer as seed; got {word!r}.")
        chosen.setdefault(key, []).append(int(value) if key == "seed" else value)
    return chosen
