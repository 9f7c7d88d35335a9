"""Where the terms of a training go while it runs, beside the history of the run: for `fit(watch=...)`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from untwine.registry.extras import optional
from untwine.runs.history import Row
from untwine.training import distributed

Watch = Callable[[Any, int], None]


def tensorboard_log(folder: str | os.PathLike[str]) -> Watch:
    """Return a `watch` that writes the terms of every epoch for `tensorboard --logdir`.

    Parameters
    ----------
    folder
        Where TensorBoard's files go; a resumed fit may go on in the same.
    """
    optional("tensorboard", "logging for TensorBoard")
    writers: list[Any] = []

    def watch(method: Any, epoch: int) -> None:
        if distributed.rank():
            return
        if not writers:  # made with the first values: a fit that is refused leaves nothing behind
            from torch.utils.tensorboard import SummaryWriter

            writers.append(SummaryWriter(str(folder)))
        for name, value in last_epoch(method.history_).items():
            writers[0].add_scalar(name, value, epoch)
        writers[0].flush()

    return watch


def mlflow_log(run_name: str | None = None, params: Mapping[str, Any] | None = None) -> Watch:
    """Return a `watch` that sends the terms of every epoch to MLflow, as metrics of one run.

    Where and in which experiment is said as usual, by `MLFLOW_TRACKING_URI` and `MLFLOW_EXPERIMENT_NAME` or in Python.

    Parameters
    ----------
    run_name
        The name of the run; MLflow makes one up where there is none.
    params
        Parameters of the run, such as `method.get_params()`.
    """
    mlflow = optional("mlflow", "logging to MLflow")
    client, runs = mlflow.tracking.MlflowClient(), list[str]()

    def watch(method: Any, epoch: int) -> None:
        if distributed.rank():
            return
        if not runs:
            # By the client, so that no run stays open in the process where a fit is interrupted.
            run = mlflow.start_run(run_name=run_name, nested=mlflow.active_run() is not None)
            mlflow.log_params({"method": method.name, **(params or {})})
            mlflow.end_run()
            runs.append(run.info.run_id)
        for name, value in last_epoch(method.history_).items():
            client.log_metric(runs[0], name, value, step=epoch)

    return watch


def last_epoch(history: list[Row]) -> dict[str, float]:
    """Return the terms of the last epoch of a history, by a name that both services accept."""
    last = history[-1]
    rows = [row for row in history if (row.stage, row.epoch) == (last.stage, last.epoch)]
    return {re.sub(r"[^\w\-. :/]", "_", f"{row.stage}/{row.player}/{row.term}"): row.value for row in rows}
