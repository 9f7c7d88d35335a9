"""`untwine remove`: set a latent block to its neutral value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from untwine.cli.cells import write_cells
from untwine.cli.flags import FROM_SAMPLES, Block, File, FromSamples, Output, OutputFlags, Run
from untwine.cli.folder_outputs import check_folder, image_paths, is_folder, read_inputs, write_images
from untwine.cli.inputs import choose_targets, load_inputs, open_run
from untwine.cli.outputs import check_new, check_size, print_json, print_written, write_generated
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
    threshold: float | None = None,
    source: FromSamples = FROM_SAMPLES,
) -> None:
    """Decode samples without a block; without its salient block, a target becomes its background counterpart.

    Without X, targets of different classes are taken from the test split of the run's data.

    For example:

    - an image, its reconstruction and its counterpart: `untwine remove runs/x patient.png --out healthy.png`
    - the counterpart alone, pixel by pixel: `untwine remove runs/x patient.png --plain --out healthy.png`
    - where tumours are: `untwine remove runs/x --maps --out maps.png`
    - scans or images, each in a file of its own name: `untwine remove runs/x patients/ --out healthy/`
    - a table: `untwine remove runs/x cells.csv --out healthy.csv`
    - single cells: `untwine remove runs/x cells.h5ad --out healthy.h5ad` writes a copy with layers["without_salient"]

    Parameters
    ----------
    maps
        Also show counterpart minus image and, for test samples with masks, their outlines; in an .npz as `maps` and `masks`.
    threshold
        For an .h5ad: write the layer as a sparse matrix, in which absolute values up to this one are 0. By default it is dense.
    """
    from untwine import manipulate, plots
    from untwine.method.difference import difference_map
    from untwine.registry.observations import middle_slices

    if output.out.suffix == ".h5ad":
        _remove_from_cells(run, x, output, block, threshold)
        return
    if threshold is not None:
        raise ValueError(f"--threshold is of the layer of an .h5ad file; got it with {output.out.name}; leave it out.")
    if is_folder(output.out):
        return _to_folder(run, x, output, block, source.data_set)
    method = open_run(run, output)
    block = manipulate.changed_block(method, block)
    if maps and len(method.shape_) < 3:
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
        arrays["maps"] = -difference_map(given, removed)
        if test and test[0].masks is not None:
            masks = arrays["masks"] = test[0].masks[choose_targets(test[0], source.seed, source.samples)[0]]

    def draw() -> Figure:
        if maps:
            return plots.salient_maps(given, method.reconstruct(given), removed, masks)
        return plots.image_rows({"original": given, "reconstruction": method.reconstruct(given), f"without {block}": removed})

    drawn = middle_slices(removed) if removed.ndim == 5 and output.out.suffix == ".png" else removed
    write_generated(output, arrays, "removed", drawn, draw, method.feature_names)
    print_written(output, "remove", block, removed, f"{len(removed)} without the {block} block", notes)


def _to_folder(run: Path, x: Path | None, output: OutputFlags, block: str | None, settings: Sequence[str]) -> None:
    """Write the counterpart of each scan as NIfTI, in its own units and with its header, or of each image file as .png."""
    from untwine import manipulate
    from untwine.data.imaging.writing import output_paths
    from untwine.data.imaging.writing import write_images as write_scans
    from untwine.methods import load_method

    method = load_method(run)
    block = manipulate.changed_block(method, block)
    check_folder(output.out, x, method, run)
    inputs = read_inputs(Path(x or "."), method, settings)
    if inputs.scans is None:
        paths = image_paths(inputs.names, output.out, "", output.overwrite)
        removed = manipulate.remove(method, inputs.x, block)
        write_images(paths, removed)
    else:
        output_paths(inputs.scans, output.out, "", output.overwrite)
        removed = manipulate.remove(method, inputs.x, block)
        paths = write_scans(inputs.scans, removed, output.out, overwrite=output.overwrite)
    summary = f"{len(removed)} without the {block} block in {len(paths)} files"
    print_written(output, "remove", block, removed, summary, inputs.notes)


def _remove_from_cells(run: Path, x: Path | None, output: OutputFlags, block: str | None, threshold: float | None) -> None:
    """Copy an .h5ad file and add a layer without the block, and the codes."""
    from untwine.manipulate import changed_block
    from untwine.methods import load_method

    check_new(output.out, (".h5ad",), output.overwrite)
    method = load_method(run)
    block = changed_block(method, block)
    cells = write_cells(method, x, output.out, output.overwrite, without=block, threshold=threshold)
    if output.json:
        layer = f"without_{block}"
        print_json({"task": "remove", "block": block, "cells": cells, "layer": layer, "out": str(output.out), "notes": []})
        return
    kind = "dense" if threshold is None else "sparse"
    print(f"{cells} cells without the {block} block, in the {kind} layer without_{block}: {output.out}")
