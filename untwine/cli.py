"""The command line: list, fit, evaluate, encode, report, demo."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from untwine.arguments import check_known, check_out, pairs, set_aside, splits_of, test_rows_of

app = App(
    name="untwine",
    help="Take data apart with the supervision you really have. Start with `untwine demo`; then `untwine list methods`.",
    help_format="markdown",
    default_parameter=Parameter(negative=()),
    suppress_keyboard_interrupt=False,  # `main` says how to go on
)
Settings = Annotated[tuple[str, ...], Parameter(consume_multiple=False)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; bad input ends with one sentence and exit code 2."""
    from untwine.training import TrainingError

    try:
        app(arguments, exit_on_error=False, print_error=False)
    except KeyboardInterrupt:
        _stop("stopped; a run with --out goes on with the same command and --resume.", 130)
    except TrainingError as error:
        _stop(str(error), 1)
    except (CycloptsError, ValueError, TypeError, OSError, MemoryError) as error:
        if os.environ.get("UNTWINE_DEBUG"):
            raise
        _stop(_sentence(error), 2)


def _stop(sentence: str, code: int) -> None:
    print(f"untwine: {sentence}", file=sys.stderr)
    sys.exit(code)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        text = f"could not use {error.filename}: {error.strerror.lower()}."
    if isinstance(error, MemoryError):
        text = f"the memory of this machine does not suffice ({text.rstrip('.')}); ask for less."
    if isinstance(error, CycloptsError):
        first, *more = text.rstrip(".").split(". ")
        where = " ".join(("untwine", *(error.command_chain or ()), "--help"))
        text = "; ".join((f"{first} (see `{where}`)", *(part[0].lower() + part[1:] for part in more)))
        text += "" if text.endswith("?") else "."
    return text


@app.command(name="list")
def list_(what: Literal["methods", "data", "metrics"], *, json: bool = False) -> None:
    """List what there is: methods, data sets or metrics.

    Parameters
    ----------
    what
        `methods`, `data` or `metrics`.
    json
        Print a list of objects with `name`, `summary` and, where there are some, `options` with their defaults.
    """
    rows = _LISTS[what]()
    if json:
        _print_json(rows)
        return
    wide = max(len(row["name"]) for row in rows) + 2
    for row in rows:
        needs = f" (needs {row['needs']})" if row.get("needs", "nothing") != "nothing" else ""
        print(f"{row['name']:{wide}}{row['summary']}{needs}")
        if row.get("options"):
            print(" " * wide + "  ".join(f"{key}={value}" for key, value in row["options"].items()))


@app.command
def fit(
    method: str = "principled_vae",
    *,
    data: str = "grassy_digits",
    out: Path,
    set: Settings = (),
    data_set: Settings = (),
    preset: Literal["default", "paper"] = "default",
    seed: int | None = None,
    device: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    every: float = 60.0,
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Train a method and write a run folder.

    Examples: `untwine fit principled_vae --data grassy_digits --set epochs=20 --out runs/first`;
    your own pictures: `untwine fit contrastive_vae --data my_folder --data-set size=32 --out runs/mine`, where `my_folder` has
    `background/` and `target/`; two processes: `torchrun --nproc-per-node 2 -m untwine fit ...`.

    Parameters
    ----------
    method
        A name that `untwine list methods` shows.
    data
        A name that `untwine list data` shows, or a path to an .npz, .npy or .csv file or a folder of pictures.
    out
        The run folder to write: method.json, weights.safetensors, history.csv.
    set
        An option of the method as field=value; may be repeated.
    data_set
        An option of the data set as name=value; may be repeated.
    preset
        `paper` takes the paper's setting for this data set.
    seed
        The seed of the fit; the same as `--set seed=...`.
    device
        `auto`, `cpu`, `cuda` or `mps`; the same as `--set device=...`.
    resume
        Go on from the checkpoint in the run folder.
    overwrite
        Replace a run that is already there.
    every
        Seconds between checkpoints.
    quiet
        Show no progress.
    json
        Print what was made as JSON.
    """
    from untwine import distributed
    from untwine.data import load
    from untwine.methods import find_method

    kind, options = find_method(method), pairs(set, "--set")
    options |= {key: value for key, value in {"seed": seed, "device": device}.items() if value is not None}
    check_known(options, kind().get_params(), f"the method {method!r}")
    made = kind.paper(data, **options) if preset == "paper" else kind(**options)
    made.check()
    check_out(out, resume, overwrite)
    origin: dict[str, Any] = {"name": data, "options": pairs(data_set, "--data-set")}
    with distributed.launched():
        splits = load(data, **origin["options"])
        with set_aside(out if overwrite else None):
            made.fit(splits.train, out=out, resume=resume, every=every, origin=origin, progress=not quiet)
        if distributed.rank() == 0:
            if json:
                _print_json({"run": str(out), "method": made.name, "params": made.get_params(), "seconds": made.seconds_})
            else:
                print(f"{made.name} fitted in {made.seconds_:.1f} s: {out}  (next: untwine evaluate {out})")


@app.command
def evaluate(
    run: Path,
    *,
    data: str | None = None,
    data_set: Settings = (),
    metrics: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    seeds: int = 5,
    quiet: bool = False,
    json: bool = False,
) -> None:
    """Score every block of a run on the test part of its data, and keep the pictures for the report.

    Writes scores.json and gallery.npz into the run folder.

    Parameters
    ----------
    run
        A run folder.
    data
        Other data than the run was fitted on: a name or a path.
    data_set
        An option of that data as name=value; may be repeated.
    metrics
        Only these; all that the data allows where not given.
    seeds
        Resamples for the intervals.
    quiet
        Show no progress.
    json
        Print the scores as JSON.
    """
    from untwine.evaluate import evaluate as score
    from untwine.evaluate import gallery, save_gallery, write_scores
    from untwine.methods import load_method

    method = load_method(run)
    test = test_rows_of(method, run, data, data_set)
    scores, pictures = score(method, test, list(metrics) or None, seeds, progress=not quiet), gallery(method, test)
    write_scores(run / "scores.json", scores)
    save_gallery(run / "gallery.npz", pictures)
    if json:
        _print_json({name: one.to_json() for name, one in scores.items()})
    else:
        show_scores(scores)
        print(f"kept in {run / 'scores.json'}  (next: untwine report {run})")


@app.command
def encode(
    run: Path,
    data: str | None = None,
    *,
    out: Path,
    data_set: Settings = (),
    part: Literal["train", "test", "all"] = "all",
    overwrite: bool = False,
) -> None:
    """Write the codes of data as .npz (an array for each block) or .csv (a column for each dimension).

    Parameters
    ----------
    run
        A run folder.
    data
        A name or a path; the data that the run was fitted on where not given.
    out
        The .npz or .csv file to write.
    data_set
        An option of the data as name=value; may be repeated.
    part
        Which rows: the training part, the test part or all, training first.
    overwrite
        Replace a file that is already there.
    """
    import numpy as np

    from untwine.evaluate import save_gallery as save_arrays
    from untwine.files import write
    from untwine.methods import load_method

    if out.suffix not in (".npz", ".csv"):
        raise ValueError(f"--out expected a file that ends in .npz or .csv, but got {str(out)!r}.")
    if out.is_dir():
        raise ValueError(f"--out expected a file to write, but {out} is a folder; name a file in it.")
    if out.exists() and not overwrite:
        raise ValueError(f"--out expected a new file, but {out} is there already; choose another or pass --overwrite.")
    method = load_method(run)
    splits = splits_of(method, data, data_set)
    x = np.concatenate([splits.train.x, splits.test.x]) if part == "all" else getattr(splits, part).x
    z = method.encode(x)
    if out.suffix == ".npz":
        save_arrays(out, dict(z))
    else:
        lines = (",".join(map(repr, row)) for row in z.array().tolist())
        write(out, "\n".join([",".join(method.get_feature_names_out()), *lines]) + "\n")
    print(f"{z.rows} rows as {', '.join(f'{name} ({codes.shape[1]})' for name, codes in z.items())}: {out}")


@app.command
def report(runs: Path, *, out: Path | None = None) -> None:
    """Make one HTML page from a run folder, or from a folder of them; it needs no network.

    Parameters
    ----------
    runs
        A run folder, or a folder of run folders.
    out
        The page; report.html in that folder where not given.
    """
    from untwine.report import report as make

    print(make(runs, out or runs / "report.html"))


@app.command
def demo(*, out: Path = Path("runs/demo"), seed: int = 0, quiet: bool = False) -> None:
    """Take digits off grass: train for a minute or two, score both parts, and make a page of it.

    Parameters
    ----------
    out
        The run folder, which is made anew; the page is report.html in it.
    seed
        The seed of the fit.
    quiet
        Show no progress.
    """
    from untwine.demo import demo as show

    show(out, seed=seed, progress=not quiet)


def show_scores(scores: Mapping[str, Any]) -> None:
    """Print scores as a table."""
    from rich.console import Console
    from rich.table import Table

    arrows = {"higher": "higher is better", "lower": "lower is better", "info": "for comparison"}
    table = Table("score", "value", "95 %", "n", "", box=None, pad_edge=False)
    for name, score in scores.items():
        table.add_row(name, f"{score.value:.3f}", f"{score.low:.3f} .. {score.high:.3f}", str(score.n), arrows[score.direction])
    Console().print(table)


def _methods() -> list[dict[str, Any]]:
    from untwine.methods import METHODS

    return [
        {"name": name, "summary": _first_line(kind), "needs": kind.needs, "options": kind().get_params()}
        for name, kind in METHODS.items()
    ]


def _data() -> list[dict[str, Any]]:
    import inspect

    from untwine.data import catalogue

    return [
        {
            "name": name,
            "summary": _first_line(function),
            "options": {key: option.default for key, option in inspect.signature(function).parameters.items()},
        }
        for name, function in catalogue().items()
    ]


def _metrics() -> list[dict[str, Any]]:
    from untwine.evaluate import METRICS

    return [{"name": name, "summary": _first_line(function)} for name, function in METRICS.items()]


_LISTS = {"methods": _methods, "data": _data, "metrics": _metrics}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().split("\n")[0]


def _print_json(content: Any) -> None:
    print(json.dumps(content, indent=2, allow_nan=False))
