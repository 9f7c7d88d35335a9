"""The command line: `app` has its commands, from `list` to `demo`."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter

from untwine.cli import convert, encode, study, styles, tasks, traverse
from untwine.cli import list as listing
from untwine.cli.arguments import check_known, check_out, pairs, set_aside
from untwine.cli.rows import print_json

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
    from untwine.training.loop import TrainingError

    try:
        try:
            app(arguments, exit_on_error=False, print_error=False)
        finally:
            sys.stdout.flush()  # a reader that has left is met here, and not after all else
    except BrokenPipeError:  # such as of `| head`; nothing more can be said to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
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


app.command(listing.list_, name="list")


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
    your own images: `untwine fit contrastive_vae --data my_folder --data-set size=32 --out runs/mine`, where `my_folder` has
    `background/` and `target/`; classes: `untwine fit lord --data people --data-set size=64 --out runs/people`, where `people`
    has a folder for each class; two processes: `torchrun --nproc-per-node 2 -m untwine fit ...`.

    Parameters
    ----------
    method
        A name that `untwine list methods` shows.
    data
        A name that `untwine list data` shows, or a path to an .npz, .npy or .csv file or a folder of images.
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
    from untwine.data import load, origin
    from untwine.methods import find_method
    from untwine.training import distributed

    kind, options, chosen = find_method(method), pairs(set, "--set"), pairs(data_set, "--data-set")
    options |= {key: value for key, value in {"seed": seed, "device": device}.items() if value is not None}
    check_known(options, kind().get_params(), f"the method {method!r}")
    made = kind.paper(data, **options) if preset == "paper" else kind(**options)
    made.check()
    check_out(out, resume, overwrite)
    with distributed.launched():
        splits = load(data, **chosen)
        with set_aside(out if overwrite else None):
            made.fit(splits.train, out=out, resume=resume, every=every, origin=origin(data, chosen), progress=not quiet)
        if distributed.rank() == 0 and json:
            print_json({"run": str(out), "method": made.name, "params": made.get_params(), "seconds": made.seconds_})
        elif distributed.rank() == 0:
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
    """Score every block of a run on the test part of its data, and keep the images for the report.

    Writes scores.json, gallery.npz, contrast.json and codes.json into the run folder.

    Parameters
    ----------
    run
        A run folder.
    data
        Other data than the run was fitted on: a name or a path.
    data_set
        An option of that data as name=value; may be repeated.
    metrics
        Only these. Where not given, all that are not on request and that the data allows; `untwine list metrics` says which are
        on request.
    seeds
        Resamples for the intervals.
    quiet
        Show no progress.
    json
        Print the scores as JSON.
    """
    from untwine.evaluation.run import evaluate_run
    from untwine.runs.scores import scores_path

    options, names = pairs(data_set, "--data-set"), list(metrics) or None
    scores = evaluate_run(run, data=data, data_options=options, metrics=names, seeds=seeds, progress=not quiet)
    if json:
        print_json({name: one.to_json() for name, one in scores.items()})
    else:
        show_scores(scores)
        print(f"kept in {scores_path(run)}  (next: untwine report {run})")


app.command(encode.encode)
for task in (tasks.swap, tasks.remove, tasks.sample, tasks.interpolate, traverse.traverse):
    app.command(task)
app.command(study.study)
app.command(styles.styles)
app.command(styles.translate)
app.command(convert.convert)


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
    from untwine.report.page import report as make
    from untwine.runs.names import report_path

    print(make(runs, out or report_path(runs)))


@app.command
def demo(
    *,
    setting: Literal["contrast", "classes"] = "contrast",
    out: Path = Path("runs/demo"),
    seed: int = 0,
    quiet: bool = False,
) -> None:
    """Take digits apart: train for some minutes, score both parts, and make a page of it.

    Examples: `untwine demo` takes digits off the grass they were blended with, from two sets, digits on grass and grass alone;
    `untwine demo --setting classes --out runs/classes` takes which digit it is apart from its pose, knowing only which images
    show the same digit, and puts digits that it never saw into each other's poses.

    Parameters
    ----------
    setting
        What is known: `contrast`, which of two sets an image is of; `classes`, which class it is of.
    out
        The run folder, which is made anew; the page is report.html in it.
    seed
        The seed of the fit.
    quiet
        Show no progress.
    """
    from untwine.cli.demo import demo as show

    show(out, setting=setting, seed=seed, progress=not quiet)


def show_scores(scores: Mapping[str, Any]) -> None:
    """Print scores as a table."""
    from rich.console import Console
    from rich.table import Table

    arrows = {"higher": "higher is better", "lower": "lower is better", "info": "for comparison"}
    table = Table("score", "value", "95 %", "n", "", box=None, pad_edge=False)
    for name, score in scores.items():
        table.add_row(name, f"{score.value:.3f}", f"{score.low:.3f} .. {score.high:.3f}", str(score.n), arrows[score.direction])
    Console().print(table)
