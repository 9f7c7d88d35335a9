"""`untwine difference`: where images differ from their counterparts without a block."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from untwine.cli.flags import FROM_SAMPLES, Block, File, FromSamples, Json, Overwrite, Run

if TYPE_CHECKING:
    from untwine._typing import Array
    from untwine.cli.flags import SampleFlags
    from untwine.cli.folder_outputs import Inputs
    from untwine.method.contract import Method
    from untwine.samples import Samples

ORDER = 61
ENDINGS = (".png", ".npz", ".npy")


@dataclass(frozen=True)
class Maps:
    """Inputs with their counterparts and maps and, where there is a threshold, the pixels beyond it."""

    inputs: Inputs
    counterparts: Array
    maps: Array
    threshold: float | None
    beyond: Array | None


def command(
    run: Run,
    x: File = None,
    /,
    *,
    out: Annotated[
        Path,
        Parameter(
            help="The file to write: .png (a labelled figure), .npz (named arrays), .npy (the maps alone); or a folder: a "
            "NIfTI volume for each scan, an image for each image file."
        ),
    ],
    block: Block = None,
    threshold: str | None = None,
    above: float = 1.0,
    side: Literal["either", "darker", "brighter"] = "either",
    source: FromSamples = FROM_SAMPLES,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Show where images differ from their counterparts: each image minus itself without its salient block.

    Without X, targets of different classes are taken from the test split of the run's data. Scans are read as the data of the
    run were; `--data-set slices=all` and the like change that.

    For example:

    - lesion maps of scans, as NIfTI: `untwine difference runs/x patients/ --threshold auto --out maps/`
    - a figure of test samples: `untwine difference runs/x --out maps.png`
    - darker regions only: `untwine difference runs/x scan.nii.gz --threshold 0.3 --side darker --out maps/`

    Parameters
    ----------
    threshold
        Write masks too, of pixels that differ by at least this much, from 0 to 1; or `auto`, what `--above` percent of the
        pixels of the run's held-out background exceed, without empty margins.
    above
        That percentage.
    side
        What masks have: pixels that are darker than their counterparts, brighter, or either.
    """
    from untwine import manipulate
    from untwine.cli.folder_outputs import check_folder, is_folder, read_inputs
    from untwine.cli.outputs import check_new, check_size
    from untwine.cli.run_data import test_samples
    from untwine.method.difference import difference_map, one_sided
    from untwine.methods import load_method

    folder, known = is_folder(out), _fixed(threshold)
    if not folder:
        check_new(out, ENDINGS, overwrite)
    method = load_method(run)
    block = manipulate.changed_block(method, block)
    if len(method.shape_) < 3:
        raise ValueError(f"difference needs a run on images or volumes; {run} has vectors; use `untwine remove`.")
    if folder:
        check_folder(out, x, method, run)
    test: Samples | None = None
    if x is None or threshold == "auto":
        # Options of reading X must not change which samples of the run's data are held out.
        test = test_samples(method, run, source if x is None else replace(source, data_set=()))
    inputs = _test_inputs(test, source) if x is None else _first(read_inputs(x, method, source.data_set), source, folder)
    check_size(out, 1, len(inputs.x))
    limit = _auto(method, test, run, above, side, block) if threshold == "auto" else known
    removed = manipulate.remove(method, inputs.x, block)
    maps = difference_map(inputs.x, removed)
    beyond = None if limit is None else one_sided(maps, side) >= limit
    result = Maps(inputs, removed, maps, limit, beyond)
    written = _write_folder(result, out, side, overwrite) if folder else _write_file(result, out, method)
    _print(
        result, block, out, written, f"{above:g} % of held-out background is above" if threshold == "auto" else "as given", json
    )


def _test_inputs(test: Samples | None, source: SampleFlags) -> Inputs:
    """Return targets of the test split."""
    from untwine.cli.folder_outputs import Inputs
    from untwine.cli.inputs import choose_targets

    if test is None:
        raise ValueError("difference needs samples; got neither a file nor test samples.")
    chosen = choose_targets(test, source.seed, source.samples)[0]
    return Inputs(test.x[chosen], tuple(map(str, chosen)), None, ())


def _first(inputs: Inputs, source: SampleFlags, folder: bool) -> Inputs:
    """Return the first samples of a file, as many as asked for; in a folder all are written."""
    n = None if folder else source.samples
    return replace(inputs, x=inputs.x[:n], names=inputs.names[:n])


def _print(result: Maps, block: str, out: Path, written: list[Path], rule: str, json: bool) -> None:
    from untwine.cli.outputs import print_json

    notes, maps, limit = result.inputs.notes, result.maps, result.threshold
    for note in notes:
        print(f"untwine: note: {note}", file=sys.stderr)
    if json:
        content = {"task": "difference", "block": block, "shape": list(maps.shape), "out": str(out), "threshold": limit}
        print_json({**content, "files": [str(path) for path in written], "notes": list(notes)})
    else:
        masks = "" if limit is None else f", masks from {limit:.3g} on ({rule})"
        print(f"{len(maps)} differences to the {block} block removed{masks}: {out} ({len(written)} files)")


def _fixed(threshold: str | None) -> float | None:
    """Return a threshold that is a number; None where it is chosen, or where there is none."""
    from untwine.registry.checks import check_float

    if threshold in (None, "auto"):
        return None
    try:
        return check_float("--threshold", float(str(threshold)), 0, 1)
    except ValueError:
        raise ValueError(f"--threshold must be a number from 0 to 1, or auto; got {threshold!r}.") from None


def _auto(method: Method, test: Samples | None, run: Path, above: float, side: str, block: str) -> float:
    """Return what the given percentage of the pixels of held-out backgrounds exceeds."""
    from untwine import manipulate
    from untwine.method import difference

    if test is None or test.groups is None or not (test.groups == 0).any():
        raise ValueError(f"--threshold auto needs background in the test split of {run}; got none; pass a number.")
    background = test.background
    maps = manipulate.difference(method, background, block)
    return difference.threshold(maps, difference.foreground(background.x), above, side)


def _write_file(result: Maps, out: Path, method: Method) -> list[Path]:
    import io

    import numpy as np

    from untwine import plots
    from untwine.cli.outputs import write_arrays, write_image_figure
    from untwine.runs import files

    if out.suffix == ".npz":
        arrays = {
            "x": result.inputs.x,
            "removed": result.counterparts,
            "maps": result.maps,
            "ids": np.array(result.inputs.names),
        }
        if result.beyond is not None:
            arrays |= {"masks": result.beyond, "threshold": np.array(result.threshold)}
        write_arrays(out, arrays)
    elif out.suffix == ".npy":
        content = io.BytesIO()
        np.save(content, result.maps, allow_pickle=False)
        files.write(out, content.getvalue())
    else:
        decoded = method.reconstruct(result.inputs.x)
        write_image_figure(out, plots.salient_maps(result.inputs.x, decoded, result.counterparts, result.beyond), result.maps)
    return [out]


def _write_folder(result: Maps, out: Path, side: str, overwrite: bool) -> list[Path]:
    """Write NIfTI volumes of scans, or images with white for no difference, red for darker and blue for brighter."""
    import numpy as np

    from untwine.cli.folder_outputs import image_paths, write_images
    from untwine.method.difference import one_sided
    from untwine.plots.counterparts import difference_colours

    if result.inputs.scans is not None:
        from untwine.data.imaging import writing

        scans = result.inputs.scans
        if result.beyond is not None:
            writing.output_paths(scans, out, "_mask", overwrite)  # refused before anything is written
        paths = writing.write_maps(scans, result.maps, out, overwrite=overwrite)
        if result.threshold is not None:
            # A voxel is in the mask where the map that is written beside it is beyond the threshold.
            beyond = one_sided(result.maps, side)
            paths += writing.write_maps(scans, beyond, out, "mask", at_least=result.threshold, overwrite=overwrite)
        return paths
    paths = image_paths(result.inputs.names, out, "", overwrite)
    masks = [] if result.beyond is None else image_paths(result.inputs.names, out, "_mask", overwrite)
    write_images(paths, np.moveaxis(difference_colours(result.maps), -1, 1))
    if result.beyond is not None:
        write_images(masks, result.beyond[:, None].astype(np.float32))
    return paths + masks
