"""`untwine tune`: search the fields of a method under a budget of time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from untwine.cli.flags import NO_COLUMNS, Columns, DataSettings, Json, Quiet, Settings
from untwine.cli.outputs import print_json, print_table
from untwine.cli.own_data import named_data
from untwine.cli.settings import check_known, parse_settings

ORDER = 24
FIRST = 5  # trials that are printed, the best first


def command(
    method: str = "principled_vae",
    *,
    data: str | None = None,
    out: Path = Path("runs/tune"),
    set: Settings = (),
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    field: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    score: str = "label_free",
    minutes: float = 30.0,
    trials: int | None = None,
    seed: int = 0,
    workers: int = 0,
    threads: int = 1,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Search the fields of a method that matter, on a validation split and without labels, and print the best as a line of fit.

    For example:

    - `untwine tune principled_vae --target patients/ --background controls/ --data-set size=32 --minutes 60 --out runs/tuned`
    - your own fields: `untwine tune mm_cvae --data cells.csv --group-column condition --background control --field
      lambda_z=1:100 --field beta_salient`

    Needs Optuna: pip install 'untwine[tune]'. The test split is not touched. The same command goes on with the search.

    Parameters
    ----------
    method
        A name that `untwine list methods` shows; `--set` gives fields that stay as they are.
    data
        A name that `untwine list data` shows, or a path to your own data.
    out
        The folder of the search: a run folder for each trial, trials.jsonl and history.png.
    field
        A field to search, as name or name=LOW:HIGH, on a logarithmic scale; may be repeated. By default up to five that matter.
    score
        `label_free`, the rank without labels; or a score such as probe.salient, for data with labels.
    minutes
        The budget.
    trials
        At most so many trials, of all calls together.
    seed
        Of the search and of every fit: the same seed draws the same settings, as long as the epochs in tuning.json are the
        same.
    workers
        How many trials go on at a time, each in its own process; 0 runs one after the other in this process.
    threads
        Threads per process.
    """
    name, data_options = named_data(data, columns, data_set)
    if name is None and "target" not in data_options:
        raise ValueError("tune needs data; got none; pass --data NAME or PATH, or --target PATH and --background PATH.")
    from untwine.methods import find_method
    from untwine.selection.tune import tune

    kind, options = find_method(method), parse_settings(set, "--set")
    check_known(options, kind().get_params(), f"the method {method!r}")
    try:
        tuned = tune(
            name, kind(**options), minutes, out=out, fields=dict(map(_field, field)), score=score, trials=trials, seed=seed,
            data_options=data_options, workers=workers, threads=threads, progress=not quiet,
        )  # fmt: skip
    except KeyboardInterrupt:
        print("untwine: stopped; the same command goes on with the search.", file=sys.stderr)
        sys.exit(130)
    valued = sorted((trial for trial in tuned.trials if trial.value is not None), key=lambda trial: -(trial.value or 0.0))
    if json:
        best: dict[str, Any] = {} if not valued else {"value": tuned.value, "fields": dict(valued[0].fields)}
        print_json(
            {"method": method, "trials": len(tuned.trials), "best": best, "command": tuned.command, "advice": tuned.advice}
        )
        return
    if not valued:
        raise ValueError(
            f"a trial must have a value; none of {len(tuned.trials)} has one: groups that no network tells apart, too "
            f"few samples, "
            "or too little time; pass more --minutes, or another --score."
        )
    names = list(valued[0].fields)
    _print_trials(names, [(one.value or 0.0, one.fields) for one in valued[:FIRST]], len(tuned.trials))
    if tuned.advice:
        print(f"\n{tuned.advice}")
    print(f"\n{tuned.command}\n\n{tuned.history}")


def _print_trials(names: Sequence[str], best: Sequence[tuple[float, Any]], number: int) -> None:
    rows = [(f"{value:.3f}", *(f"{fields[name]:.3g}" for name in names)) for value, fields in best]
    print_table(("value", *names), rows, title=f"The best of {number} trials, on the validation split")


def _field(text: str) -> tuple[str, tuple[float, float] | None]:
    """Return the name of a field, and its bounds where they are given."""
    name, equals, bounds = text.partition("=")
    low, _, high = bounds.partition(":")
    if not equals:
        return name, None
    try:
        whole = not set(bounds) & set(".eE")
        return name, (int(low), int(high)) if whole else (float(low), float(high))
    except ValueError:
        raise ValueError(f"--field must be name or name=LOW:HIGH with two numbers; got {text!r}.") from None
