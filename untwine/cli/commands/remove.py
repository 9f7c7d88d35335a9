"""`untwine remove`: set a latent block to its neutral value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from untwine.cli.flags import FROM_SAMPLES, Block, File, FromSamples, Output, Run
from untwine.cli.inputs import choose_targets, load_inputs, open_run
from untwine.cli.outputs import check_size, count, print_written, write_generated
from untwine.cli.run_data import test_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from untwine.samples import Samples

ORDER = 60


def command(
    run: Run,
    x: File = None,
    /,
    *,
    output: Output,
    block: Block = None,
    maps: bool = False,
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Decode samples without a block; without its salient block, a target becomes its background counterpart.

    Without X, targets of different classes are taken from the test split of the run's data.

    For example:

    - an image, its reconstruction and its counterpart: `untwine remove runs/x patient.png --out healthy.png`
    - the counterpart alone, pixel by pixel: `untwine remove runs/x patient.png --plain --out healthy.png`
    - where tumours are: `untwine remove runs/x --maps --out maps.png`
    - a table: `untwine remove runs/x cells.csv --out healthy.csv`

    Parameters
    ----------
    maps
        Also show counterpart minus image and, for test samples with masks, their outlines; in an .npz as `maps` and `masks`.
    """
    from untwine import manipulate, plots
    from untwine.samples import unit_range

    method = open_run(run, output)
    block = manipulate.changed_block(method, block)
    if maps and len(method.shape_) != 3:
        raise ValueError(f"--maps must be used with a run on images; {run} has vectors; leave it out.")
    test: list[Samples] = []

    def load_test() -> Samples:
        test.append(test_samples(method, run, source))
        return test[0]

    (given,), notes = load_inputs((x,), method, load_test, source)
    check_size(output.out, 1, len(given))
    removed = manipulate.remove(method, given, block)
    arrays, masks = {"x": given}, None
    if maps:
        arrays["maps"] = (removed - unit_range(given)).mean(axis=1)
        if test and test[0].masks is not None:
            masks = arrays["masks"] = test[0].masks[choose_targets(test[0], source.seed, source.samples)[0]]

    def draw() -> Figure:
        if maps:
            return plots.salient_maps(given, method.reconstruct(given), removed, masks)
        return plots.image_rows({"original": given, "reconstruction": method.reconstruct(given), f"without {block}": removed})

    write_generated(output, arrays, "removed", removed, draw, method.feature_names)
    print_written(output, "remove", block, removed, f"{count(removed)} without the {block} block", notes)
