"""`untwine remove`: set a latent block to its neutral value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwine.cli.flags import FROM_SAMPLES, Block, File, FromSamples, Output, Run
from untwine.cli.inputs import load_inputs, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 60


def command(
    run: Run,
    x: File = None,
    /,
    *,
    output: Output,
    block: Block = "salient",
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Decode samples without a block; without its salient block, a target becomes its background counterpart.

    Without X, targets of different classes are taken from the test split of the run's data.

    For example:

    - an image, its reconstruction and its counterpart: `untwine remove runs/x patient.png --out healthy.png`
    - the counterpart alone, pixel by pixel: `untwine remove runs/x patient.png --plain --out healthy.png`
    - a table: `untwine remove runs/x cells.csv --out healthy.csv`
    """
    from untwine import manipulate, plots

    method = open_run(run, output)
    manipulate.other_block(method, block)
    (given,), notes = load_inputs((x,), method.shape_, lambda: test_samples(method, run, source), source)
    check_size(output.out, 1, len(given))
    removed = manipulate.remove(method, given, block)

    def draw() -> Figure:
        return plots.image_rows({"original": given, "reconstruction": method.reconstruct(given), f"without {block}": removed})

    write_generated(output, {"x": given}, "removed", removed, draw)
    print_written(output, "remove", block, removed, f"{count(removed)} without the {block} block", notes)
