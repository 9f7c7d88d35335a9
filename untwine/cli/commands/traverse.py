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
    from matplotlib.figure import Figure

ORDER = 90
RANGE_SAMPLES = 10_000  # test samples behind the range of each latent
MAX_SHOWN = 20  # latents in a figure by default


def command(
    run: Run,
    x: File = None,
    /,
    *,
    output: Output,
    block: Annotated[str | None, Parameter(help="A latent block; by default the only one, or salient.")] = None,
    steps: int = 8,
    latents: int | None = None,
    ends: tuple[float, float] | None = None,
    source: FromData = FROM_DATA,
) -> None:
    """Traverse each latent of a block, all others fixed: one row per latent, the one that changes the output most first.

    A traversal covers the middle 98 % of the latent's codes in the test split of the run's data, or the range between `--ends`.
    It starts from X or, without X, from one test target.

    For example:

    - from a test sample: `untwine traverse runs/x --out latents.png`
    - from your own image, the five latents that change it most: `untwine traverse runs/x a.png --latents 5 --out latents.png`
    - every latent from -1.5 to 1.5: `untwine traverse runs/x --ends -1.5 1.5 --out latents.png`
    - as arrays: `untwine traverse runs/x --out latents.npz`

    Parameters
    ----------
    steps
        The number of steps, both ends included.
    latents
        How many latents to keep, those that change the output most; by default all, and at most 20 in a .png.
    ends
        The first and the last value of every latent, in place of its range in the data.
    """
    from untwine import manipulate, plots
    from untwine.registry.checks import check_int

    method = open_run(run, output)
    block = manipulate.traversed_block(method, block)
    check_int("--steps", steps, 2)
    if latents is not None:
        check_int("--latents", latents, 1)
    test = cache(lambda: test_samples(method, run, source))
    (start,), notes = load_inputs((x,), method.shape_, test, source, 1)
    width = method.blocks[block]
    if latents is None and output.out.suffix == ".png" and width > MAX_SHOWN:
        latents = MAX_SHOWN
        notes = [*notes, f"the {MAX_SHOWN} of {width} {block} latents that change most are shown; --latents shows more."]
    check_size(output.out, width if latents is None else min(latents, width), steps)
    like = test().x[target_indices(test())[:RANGE_SAMPLES]] if ends is None else None
    result = manipulate.traverse(method, start, like, block, steps, latents, ends=ends)
    names = [f"{block} {i}" for i in result.latents]

    def draw() -> Figure:
        return plots.traversal_grid(result.samples, result.values, names, result.change)

    inputs = {"x": start, "values": result.values, "latents": result.latents, "change": result.change}
    write_generated(output, inputs, "traversed", result.samples, draw)
    summary = f"{len(names)} {block} latents x {steps} steps, the one that changes most first"
    print_written(output, "traverse", block, result.samples, summary, notes)
