"""`untwine traverse`: change one latent at a time."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untwine.cli.flags import FROM_DATA, File, FromData, Output, Run
from untwine.cli.inputs import load_inputs, open_run, target_indices
from untwine.cli.outputs import check_size, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from untwine._typing import Array
    from untwine.method.contract import Method
    from untwine.samples import Samples

ORDER = 90
RANGE_SAMPLES = 10_000  # test samples behind the range of each latent
MAX_SHOWN = 20  # latents in a figure by default
MIN_INFORMATION = 0.05  # of a factor's entropy, above chance: a latent with less has no meaning among the known factors


def command(
    run: Run,
    x: File = None,
    /,
    *,
    output: Output,
    block: Annotated[str | None, Parameter(help="A latent block; by default salient, class, or the only one.")] = None,
    steps: int = 8,
    latents: int | None = None,
    choose: Annotated[tuple[int, ...], Parameter(consume_multiple=True)] = (),
    ends: tuple[float, float] | None = None,
    factors: bool = False,
    source: FromData = FROM_DATA,
) -> None:
    """Traverse each latent of a block, all others fixed: one row per latent, the one that changes the output most first.

    A traversal covers the middle 98 % of the latent's codes in the test split of the run's data, or the range between `--ends`.
    It starts from X or, without X, from one test target.

    For example:

    - from a test sample: `untwine traverse runs/x --out latents.png`
    - from your own image, the five latents that change it most: `untwine traverse runs/x a.png --latents 5 --out latents.png`
    - every latent from -1.5 to 1.5: `untwine traverse runs/x --ends -1.5 1.5 --out latents.png`
    - three chosen latents, each named after the factor that it encodes:
      `untwine traverse runs/x --choose 4 0 7 --factors --out latents.png`
    - as arrays: `untwine traverse runs/x --out latents.npz`

    Parameters
    ----------
    steps
        The number of steps, both ends included.
    latents
        How many latents to keep, those that change the output most; by default all, and at most 20 in a .png.
    choose
        The latents to keep, by number from 0 and in this order, in place of those that change the output most.
    ends
        The first and the last value of every latent, in place of its range in the data.
    factors
        Name each latent after the ground-truth factor on which it has most information in the test split, with how much: the
        share of the factor's entropy, corrected for chance.
    """
    from untwine import manipulate, plots
    from untwine.registry.blocks import width as width_of

    method = open_run(run, output)
    block = manipulate.block_or_default(method, block)
    width, chosen = width_of(block, method.blocks), choose or None
    _check(steps, latents, chosen, width)
    test = cache(lambda: test_samples(method, run, source))
    (start,), notes = load_inputs((x,), method, test, source, 1)
    if latents is None and chosen is None and output.out.suffix == ".png" and width > MAX_SHOWN:
        latents = MAX_SHOWN
        notes = [*notes, f"the {MAX_SHOWN} of {width} {block} latents that change most are shown; --latents shows more."]
    check_size(output.out, len(choose) or min(latents or width, width), steps)
    like = test().x[target_indices(test())[:RANGE_SAMPLES]] if ends is None else None
    result = manipulate.traverse(method, start, like, block, steps, latents, ends=ends, latents=chosen)
    names = [f"{block} {i}" for i in result.latents]
    inputs = {"x": start, "values": result.values, "latents": result.latents, "change": result.change}
    if factors:
        meanings = _meanings(method, test(), block)[result.latents]
        names = [f"{name}: {meaning}" if meaning else name for name, meaning in zip(names, meanings, strict=True)]
        inputs |= {"meanings": meanings}

    def draw() -> Figure:
        return plots.traversal_grid(result.samples, result.values, names, result.change)

    write_generated(output, inputs, "traversed", result.samples, draw, method.feature_names)
    order = "in the order given" if chosen else "the one that changes most first"
    summary = f"{len(names)} {block} latents x {steps} steps, {order}" + f" ({', '.join(names)})" * factors
    print_written(output, "traverse", block, result.samples, summary, notes)


def _check(steps: int, latents: int | None, chosen: Sequence[int] | None, width: int) -> None:
    """Refuse numbers of steps and latents that a block of this width cannot have."""
    from untwine.registry.checks import check_int, check_latents

    check_int("--steps", steps, 2)
    if latents is not None:
        check_int("--latents", latents, 1)
    check_latents("--choose", chosen, width)
    if chosen and latents is not None:
        raise ValueError("--choose and --latents both say which latents to keep; got both; leave one out.")


def _meanings(method: Method, test: Samples, block: str) -> Array:
    """Return for each latent of a block the factor that it encodes and the share of its entropy; empty for no known factor."""
    import numpy as np

    from untwine.metrics import best_factors

    if test.factors is None or not test.factor_names:
        raise ValueError("--factors needs the ground-truth factors of the test split; got data without any; leave it out.")
    targets = test[target_indices(test)[:RANGE_SAMPLES]]
    known = np.isfinite(np.asarray(targets.factors, dtype=float)).all(axis=1)
    if known.sum() < 2:
        raise ValueError("--factors needs at least two test samples whose factors are all known; got fewer; leave it out.")
    best, share = best_factors(method.encode(targets[known])[block], np.asarray(targets.factors)[known])
    words = [
        f"{test.factor_names[j]} {much:.2f}" if much >= MIN_INFORMATION else "" for j, much in zip(best, share, strict=True)
    ]
    return np.array(words)
