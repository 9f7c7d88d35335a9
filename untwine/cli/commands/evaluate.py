"""`untwine evaluate`: score a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untwine.cli.flags import DataSettings, Json, OtherData, Quiet, Run
from untwine.cli.outputs import next_command, print_json, print_table
from untwine.cli.settings import parse_settings

if TYPE_CHECKING:
    from untwine.runs.scores import Score

ORDER = 30
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "info": "for comparison"}


def command(
    run: Run,
    *,
    data: OtherData = None,
    data_set: DataSettings = (),
    metrics: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    seeds: int = 5,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score every latent block of a run on the test split of its data, and store what the report shows.

    Scores go into scores.json of the run folder; images, latent diagnostics and the contrast test beside it.

    For example:

    - all metrics that apply: `untwine evaluate runs/x`
    - chosen metrics: `untwine evaluate runs/x --metrics probe clustering`
    - other data: `untwine evaluate runs/x --data other.npz`

    Parameters
    ----------
    metrics
        Names that `untwine list metrics` shows. By default, all that apply to the data, except those on request.
    seeds
        The number of resamples behind each 95 % interval.
    """
    from untwine.evaluation.run import evaluate_run

    options, names = parse_settings(data_set, "--data-set"), list(metrics) or None
    scores = evaluate_run(run, data=data, data_options=options, metrics=names, seeds=seeds, progress=not quiet)
    if json:
        print_json({name: score.to_json() for name, score in scores.items()})
    else:
        print_scores(scores)
        print(f"stored in {run}  {next_command('report', run)}")


def print_scores(scores: Mapping[str, Score]) -> None:
    """Print scores as a table."""
    rows = [
        (name, f"{score.value:.3f}", f"{score.low:.3f} .. {score.high:.3f}", str(score.n), DIRECTIONS[score.direction])
        for name, score in scores.items()
    ]
    print_table(("score", "value", "95 % interval", "n", "direction"), rows)
