"""`untwine swap`: exchange a latent block between samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwine.cli.flags import FROM_SAMPLES, Beside, Block, File, FromSamples, Output, Run
from untwine.cli.inputs import load_inputs, open_beside, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 50


def command(
    run: Run,
    a: File = None,
    b: File = None,
    /,
    *,
    output: Output,
    block: Block = None,
    pairs: bool = False,
    beside: Beside = (),
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Decode each sample of A with the block of each sample of B: one row per A, one column per B.

    Without A or B, targets of different classes are taken from the test split of the run's data.

    For example:

    - two images: `untwine swap runs/x a.png b.png --out swapped.png`
    - a grid of test samples: `untwine swap runs/x --samples 6 --out grid.png`
    - arrays a, b and swapped, pair by pair: `untwine swap runs/x a.npy b.npy --pairs --out swapped.npz`
    - two methods on the same pairs: `untwine swap runs/x --pairs --beside runs/y --out transfer.png`

    Parameters
    ----------
    pairs
        Swap pair by pair, the first of A with the first of B and so on, instead of every A with every B.
    """
    import numpy as np

    from untwine import manipulate, plots

    method = open_run(run, output)
    block, rest = manipulate.changed_block(method, block), manipulate.other_block(method, block)
    if beside and not pairs:
        raise ValueError("--beside compares runs pair by pair; got it without --pairs; add --pairs.")
    methods = open_beside(method, run, beside, block)
    (x, y), notes = load_inputs((a, b), method, lambda: test_samples(method, run, source), source)
    check_size(output.out, *((len(methods), max(len(x), len(y))) if pairs else (len(x), len(y))))
    swapped = (manipulate.swap if pairs else manipulate.swap_grid)(method, x, y, block)
    if beside:
        swapped = np.stack([manipulate.swap(one, x, y, block) for one in methods.values()])

    def draw() -> Figure:
        if not pairs:
            return plots.swap_grid(x, y, swapped, (rest, block))
        rows = {f"by {name}": row for name, row in zip(methods, swapped, strict=True)} if beside else {"swapped": swapped}
        return plots.image_rows({f"{rest} block from": x, f"{block} block from": y} | rows)

    write_generated(output, {"a": x, "b": y}, "swapped", swapped, draw, method.feature_names)
    layout = "pair by pair" if pairs else f"{rest} block by row, {block} block by column"
    layout += f", {', '.join(methods)} one below the other" * bool(beside)
    print_written(output, "swap", block, swapped, f"{count(swapped)} swapped, {layout}", notes)
