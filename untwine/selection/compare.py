"""`untwine compare`: several methods on your own data under a budget of time, ranked without labels, on one page."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from untwine.data import Splits
from untwine.evaluation.diagnostics import contrast_of, diagnose
from untwine.evaluation.gallery import gallery
from untwine.evaluation.ranking import label_free
from untwine.evaluation.scoring import evaluate
from untwine.method.contract import Method
from untwine.method.kinds import Trained
from untwine.methods import find_method, load_method
from untwine.metrics.encoded import encode
from untwine.metrics.stability import stability_score
from untwine.plots.tuning import tuning_history
from untwine.registry.checks import check_int
from untwine.report.markup import image
from untwine.report.page import report
from untwine.runs import files
from untwine.runs.comparison import (
    FAILED,
    FINISHED,
    STOPPED,
    Candidate,
    Comparison,
    read_comparison,
    write_comparison,
)
from untwine.runs.gallery import write_gallery
from untwine.runs.names import GALLERY, report_path
from untwine.runs.saving import read_card
from untwine.runs.scores import read_scores
from untwine.selection.budget import (
    MARGIN,
    Clock,
    Speed,
    batch_of,
    few_samples,
    lengths,
    needed,
    shares,
    speed,
    wanted_epochs,
    within,
)
from untwine.selection.candidates import choose, metrics_of, supervision
from untwine.selection.progress import budget_bar
from untwine.selection.runs import Source, cell_of, run_all
from untwine.study.cells import Cell, has_rows

RESERVED = 0.25  # of the time at most is kept for images and page: of methods that were not fitted there is nothing to show
FITTED = 0.3  # of the time at least is for training: better some methods that are trained than all for a step
PAGE_SECONDS = 1.0  # of a run, to draw its part of the page, where no run is timed
FIGURES = 20  # that a run with images has on the page, about
BARE = 0.25  # of it is drawn of a run without images
SEEDS = (0,)


class _Costs(NamedTuple):
    """The seconds that one run takes besides its fit: to score it, to make its images, and to draw its part of the page."""

    scores: float
    images: float
    page: float = PAGE_SECONDS


class _Fresh(NamedTuple):
    """A run that is planned: its method, its place among the candidates, how fast it is, and the epochs that it would have."""

    method: Method
    place: int
    speed: Speed
    wanted: Mapping[str, int]


@dataclass(frozen=True)
class Compared:
    """What `compare` returns: the comparison, the folder of its runs, and its page."""

    comparison: Comparison
    folder: Path
    page: Path

    @property
    def best(self) -> Path | None:
        """The run folder of the method that is ranked first; None where no run has a value."""
        places = self.comparison.ranking()
        return self.folder / places[0].best.folder if places and places[0].value is not None else None


def compare(
    data: str | Path | Splits | None = None,
    methods: Sequence[str | Method] | None = None,
    minutes: float = 10.0,
    seeds: Sequence[int] = SEEDS,
    out: str | os.PathLike[str] = "runs/compare",
    *,
    data_options: Mapping[str, Any] | None = None,
    workers: int = 1,
    threads: int = 1,
    progress: bool = False,
) -> Compared:
    """Fit several methods to your data under a budget of time, rank them without labels, and write one page about them.

    The time is shared fairly: a few steps of each method are timed, each gets what it needs or an even share, and is trained
    as many epochs as fit. Runs are fitted on the training split and ranked on the test split, by scores that use no label
    (`untwine.evaluation.ranking`); labels and factors, where the data have some, are scored beside. Every run is a run folder
    in `out`. The same call again fits only what is not finished; after an interrupt or at the end of the budget what was under
    way is resumed from its checkpoint.

    Parameters
    ----------
    data
        A data set or a path, as `load` takes it, or `Splits` in memory, which this process fits one after the other; None where
        `data_options` name `target` and `background`.
    methods
        Names of the catalogue, or methods with fields of your own; by default those that suit what the data have. Trivial
        baselines (PCA, contrastive PCA) are added.
    minutes
        The budget, page included. Each run gets one epoch at the least.
    seeds
        The seeds of each method; from two on the agreement of their codes is measured.
    out
        The folder of the comparison.
    data_options
        Options of the data.
    workers, threads
        How many runs go on at a time, each in its own process, and the threads of each; 0 workers: one in this process.
    progress
        Whether to show how much of the budget is left, and what is done.
    """
    clock = Clock(minutes)
    for name, value, least in (("workers", workers, 0), ("threads", threads, 1)):
        check_int(name, value, least)
    seeds = [check_int("seeds", seed, 0) for seed in seeds]
    if not seeds or len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must be different and at least one; got {seeds}.")
    source, folder = Source.of(data, data_options), Path(out)
    chosen, trivial = choose(source.splits.train, methods)
    files.make_folder(folder)
    with budget_bar("comparing", clock, progress) as tell:
        plan, costs = _plan(source, folder, chosen, trivial, seeds, clock, workers, tell)
        reserve = _reserve(costs, len({one.method for one in plan.candidates}), clock)
        plan = _run(plan, source, folder, clock, reserve, workers, threads, tell)
        plan = replace(plan, stability=_stability(plan, source, folder))
        write_comparison(folder, plan)
        _write_images(plan, source, folder, clock, costs.page, tell)
        return Compared(plan, folder, write_page(folder))


def write_page(folder: Path) -> Path:
    """Write the page about the finished runs of a comparison; where there is none yet nothing is written."""
    comparison = read_comparison(folder)
    out = report_path(folder)
    return report(folder, out) if comparison is not None and comparison.finished() else out


def _plan(
    source: Source,
    folder: Path,
    methods: Sequence[Method],
    trivial: tuple[str, ...],
    seeds: Sequence[int],
    clock: Clock,
    workers: int,
    tell: Callable[[str], None],
) -> tuple[Comparison, _Costs]:
    """Return the plan of all runs: what is finished or under way as it was planned, and the rest within the budget.

    Also return what a run costs besides its fit.
    """
    train = source.splits.train
    fingerprint, known = train.fingerprint(), read_comparison(folder)
    if known is not None and known.fingerprint != fingerprint:
        raise ValueError(
            f"out must be a new folder, or that of a comparison of the same data; {folder} compares {known.data}; "
            f"choose another."
        )
    if known is None and any(folder.iterdir()):
        raise ValueError(f"out must be a new folder, or that of a comparison; {folder} is not empty; choose another.")
    former = {(one.method, one.seed): one for one in known.candidates} if known is not None else {}
    planned, fresh, speeds = list[Candidate](), list[_Fresh](), dict[str, Speed]()
    for seed in seeds:  # a seed of every method before the next one, so that a short budget compares all
        for method in methods:
            candidate = Candidate(method.name, seed, {**method.get_params(), "seed": seed})
            earlier = former.pop((method.name, seed), None)
            if earlier is not None and _same_settings(earlier, candidate) and earlier.state in (FINISHED, STOPPED):
                planned.append(earlier)
                continue
            if method.name not in speeds:
                tell(f"timing {method.name}")
                speeds[method.name] = speed(method, train)
            fresh.append(_Fresh(method, len(planned), speeds[method.name], wanted_epochs(method, speeds[method.name])))
            planned.append(replace(candidate, wanted=sum(fresh[-1].wanted.values())))
    costs = _time_scores(source, fresh, tell)
    reserve = _reserve(costs, len(methods), clock)
    free = clock.left - reserve - costs.scores * len(fresh) / max(1, workers)
    total = MARGIN * max(1, workers) * max(free, FITTED * clock.left)
    given = shares([needed(one.wanted, one.speed) for one in fresh], total)
    for one, seconds in zip(fresh, given, strict=True):
        epochs, candidate = within(one.wanted, one.speed, seconds), planned[one.place]
        planned[one.place] = replace(candidate, params={**candidate.params, **epochs}, epochs=sum(epochs.values()))
    # Finished runs of methods that this call does not name stay in the comparison.
    planned += [one for one in former.values() if one.state == FINISHED]
    baselines = tuple(dict.fromkeys((*trivial, *(known.baselines if known is not None else ()))))
    known_as = source.label, fingerprint, supervision(train), round(clock.seconds / 60, 3)
    return Comparison(*known_as, tuple(planned), {}, baselines), costs


def _reserve(costs: _Costs, methods: int, clock: Clock) -> float:
    """Return the seconds that are kept for the images of so many methods and the page, within bounds."""
    return min((costs.images + costs.page) * methods, RESERVED * clock.left)


def _same_settings(a: Candidate, b: Candidate) -> bool:
    """Whether two candidates have the same fields but for the length of training, which the budget decides."""
    fields = [{k: v for k, v in one.params.items() if k.split("_")[0] != "epochs"} for one in (a, b)]
    return fields[0] == fields[1]


def _time_scores(source: Source, fresh: Sequence[_Fresh], tell: Callable[[str], None]) -> _Costs:
    """Return the seconds that scoring a run takes, and drawing it, by one that is trained for a moment."""
    trained = [one.method for one in fresh if isinstance(one.method, Trained)]
    if not trained:
        return _Costs(0.0, 0.0)
    tell("timing the scores")
    method, (train, test) = trained[0], source.splits
    short = type(method)(**{**method.get_params(), **dict.fromkeys(lengths(method), 1)})
    short.fit(few_samples(train, batch_of(short)))
    began = time.monotonic()
    evaluate(short, test, metrics_of(supervision(train)), skip_inapplicable=True)
    scored = time.monotonic()
    gallery(short, test)
    return _Costs(scored - began, time.monotonic() - scored, FIGURES * _time_figure())


def _time_figure() -> float:
    """Return the seconds that a figure of the page takes, drawn once before, as the first one of a process sets up fonts."""
    for _ in range(2):
        began = time.monotonic()
        image(tuning_history([0.2, 0.5, 0.3], [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}]), "three values")
    return time.monotonic() - began


def _run(
    plan: Comparison,
    source: Source,
    folder: Path,
    clock: Clock,
    reserve: float,
    workers: int,
    threads: int,
    tell: Callable[[str], None],
) -> Comparison:
    """Run what is not finished, and write the plan as each run finishes."""
    metrics = metrics_of(plan.supervision)
    cells: dict[str, tuple[Candidate, Cell]] = {}
    for one in plan.candidates:
        cell = cell_of(source, find_method(one.method)(**one.params), metrics)
        place = cell.folder(folder)
        candidate = replace(one, folder=place.relative_to(folder).as_posix(), state=STOPPED)
        if has_rows(cell, folder):
            plan = plan.having(_done(candidate, folder))
        else:
            plan, cells[str(place)] = plan.having(candidate), (candidate, cell)
    write_comparison(folder, plan)
    note = f"{len(cells)} runs to do"
    running = run_all([cell for _, cell in cells.values()], source, folder, clock, reserve, workers, threads)
    try:
        with closing(running):
            for result in running:
                if result is not None:
                    cell, failed = result
                    candidate = cells[str(cell.folder(folder))][0]
                    plan = plan.having(replace(candidate, state=FAILED, reason=failed) if failed else _done(candidate, folder))
                    write_comparison(folder, plan)
                    note = f"{candidate.method} seed {candidate.seed} {'failed' if failed else 'done'}{_leader(plan)}"
                tell(note)
    finally:  # also what finished at the very moment of an interrupt
        for candidate, cell in cells.values():
            if _is_stopped(plan, candidate) and has_rows(cell, folder):
                plan = plan.having(_done(candidate, folder))
        write_comparison(folder, plan)
    return plan


def _is_stopped(plan: Comparison, candidate: Candidate) -> bool:
    return any((one.method, one.seed, one.state) == (candidate.method, candidate.seed, STOPPED) for one in plan.candidates)


def _done(candidate: Candidate, folder: Path) -> Candidate:
    """Return a candidate with what its run folder says."""
    place = folder / candidate.folder
    ranked, seconds = label_free(read_scores(place) or {}), read_card(place).get("seconds", {}).get("fit", 0.0)
    if ranked is None:
        return replace(candidate, state=FINISHED, seconds=float(seconds))
    return replace(candidate, state=FINISHED, seconds=float(seconds), value=ranked.value, terms=dict(ranked.terms))


def _leader(plan: Comparison) -> str:
    places = [place for place in plan.ranking() if place.value is not None]
    return f"; first so far: {places[0].method}, {places[0].value:.2f}" if places else ""


def _stability(plan: Comparison, source: Source, folder: Path) -> dict[str, float]:
    """Return how well the codes of a method's seeds agree, by method: of the salient, the class or the only block."""
    agreement = {}
    for method in dict.fromkeys(one.method for one in plan.finished()):
        runs = [load_method(folder / one.folder) for one in plan.finished() if one.method == method]
        if len(runs) > 1:
            blocks = runs[0].blocks
            block = next((name for name in ("salient", "class") if name in blocks), next(iter(blocks)))
            with suppress(ValueError, KeyError):  # too few samples to have neighbours, or a block for each target
                agreement[method] = stability_score([encode(run, source.splits.test)[block] for run in runs]).value
    return agreement


def _write_images(
    plan: Comparison, source: Source, folder: Path, clock: Clock, page: float, tell: Callable[[str], None]
) -> None:
    """Write images and diagnostics of the best run of each method, the first in the ranking first, as far as there is time.

    `page` is how many seconds it takes to draw the part of the page of a run with images.
    """
    tested, longest, places = None, 0.0, plan.ranking()
    for number, place in enumerate(places):
        run = folder / place.best.folder
        if (run / GALLERY).exists():
            continue
        drawn = page * (number + 1 + BARE * (len(places) - number - 1))
        if number and clock.left < longest + drawn:
            return
        tell(f"images of {place.method}")
        began, method = time.monotonic(), load_method(run)
        write_gallery(run, gallery(method, source.splits.test))
        if tested is None and plan.supervision == "groups":
            tested = contrast_of(source.splits.train)
        diagnose(run, method, *source.splits, tested=tested)
        longest = max(longest, time.monotonic() - began)
