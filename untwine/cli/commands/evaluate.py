"""`untwine evaluate`: score a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untwine.cli.flags import DataSettings, Json, OtherData, Quiet, Run
from untwine.cli.outputs import next_command, print_json, print_table
from untwine.cli.run_data import checked_splits

if TYPE_CHECKING:
    from untwine.evaluation.scoring import Score

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
    scores = _evaluate(run, data, data_set, metrics, seeds, progress=not quiet)
    if json:
        print_json({name: score.to_json() for name, score in scores.items()})
    else:
        print_scores(scores)
        print(f"stored in {run}  {next_command('report', run)}")


def _evaluate(
    run: Path, data: str | None, data_set: Sequence[str], metrics: Sequence[str], seeds: int, progress: bool
) -> dict[str, Score]:
    from untwine.evaluation.diagnostics import diagnose
    from untwine.evaluation.gallery import gallery, save_gallery
    from untwine.evaluation.scoring import evaluate, write_scores
    from untwine.methods import load_method

    method = load_method(run)
    train, test = checked_splits(method, run, data, data_set)
    scores, images = evaluate(method, test, list(metrics) or None, seeds, progress=progress), gallery(method, test)
    write_scores(run / "scores.json", scores)
    save_gallery(run / "gallery.npz", images)
    diagnose(run, method, train, test)
    return scores


def print_scores(scores: Mapping[str, Score]) -> None:
    """Print scores as a table."""
    rows = [
        (name, f"{score.value:.3f}", f"{score.low:.3f} .. {score.high:.3f}", str(score.n), DIRECTIONS[score.direction])
        for name, score in scores.items()
    ]
    print_table(("score", "value", "95 % interval", "n", "direction"), rows)
