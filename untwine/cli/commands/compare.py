"""`untwine compare`: several methods on your own data under a budget of time, ranked without labels."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from untwine.cli.flags import NO_COLUMNS, Columns, DataSettings, Json, Quiet
from untwine.cli.outputs import next_command, print_json, print_table
from untwine.cli.own_data import named_data

if TYPE_CHECKING:
    from untwine.selection.compare import Compared

ORDER = 22
Several = Parameter(consume_multiple=True)


def command(
    methods: Annotated[tuple[str, ...], Parameter(allow_leading_hyphen=False)] = (),
    *,
    data: str | None = None,
    out: Path = Path("runs/compare"),
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    minutes: float = 10.0,
    seeds: Annotated[tuple[int, ...], Several] = (0,),
    workers: int = 1,
    threads: int = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fit several methods to your data within some minutes, rank them without labels, and say which one to take and why.

    For example:

    - two folders of images: `untwine compare --target patients/ --background controls/ --data-set size=32 --out runs/mine`
    - a table: `untwine compare --data cells.csv --group-column condition --background control --minutes 20 --seeds 0 1`
    - methods of your choice: `untwine compare principled_vae mm_cvae --data grassy_digits --minutes 5`

    Trivial baselines are added. The time is shared fairly: each method is trained as many epochs as fit into its share. The
    ranking uses no labels; it is printed, and at the top of OUT/report.html. Every run is a run folder. The same command fits
    only what is not finished; Ctrl-C leaves what is finished usable.

    Parameters
    ----------
    methods
        Names that `untwine list methods` shows; by default those that suit the data: contrastive ones where there are groups,
        else class-supervised ones where there are labels, else unsupervised ones.
    data
        A name that `untwine list data` shows; or a path to your own data: a table, arrays, AnnData, images or volumes.
    out
        The folder of the comparison: run folders, comparison.json and report.html.
    minutes
        The budget, page included. Each run gets one epoch at the least.
    seeds
        The seeds of each method: with two or more, the table says how far their codes agree.
    workers
        How many runs go on at a time, each in its own process; 0 runs one after the other in this process.
    threads
        Threads per process.
    """
    name, data_options = named_data(data, columns, data_set)
    if name is None and "target" not in data_options:
        raise ValueError("compare needs data; got none; pass --data NAME or PATH, or --target PATH and --background PATH.")
    from untwine.selection.compare import Compared, compare, write_page

    try:
        compared = compare(
            name,
            methods or None,
            minutes,
            seeds,
            out,
            data_options=data_options,
            workers=workers,
            threads=threads,
            progress=not quiet,
        )
    except KeyboardInterrupt:
        from untwine.runs.comparison import read_comparison

        comparison = read_comparison(out)
        if comparison is not None and comparison.finished():
            _print(Compared(comparison, out, write_page(out)))
        print("untwine: stopped; the same command goes on with what is not finished.", file=sys.stderr)
        sys.exit(130)
    if json:
        print_json(_content(compared))
    else:
        _print(compared)


def _print(compared: Compared) -> None:
    from untwine.report.comparison import advise, ranking_rows, unfinished

    head, rows = ranking_rows(compared.comparison)
    print_table(head, rows, title=f"Ranking without labels, {compared.comparison.data}")
    _print_lines(["", *advise(compared.comparison), *unfinished(compared.comparison), ""])
    if compared.best is not None:
        print(f"{compared.best}  {next_command('explore', compared.best)}")
    print(compared.page)


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        print(line)


def _content(compared: Compared) -> dict[str, Any]:
    from untwine.report.comparison import advise, unfinished

    comparison = compared.comparison
    return {
        "data": comparison.data,
        "best": None if compared.best is None else str(compared.best),
        "advice": advise(comparison),
        "ranking": [
            {"method": place.method, "value": place.value, "values": list(place.values), "terms": dict(place.terms)}
            | {"baseline": place.is_baseline, "run": str(compared.folder / place.best.folder)}
            | {"stability": comparison.stability.get(place.method)}
            for place in comparison.ranking()
        ],
        "unfinished": unfinished(comparison),
        "page": str(compared.page),
    }
