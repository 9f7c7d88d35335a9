"""`untwine tune`: a search over the fields of one method under a budget of time, without labels unless queued."""

from __future__ import annotations

import math
import os
import shlex
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from untwine.data import Splits, validation_split
from untwine.evaluation.ranking import GAP, GOOD, MEANINGS, label_free, separation
from untwine.evaluation.scoring import evaluate
from untwine.method.contract import Method
from untwine.methods import find_method
from untwine.plots.tuning import tuning_history
from untwine.registry.checks import check_int
from untwine.registry.extras import optional
from untwine.runs import files
from untwine.runs.scores import Score, read_scores
from untwine.selection.budget import MARGIN, Clock, batch_of, few_samples, lengths, speed, wanted_epochs, within
from untwine.selection.candidates import metrics_of, supervision
from untwine.selection.progress import budget_bar
from untwine.selection.runs import Source, cell_of, run_all
from untwine.selection.space import Range, search_space

JOURNAL, STATE, HISTORY = "trials.jsonl", "tuning.json", "history.png"
TRIALS = 24  # that the budget is meant for: fewer and longer ones find less
LABEL_FREE, TERMS, TRIED = "label_free", "terms", "tried"


@dataclass(frozen=True)
class Trial:
    """One setting that was tried: its number, the fields that were searched, and its value; None where it failed."""

    number: int
    fields: Mapping[str, float]
    value: float | None
    terms: Mapping[str, float] = field(default_factory=dict)  # of the value without labels


@dataclass(frozen=True)
class Tuned:
    """What `tune` returns.

    Parameters
    ----------
    method
        The method with the best setting, not fitted; with the settings that it came with, where no trial has a value.
    value
        The value of the best trial on the validation split.
    trials
        All trials, in order.
    command
        The line that fits the best setting to the whole training split.
    folder, history
        The folder of the search, and the figure of its history.
    epochs, in_full
        The epochs of a trial, and those of a fit that is as long as a trial would be without a budget.
    """

    method: Method
    value: float | None
    trials: tuple[Trial, ...]
    command: str
    folder: Path
    history: Path
    epochs: int
    in_full: int

    @property
    def advice(self) -> str:
        """What keeps the best trial from being recommended: blocks that did not come apart, trials that were too short."""
        best = max((one for one in self.trials if one.value is not None), key=lambda one: one.value or 0.0, default=None)
        if best is None or not best.terms or separation(best.terms) == "disentangled":
            return ""
        low = ", ".join(f"{name} {best.terms[name]:.2f} ({MEANINGS[name]})" for name in best.terms if best.terms[name] < GOOD)
        how = "only partly" if separation(best.terms) == "partly" else "not"
        text = f"In the best trial the blocks came {how} apart: {low}."
        if self.epochs < self.in_full:
            times = self.in_full / self.epochs
            text += f" Its {self.epochs} epochs were few: a whole fit has {self.in_full}; pass {times:.1f} times the --minutes."
        return text


def tune(
    data: str | Path | Splits | None = None,
    method: str | Method = "principled_vae",
    minutes: float = 30.0,
    *,
    out: str | os.PathLike[str] = "runs/tune",
    fields: Sequence[str] | Mapping[str, tuple[float, float] | None] = (),
    score: str = LABEL_FREE,
    trials: int | None = None,
    seed: int = 0,
    data_options: Mapping[str, Any] | None = None,
    workers: int = 0,
    threads: int = 1,
    progress: bool = False,
) -> Tuned:
    """Search the fields of a method that matter for the best value on a validation split, with Optuna (the extra `tune`).

    A fifth of the training split is held out, by sources; the test split is not touched. The value is that of
    `untwine.evaluation.ranking`, which needs no labels, or a score by name. The first trial is the setting that the method
    came with; the others are drawn by a tree-structured Parzen estimator. The same call goes on with the search: trials are in
    `out`/trials.jsonl, lines of JSON.

    The same seed, fields and `epochs` draw the same settings in one process, and each fit is the same. How many epochs a
    trial has, and how many trials there are, is decided by the budget on this machine; the epochs are in `out`/tuning.json and
    stay for later calls.

    Parameters
    ----------
    data, data_options, out, workers, threads, progress
        As for `compare`; by default trials run in this process.
    method
        A name of the catalogue, or a method with fields of your own, which stay unless they are searched.
    minutes
        The budget.
    fields
        The fields to search, by default up to five that matter most; or bounds by name.
    score
        "label_free", or the name of a score, such as "probe.salient", which needs labels.
    trials
        At most so many, of all calls together.
    seed
        Of the search and of every fit.
    """
    optuna = optional("optuna", "tuning a method")
    clock, method = Clock(minutes), find_method(method)() if isinstance(method, str) else method
    for name, value, least in (("workers", workers, 0), ("threads", threads, 1), ("seed", seed, 0)):
        check_int(name, value, least)
    method = type(method)(**{**method.get_params(), "seed": seed})
    method.check()
    space, source, folder = search_space(method, fields), Source.of(data, data_options), Path(out)
    if not space:
        raise ValueError(f"method must have a field to search; {method.name} has none that we know; name some by fields.")
    if score == LABEL_FREE and supervision(source.splits.train) == "nothing":
        raise ValueError("score must be named where data have neither groups nor labels; got 'label_free'; pass 'explained.x'.")
    files.make_folder(folder)
    with budget_bar("tuning", clock, progress) as tell:
        search = _Search(optuna, source, folder, method, space, score, seed)
        method = search.prepare(clock, tell)
        search.go_on(method, clock, max(1, workers), workers, threads, trials, tell)
        return search.result(method)


class _Search:
    """An Optuna study whose trials are runs of a folder."""

    def __init__(
        self,
        optuna: Any,
        source: Source,
        folder: Path,
        method: Method,
        space: Mapping[str, Range],
        score: str,
        seed: int,
    ) -> None:
        self.optuna, self.source, self.folder, self.method = optuna, source, folder, method
        self.space, self.score, self.seed = space, score, seed
        self.in_full = 0  # epochs of a fit without a budget
        self.metrics = metrics_of(supervision(source.splits.train)) if score == LABEL_FREE else (score.rpartition(".")[0],)

    def prepare(self, clock: Clock, tell: Callable[[str], None]) -> Method:
        """Open the search or go on with it, and return the method with the epochs that its trials have."""
        fingerprint, path = self.source.splits.train.fingerprint(), self.folder / STATE
        queued = {
            "method": self.method.name,
            "fields": {name: list(bounds) for name, bounds in self.space.items()},
            "score": self.score,
            "seed": self.seed,
            "fingerprint": fingerprint,
            "params": {name: value for name, value in self.method.get_params().items() if name not in lengths(self.method)},
        }
        if path.exists():
            known = files.read_json(path)
            epochs, self.in_full = known.pop("epochs", None), known.pop("in_full", 0)
            if known != queued or not isinstance(epochs, dict) or set(epochs) != set(lengths(self.method)):
                raise ValueError(
                    f"out must be a new folder, or that of the same search (method, fields, score, seed and data); "
                    f"{self.folder} "
                    "has another; choose another."
                )
        else:
            if any(self.folder.iterdir()):
                raise ValueError(f"out must be a new folder, or that of a search; {self.folder} is not empty; choose another.")
            epochs = self._choose_epochs(clock, tell)
            files.write_json(path, {**queued, "epochs": epochs, "in_full": self.in_full})
        self.optuna.logging.set_verbosity(self.optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the journal, which is experimental to Optuna
            # Lines of JSON; unlike other storages of Optuna, no part of it is ever unpickled.
            journal = self.optuna.storages.journal
            storage = journal.JournalStorage(journal.JournalFileBackend(str(self.folder / JOURNAL)))
        self.study = self.optuna.create_study(storage=storage, study_name="tune", direction="maximize", load_if_exists=True)
        states = self.optuna.trial.TrialState
        for trial in self.study.get_trials(deepcopy=False, states=[states.RUNNING]):  # of a call that was stopped
            self.study.enqueue_trial(trial.params)
            self.study.tell(trial.number, state=states.FAIL)
        if not self.study.get_trials(deepcopy=False):
            self.study.enqueue_trial(self._start())
        return type(self.method)(**{**self.method.get_params(), **epochs})

    def _choose_epochs(self, clock: Clock, tell: Callable[[str], None]) -> dict[str, int]:
        """Return the epochs with which about `TRIALS` trials fit into the budget."""
        train = self._splits().train
        tell("timing a trial")
        at = speed(self.method, train)
        short = type(self.method)(**{**self.method.get_params(), **dict.fromkeys(lengths(self.method), 1)})
        short.fit(few_samples(train, batch_of(short)))
        began = time.monotonic()
        scores = evaluate(short, self._splits().test, self.metrics, skip_inapplicable=True)
        if self.score == LABEL_FREE and "counterfactual" in self.metrics:
            _check_value(scores)
        wanted = wanted_epochs(self.method, at)
        self.in_full = sum(wanted.values())
        return within(wanted, at, MARGIN * clock.left / TRIALS - (time.monotonic() - began))

    def _splits(self) -> Splits:
        return validation_split(self.source.splits)

    def _start(self) -> dict[str, Any]:
        """Return the fields as the method came with them, within the bounds; none that is chosen from the data."""
        own = {name: self.method.get_params()[name] for name in self.space}
        return {
            name: type(bounds.low)(min(max(own[name], bounds.low), bounds.high))
            for name, bounds in self.space.items()
            if isinstance(own[name], (int, float)) and own[name] > 0
        }

    def go_on(
        self,
        method: Method,
        clock: Clock,
        at_once: int,
        workers: int,
        threads: int,
        most: int | None,
        tell: Callable[[str], None],
    ) -> None:
        """Run trials until the time is over, or there are as many as wanted."""
        longest = 0.0
        while clock.left > longest:
            done = sum(TRIED in trial.user_attrs for trial in self.study.get_trials(deepcopy=False))
            if most is not None and done >= most:
                return
            began, queued = time.monotonic(), {}
            for _ in range(at_once if most is None else min(at_once, most - done)):
                trial = self._ask()
                chosen = type(method)(**{**method.get_params(), **trial.params})
                cell = cell_of(self.source, chosen, self.metrics, "validation")
                queued[str(cell.folder(self.folder))] = (trial, cell)
            best = f"; best {self._best():.2f}" if self._best() is not None else ""
            tell(f"trial {len(self.study.get_trials(deepcopy=False))}{best}")
            running = run_all([cell for _, cell in queued.values()], self.source, self.folder, clock, 0.0, workers, threads)
            with closing(running):
                for result in running:
                    tell(f"trial {len(self.study.get_trials(deepcopy=False))}{best}")
                    if result is not None:
                        place = str(result[0].folder(self.folder))
                        self._tell(queued.pop(place)[0], Path(place), result[1])
            if queued:  # stopped by the clock: the next call tries them again, from their checkpoints
                return
            longest = max(longest, time.monotonic() - began)

    def _ask(self) -> Any:
        """Return the next trial: drawn from the trials so far and its number alone, so that a stopped search goes on alike."""
        number = len(self.study.get_trials(deepcopy=False))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some of its options are experimental to Optuna
            self.study.sampler = self.optuna.samplers.TPESampler(seed=self.seed * 100_003 + number, n_startup_trials=8)
        trial = self.study.ask()
        for name, bounds in self.space.items():
            suggest = trial.suggest_int if bounds.is_whole else trial.suggest_float
            suggest(name, bounds.low, bounds.high, log=True)
        return trial

    def _tell(self, trial: Any, run: Path, failed: str) -> None:
        scores = {} if failed else read_scores(run) or {}
        trial.set_user_attr(TRIED, True)  # also where it has no value; one that was stopped is tried again
        if self.score == LABEL_FREE:
            ranked = label_free(scores)
            value = None if ranked is None else ranked.value
            terms = {} if ranked is None else {name: float(term) for name, term in ranked.terms.items()}
            trial.set_user_attr(TERMS, terms)
        else:
            one = scores.get(self.score)
            value = None if one is None else -one.value if one.direction == "lower" else one.value
        if value is None or not math.isfinite(value):
            self.study.tell(trial.number, state=self.optuna.trial.TrialState.FAIL)
        else:
            self.study.tell(trial.number, value)

    def _best(self) -> float | None:
        values = [trial.value for trial in self.study.get_trials(deepcopy=False) if trial.value is not None]
        return max(values) if values else None

    def result(self, method: Method) -> Tuned:
        """Return the best trial, and draw the history."""
        ended = [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.is_finished()]
        trials = tuple(
            Trial(number, dict(one.params), one.value, one.user_attrs.get(TERMS, {})) for number, one in enumerate(ended)
        )
        valued = [trial for trial in trials if trial.value is not None]
        history = self.folder / HISTORY
        best = method
        if valued:
            first = max(valued, key=lambda trial: trial.value or 0.0)
            best = type(method)(**{**method.get_params(), **first.fields})
            figure = tuning_history([trial.value for trial in trials], [trial.fields for trial in trials])
            with files.atomic(history) as file:
                figure.savefig(file, format="png", dpi=120, facecolor="white")
        value = max((trial.value for trial in valued if trial.value is not None), default=None)
        command, epochs = fit_line(self.source, best, self.folder / "best"), sum(lengths(method).values())
        return Tuned(best, value, trials, command, self.folder, history, epochs, self.in_full)


def _check_value(scores: Mapping[str, Score]) -> None:
    """Refuse data on which no trial would have a value without labels, before the budget is spent on them."""
    gap = scores.get("counterfactual_gap.x")
    if label_free(scores) is None and (gap is None or gap.value < GAP):
        got = "there are too few samples to learn it" if gap is None else f"got a gap of {gap.value:.2f}"
        raise ValueError(
            f"data must let a network tell targets from backgrounds in the validation split, with a gap of at least {GAP}, for "
            f"a value without labels; {got}; pass more samples, or name another score."
        )


def fit_line(source: Source, method: Method, out: Path) -> str:
    """Return the line of the command line that fits a method to the data, with the fields that are not at their defaults."""
    from untwine.report.sections.reproduce import setting

    words = ["untwine", "fit", method.name]
    words += ["--data", source.name or "YOUR_DATA"] if source.name is not None or source.is_in_memory else []
    for name, value in source.options.items():
        words += ["--data-set", setting(name, value)]
    defaults = type(method)().get_params()
    for name, value in method.get_params().items():
        if value != defaults[name]:
            words += ["--set", setting(name, value)]
    return shlex.join([*words, "--out", str(out)])
