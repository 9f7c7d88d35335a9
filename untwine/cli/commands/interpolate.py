"""`untwine interpolate`: move between the codes of two samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from untwine.cli.flags import FROM_SAMPLES, File, FromSamples, Output, Run
from untwine.cli.inputs import load_inputs, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from untwine.method.contract import Method

ORDER = 80


def command(
    run: Run,
    a: File = None,
    b: File = None,
    /,
    *,
    output: Output,
    block: Annotated[
        str | None, Parameter(help="A latent block, or `all` of them; by default salient, class, or the only one.")
    ] = None,
    steps: int = 8,
    four: bool = False,
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Interpolate a block from A to B in equal steps, all other blocks fixed at those of A; one row per pair.

    With `--four`, a grid between the first four samples of A.

    Without A or B, targets of different classes are taken from the test split of the run's data.

    For example:

    - the salient block: `untwine interpolate runs/x a.png b.png --steps 8 --out between.png`
    - all blocks: `untwine interpolate runs/x a.png b.png --block all --out between.png`

    - between four: `untwine interpolate runs/x four.npy --four --out grid.png`

    Parameters
    ----------
    steps
        The number of steps, both ends included.
    four
        Interpolate in two dimensions: the first four samples of A are the corners of a grid.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, output)
    moving = None if block == "all" else manipulate.block_or_default(method, block)
    block = moving or "all"
    check_int("--steps", steps, 2)
    if four:
        return _write_grid(method, run, a, b, output, block, moving, steps, source)
    (x, y), notes = load_inputs((a, b), method, lambda: test_samples(method, run, source), source)
    check_size(output.out, max(len(x), len(y)), steps)
    between = manipulate.interpolate(method, x, y, moving, steps)
    words = "all blocks change" if moving is None else f"the {block} block changes, all others stay"
    ends = [end if len(end) == len(between) else end.repeat(len(between), axis=0) for end in (x, y)]
    titles = "A", words, "B"
    write_generated(
        output,
        {"a": x, "b": y},
        "interpolated",
        between,
        lambda: plots.strips(between, ends[0], ends[1], titles),
        method.feature_names,
    )
    print_written(output, "interpolate", block, between, f"{count(between)} interpolated, {words}", notes)


def _write_grid(
    method: Method,
    run: Run,
    a: File,
    b: File,
    output: Output,
    block: str,
    moving: str | None,
    steps: int,
    source: FromSamples,
) -> None:
    """Write the grid between four samples."""
    from untwine import manipulate, plots

    if b is not None or source.samples is not None:
        raise ValueError("--four takes the four corners from A; got B or --samples as well; put them into one file.")
    check_size(output.out, steps, steps)
    (x,), notes = load_inputs((a,), method, lambda: test_samples(method, run, source), source, 4)
    between = manipulate.interpolate_four(method, x, moving, steps)
    words = "all blocks change" if moving is None else f"the {block} block changes, all others stay"
    write_generated(output, {"corners": x}, "interpolated", between, lambda: plots.interpolation(between), method.feature_names)
    print_written(output, "interpolate", block, between, f"{count(between)} interpolated, {words}", notes)
