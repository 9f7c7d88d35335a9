"""`untwine interpolate`: move between the codes of two samples."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from untwine.cli.flags import (
    DataSettings,
    File,
    Json,
    OtherData,
    Out,
    Overwrite,
    Plain,
    Run,
    SampleCount,
    Seed,
)
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
    out: Out,
    block: Annotated[str, Parameter(help="A latent block of the run, or `all` to interpolate all of them.")] = "salient",
    steps: int = 8,
    samples: SampleCount = None,
    data: OtherData = None,
    data_set: DataSettings = (),
    seed: Seed = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
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

    method = open_run(run, out, overwrite)
    moving = None if block == "all" else manipulate.known_block(method, block)
    check_int("--steps", steps, 2)
    (x, y), notes = load_inputs((a, b), method.shape_, lambda: test_samples(method, run, data, data_set), samples, seed)
    check_size(out, max(len(x), len(y)), steps)
    between = manipulate.interpolate(method, x, y, moving, steps)
    words = "all blocks change" if moving is None else f"the {block} block changes, all others stay"
    ends = [end if len(end) == len(between) else end.repeat(len(between), axis=0) for end in (x, y)]
    titles = "A", words, "B"
    write_generated(
        out, {"a": x, "b": y}, "interpolated", between, lambda: plots.strips(between, ends[0], ends[1], titles), plain
    )
    print_written(out, "interpolate", block, between, f"{count(between)} interpolated, {words}", notes, json)
