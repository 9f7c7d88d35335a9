"""The suites of the benchmark. Each yields figures from rounds in which all of its sides take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Literal

import torch

from benchmarks import (
    closed_forms,
    codes,
    explore,
    game,
    independent,
    latent_optimisation,
    layouts,
    new_process,
    scores,
    work,
)
from benchmarks.figures import Figure, Round, figure, interleaved, medians
from benchmarks.peer import pythae
from benchmarks.processes import in_processes
from benchmarks.sides import bare, ours
from benchmarks.work import BATCH, Work
from untwine.training.embedding_table import EmbeddingTable

FEW = 2 * BATCH  # samples of a quick run

# Other work on the machine comes and goes within seconds. A round is some tenths of one, so that it mostly meets both sides
# alike, and there are many, so that the median settles.


def loop(quick: bool) -> Iterator[Figure]:
    """Our images per second over those of the bare loop."""
    for nets, samples, epochs, rounds in ((work.mlp, 2048, 1, 41), (work.conv, 512, 1, 41)):
        task = Work(work.images(FEW if quick else samples, (3, 32, 32)), nets, epochs)
        sides = {"ours": partial(ours, task), "bare": partial(bare, task)}
        measured = interleaved(sides, 2 if quick else rounds)
        yield _speed(f"{nets.__name__}: ours over a bare loop", "bare", task, measured, 0.95)


def peers(quick: bool) -> Iterator[Figure]:
    """Our images per second over those of pythae's trainer."""
    mlp = ("pythae's mlp", work.pythae_mlp, 2048, 1, 41, 1.3)
    conv = ("conv", work.conv, 512, 1, 21, 1.0)
    for title, nets, samples, epochs, rounds, bound in (mlp, conv):
        task = Work(work.scaled(work.images(FEW if quick else samples, (1, 28, 28))), nets, epochs, scale=1.0)
        sides = {"ours": partial(ours, task), "pythae": partial(pythae, task)}
        with nullcontext(sides) if quick else in_processes(sides) as timed_sides:
            measured = interleaved(timed_sides, 2 if quick else rounds)
        yield _speed(f"{title}: ours over pythae", "pythae", task, measured, bound)


def factor_peers(quick: bool) -> Iterator[Figure]:
    """Images of 0 and 1, 64 x 64, per second, over pythae's, for FactorVAE and beta-TCVAE.

    pythae's FactorVAE halves each batch: it reconstructs one half, and only encodes the other, to permute its codes. So it is
    given twice the samples in batches of twice the size. Ours with `second_batch` does the same work: as many steps, each with
    as many images in its bound and as many that are only encoded. By default ours permutes the codes of the batch itself; a
    step then has as many images in its bound, and encodes no others.
    """
    sides: dict[str, dict[str, Callable[[Work], float]]] = {
        "FactorVAE": {
            "ours": independent.our_factor_vae,
            "ours, one batch": partial(independent.our_factor_vae, second_batch=False),
            "pythae": independent.pythae_factor_vae,
        },
        "beta-TCVAE": {"ours": independent.our_beta_tcvae, "pythae": independent.pythae_beta_tcvae},
    }
    for title, by_side in sides.items():
        task = Work(work.binary(FEW if quick else 512, (1, 64, 64)), work.shapes, 1)
        bound = {side: partial(timed, task) for side, timed in by_side.items()}
        with nullcontext(bound) if quick else in_processes(bound) as timed_sides:
            measured = interleaved(timed_sides, 1 if quick else 11)
        for side in list(by_side)[:-1]:
            those: list[Round] = [{"ours": one[side], "pythae": one["pythae"]} for one in measured]
            also = ", codes of the same batch permuted" if side != "ours" else ""
            yield _speed(f"{title}, 64 x 64{also}: ours over pythae", "pythae", task, those, 1.2)


def metrics(quick: bool) -> Iterator[Figure]:
    """The best-known library's seconds for metrics of single latents, brought to this machine, over ours.

    The boosted trees that `dci` is held against and its own are fitted on the same samples.
    """
    samples, rounds = (500, 1) if quick else (scores.SAMPLES, 5)
    measured = interleaved(scores.sides(samples), rounds)
    known = {**{name: (seconds, 2.0) for name, seconds in scores.LIBRARY.items()}, "dci": (scores.ALL_SECONDS, 20.0)}
    for name, (seconds, bound) in known.items():
        scaled = [{"ours": one[name], "theirs": seconds * one["scikit-learn"] / scores.CALIBRATION} for one in measured]
        yield figure(
            f"{name}: {'boosted trees' if name == 'dci' else 'the best-known library'} over ours",
            [one["theirs"] / one["ours"] for one in scaled],
            bound=bound,
            detail={
                "samples": samples,
                "rounds": rounds,
                "seconds": medians(scaled),
                "calibration": medians(measured)["scikit-learn"],
            },
        )


def overhead(quick: bool) -> Iterator[Figure]:
    """What our loop adds to a step whose networks cost next to nothing."""
    task = Work(work.vectors(FEW if quick else 4096, 8), work.tiny, 1 if quick else 4, scale=1.0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the loop's own work is serial; waking a second thread for networks this small would dominate it
    measured = interleaved({"ours": partial(ours, task), "bare": partial(bare, task)}, 2 if quick else 31)
    torch.set_num_threads(threads)
    steps: list[Round] = [{side: 1000 * seconds / task.steps for side, seconds in one.items()} for one in measured]
    yield figure(
        "the loop's own time per step",
        [one["ours"] - one["bare"] for one in steps],
        unit="ms",
        bound=0.3,
        direction="below",
        detail={**_sizes(task, measured), "milliseconds_per_step": medians(steps)},
    )


def memory(quick: bool) -> Iterator[Figure]:
    """The most memory that a process with each side takes, from the same bytes."""
    samples, sides = (FEW, ("imports", "ours", "bare")) if quick else (8192, ("imports", "ours", "bare", "pythae"))
    peaks = {side: new_process.peak(side, samples, torch.get_num_threads()) for side in sides}
    detail = {"samples": samples, "shape": [3, 32, 32], "batch": BATCH, "rounds": 1, "megabytes": medians([peaks], 0)}
    for other in sides[2:]:
        name = f"peak memory: ours over {'a bare loop' if other == 'bare' else other}"
        yield figure(name, [peaks["ours"] / peaks[other]], detail=detail)


def growth(quick: bool) -> Iterator[Figure]:
    """The time of an epoch per sample at ten times the samples, over that at the fewer."""
    few, rounds = (FEW, 2) if quick else (10_000, 3)
    tasks = {str(n): Work(work.images(n, (1, 28, 28)), work.mlp, epochs) for n, epochs in ((few, 10), (10 * few, 1))}
    measured = interleaved({name: partial(ours, task) for name, task in tasks.items()}, rounds)
    each = [{name: 1e6 * seconds / tasks[name].images for name, seconds in one.items()} for one in measured]
    yield figure(
        f"an epoch's time per sample: {10 * few:,} over {few:,}",
        [one[str(10 * few)] / one[str(few)] for one in each],
        bound=1.15,
        direction="at most",
        detail={"shape": [1, 28, 28], "batch": BATCH, "rounds": rounds, "microseconds_per_sample": medians(each)},
    )


def importing(quick: bool) -> Iterator[Figure]:
    """The time of `import untwine` in a new process that has imported torch."""
    # The first process warms the disk.
    measured = [new_process.importing() for _ in range(2 if quick else 7)][1:]
    yield figure(
        "import untwine, beyond torch",
        [one["untwine"] for one in measured],
        unit="s",
        bound=0.3,
        direction="below",
        detail={"rounds": len(measured), "seconds": medians(measured)},
    )


def infogan(quick: bool) -> Iterator[Figure]:
    """A step of Double InfoGAN, over one of a loop that computes everything anew for each player."""
    samples, batch, rounds = (32, 8, 2) if quick else (256, 64, 15)
    task = game.Game(work.images(samples, (3, 32, 32)), batch)
    measured = interleaved({"ours": partial(game.ours, task), "straight": partial(game.straight, task)}, rounds)
    steps: list[Round] = [{side: 1000 * seconds / task.steps for side, seconds in one.items()} for one in measured]
    detail = {"samples": samples, "shape": [3, 32, 32], "batch": batch, "width": game.WIDTH, "rounds": len(measured)}
    yield figure(
        "a step of Double InfoGAN: ours over a straightforward one",
        [one["ours"] / one["straight"] for one in steps],
        bound=0.85,
        direction="at most",
        detail={**detail, "milliseconds_per_step": medians(steps)},
    )
    peaks = {side: new_process.peak(f"game {side}", 512, torch.get_num_threads()) for side in ("ours", "straight")}
    yield figure(
        "peak memory of Double InfoGAN: ours over a straightforward one",
        [peaks["ours"] / peaks["straight"]],
        bound=1.0,
        direction="at most",
        detail={**detail, "batch": 128, "samples": 512, "rounds": 1, "megabytes": medians([peaks], 0)},
    )


def learned_codes(quick: bool) -> Iterator[Figure]:
    """A step of LORD's stage one among many samples over one among few, and a dense Adam's update of codes over ours."""
    few, many, steps, rounds = (FEW, 2 * FEW, 3, 1) if quick else (10_000, 1_000_000, 40, 21)
    sizes = {f"{n:,}": codes.random_samples(n) for n in (few, many)}
    measured = interleaved({n: partial(codes.step_seconds, samples, steps) for n, samples in sizes.items()}, rounds)
    detail = {"shape": [1, 8, 8], "batch": BATCH, "n_content": codes.WIDTH, "steps": steps, "rounds": rounds}
    each: list[Round] = [{n: 1000 * seconds for n, seconds in one.items()} for one in measured]
    yield figure(
        f"a step of LORD's stage one: {many:,} samples over {few:,}",
        [one[f"{many:,}"] / one[f"{few:,}"] for one in each],
        bound=1.1,
        direction="at most",
        detail={**detail, "milliseconds_per_step": medians(each)},
    )
    samples, steps, rounds = (FEW, 2, 1) if quick else (100_000, 5, 15)
    tables = EmbeddingTable(samples, codes.WIDTH), torch.nn.Parameter(torch.zeros(samples, codes.WIDTH))
    sides = {"ours": partial(codes.ours, tables[0], steps), "dense": partial(codes.dense, tables[1], steps)}
    measured = interleaved(sides, rounds)
    each = [{side: 1000 * seconds for side, seconds in one.items()} for one in measured]
    yield figure(
        f"the update of codes at {samples:,} samples: a dense Adam over ours",
        [one["dense"] / one["ours"] for one in each],
        bound=5.0,
        detail={"samples": samples, "batch": BATCH, "width": codes.WIDTH, "rounds": rounds, "milliseconds": medians(each)},
    )


def exploring(quick: bool) -> Iterator[Figure]:
    """The explorer in Chromium on 20,000 images, while t-SNE of them is computed; nothing where there is no Chromium."""
    if explore.browser() is None:
        print("      left out: Chromium is not installed (Debian: apt install chromium)")
        return
    samples, rounds = (300, 1) if quick else (20_000, 5)
    measured = explore.measure(samples, rounds)
    detail = {"samples": samples, "shape": [1, 64, 64], "rounds": rounds}
    titles = {
        "points": ("until there are points", "ms", 2000.0),
        "frames": ("frames of a map that is moved", "per second", 59.0),
        "draw": ("drawing one of them", "ms", 1000 / 60),
        "hover": ("until the sample under the pointer is shown", "ms", 50.0),
        "swap": ("a swap", "ms", 200.0),
        "latent": ("a latent moved and decoded", "ms", 100.0),
    }
    for name, (title, unit, bound) in titles.items():
        direction: Literal["at least", "below"] = "at least" if name == "frames" else "below"  # 60 is what a screen shows
        yield figure(f"explorer: {title}", measured[name], 1, unit=unit, bound=bound, direction=direction, detail=detail)


SUITES: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "loop": loop,
    "pythae": peers,
    "factors": factor_peers,
    "metrics": metrics,
    "overhead": overhead,
    "memory": memory,
    "growth": growth,
    "import": importing,
    "infogan": infogan,
    "codes": learned_codes,
    "lord": latent_optimisation.latent_optimisation,
    "layouts": layouts.layouts,
    "contrastive_pca": closed_forms.contrastive_pca,
    "explore": exploring,
}


def _speed(name: str, other: str, task: Work, measured: list[Round], bound: float | None) -> Figure:
    speeds = [{side: task.images / seconds for side, seconds in one.items()} for one in measured]
    detail = {**_sizes(task, measured), "images_per_second": medians(speeds, 0)}
    return figure(name, [one["ours"] / one[other] for one in speeds], bound=bound, detail=detail)


def _sizes(task: Work, measured: list[Round]) -> dict[str, object]:
    return {
        "samples": len(task.x),
        "shape": list(task.x.shape[1:]),
        "dtype": str(task.x.dtype),
        "batch": BATCH,
        "epochs": task.epochs,
        "rounds": len(measured),
    }
