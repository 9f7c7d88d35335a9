"""`untwine evaluate`: score a run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from untwine.cli.flags import NO_COLUMNS, Columns, DataSettings, Json, OtherData, Quiet, Run, Threads
from untwine.cli.outputs import next_command, print_json, print_table
from untwine.cli.own_data import named_data
from untwine.cli.settings import parse_settings

if TYPE_CHECKING:
    from untwine.metrics.metric import Metric
    from untwine.runs.scores import Score

ORDER = 30
DIRECTIONS = {"higher": "higher is better", "lower": "lower is better", "info": "for comparison"}


def command(
    run: Run,
    *,
    data: OtherData = None,
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    metrics: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    metric_set: Annotated[tuple[str, ...], Parameter(consume_multiple=False)] = (),
    learn_from: Literal["folds", "train"] = "folds",
    seeds: int = 5,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score every latent block of a run on the test split of its data, and store what the report shows.

    Scores go into scores.json of the run folder, where those measured before on the same samples stay; images, latent
    diagnostics and the contrast test go beside it.

    For example:

    - all metrics that apply: `untwine evaluate runs/x`
    - chosen metrics: `untwine evaluate runs/x --metrics probe clustering`
    - an option of a metric: `untwine evaluate runs/x --metrics z_diff --metric-set z_diff.pairs=256`
    - a metric with and without options: `untwine evaluate runs/x --metrics w2 "w2(of=samples,batch=128)"`
    - other data: `untwine evaluate runs/x --data other.npz`

    Parameters
    ----------
    metrics
        Names that `untwine list metrics` shows, with options where wanted, as in "z_diff(pairs=256)". By default, all that
        apply to the data, except those on request.
    metric_set
        An option of one of these metrics as metric.option=value (see `untwine list metrics NAME`); may be repeated.
    learn_from
        What classifiers and regressions of metrics are fitted on: `folds` of the test split, or `train`, the training split.
    seeds
        The number of resamples behind each 95 % interval.
    """
    from untwine.training.threads import set_threads

    set_threads(threads)  # before the numerical libraries are imported
    from untwine.evaluation.run import evaluate_run

    (data, options), chosen = named_data(data, columns, data_set), choose_metrics(metrics, metric_set)
    scores = evaluate_run(
        run, data=data, data_options=options, metrics=chosen, seeds=seeds, learn_from=learn_from, progress=not quiet
    )
    if json:
        print_json({name: score.to_json() for name, score in scores.items()})
    else:
        print_scores(scores)
        print_contrast(run)
        print(f"stored in {run}  {next_command('report', run)}")


def print_contrast(run: str | os.PathLike[str]) -> None:
    """Print the contrast test of a run's training split, of each target where there are several; nothing if there is none."""
    from untwine.runs.diagnostics import read_contrast

    result = read_contrast(run)
    if result is not None:
        tests = [(one.name, one.p_value, one.n_salient) for one in result.targets]
        tests.insert(0, ("all targets" if tests else "targets", result.p_value, result.n_salient))
        texts = (f"{name} {many} salient dimension{'s' * (many != 1)} (p = {p:.3f})" for name, p, many in tests)
        print(f"contrast test: {'; '.join(texts)}")


def choose_metrics(names: Sequence[str], settings: Sequence[str]) -> list[Metric] | None:
    """Return the named metrics with these options; None, for the default ones, where there are no names."""
    from untwine.evaluation.scoring import find_metrics

    chosen = find_metrics(names) if names else []
    for setting, value in parse_settings(settings, "--metric-set").items():
        name, _, option = setting.partition(".")
        if not name or not option:
            raise ValueError(f"--metric-set must be metric.option=value; got {setting!r}; write z_diff.pairs=256, for example.")
        known = dict.fromkeys(metric.name for metric in chosen)
        if name not in known:
            given = ", ".join(known) or "no --metrics"
            raise ValueError(f"--metric-set must set an option of one of --metrics; got {name!r} and {given}; name it there.")
        chosen = [metric.with_options(**{option: value}) if metric.name == name else metric for metric in chosen]
    return chosen or None


def print_scores(scores: Mapping[str, Score]) -> None:
    """Print scores as a table."""
    rows = [
        (name, f"{score.value:.3f}", f"{score.low:.3f} .. {score.high:.3f}", str(score.n), DIRECTIONS[score.direction])
        for name, score in scores.items()
    ]
    print_table(("score", "value", "95 % interval", "n", "direction"), rows)
