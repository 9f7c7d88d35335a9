"""`untwine interpolate`: move between the codes of two samples."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from untwine.cli.flags import FROM_SAMPLES, File, FromSamples, Output, Run
from untwine.cli.inputs import load_inputs, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

ORDER = 80


def command(
    run: Run,
    a: File = None,
    b: File = None,
    /,
    *,
    output: Output,
    block: Annotated[str, Parameter(help="A latent block of the run, or `all` to interpolate all of them.")] = "salient",
    steps: int = 8,
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Interpolate a block from A to B in equal steps, all other blocks fixed at those of A; one row per pair.

    Without A or B, targets of different classes are taken from the test split of the run's data.

    For example:

    - the salient block: `untwine interpolate runs/x a.png b.png --steps 8 --out between.png`
    - all blocks: `untwine interpolate runs/x a.png b.png --block all --out between.png`

    Parameters
    ----------
    steps
        The number of steps, both ends included.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, output)
    moving = None if block == "all" else manipulate.known_block(method, block)
    check_int("--steps", steps, 2)
    (x, y), notes = load_inputs((a, b), method.shape_, lambda: test_samples(method, run, source), source)
    check_size(output.out, max(len(x), len(y)), steps)
    between = manipulate.interpolate(method, x, y, moving, steps)
    words = "all blocks change" if moving is None else f"the {block} block changes, all others stay"
    ends = [end if len(end) == len(between) else end.repeat(len(between), axis=0) for end in (x, y)]
    titles = "A", words, "B"
    write_generated(output, {"a": x, "b": y}, "interpolated", between, lambda: plots.strips(between, ends[0], ends[1], titles))
    print_written(output, "interpolate", block, between, f"{count(between)} interpolated, {words}", notes)
