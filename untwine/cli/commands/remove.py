"""`untwine remove`: set a latent block to its neutral value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwine.cli.flags import (
    Block,
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 60


def command(
    run: Run,
    x: File = None,
    /,
    *,
    out: Out,
    block: Block = "salient",
    samples: SampleCount = None,
    data: OtherData = None,
    data_set: DataSettings = (),
    seed: Seed = 0,
    plain: Plain = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Decode samples without a block; without its salient block, a target becomes its background counterpart.

    Without X, targets of different classes are taken from the test split of the run's data.

    For example:

    - an image, its reconstruction and its counterpart: `untwine remove runs/x patient.png --out healthy.png`
    - the counterpart alone, pixel by pixel: `untwine remove runs/x patient.png --plain --out healthy.png`
    - a table: `untwine remove runs/x cells.csv --out healthy.csv`
    """
    from untwine import manipulate, plots

    method = open_run(run, out, overwrite)
    manipulate.other_block(method, block)
    (given,), notes = load_inputs((x,), method.shape_, lambda: test_samples(method, run, data, data_set), samples, seed)
    check_size(out, 1, len(given))
    removed = manipulate.remove(method, given, block)

    def draw() -> Figure:
        return plots.image_rows({"original": given, "reconstruction": method.reconstruct(given), f"without {block}": removed})

    write_generated(out, {"x": given}, "removed", removed, draw, plain)
    print_written(out, "remove", block, removed, f"{count(removed)} without the {block} block", notes, json)
