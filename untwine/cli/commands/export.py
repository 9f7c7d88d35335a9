"""`untwine export`: write the networks of a run for other programs."""

from __future__ import annotations

from pathlib import Path

from untwine.cli.flags import Json, Run
from untwine.cli.outputs import print_json

ORDER = 45


def command(
    run: Run, *, onnx: Path | None = None, torch: Path | None = None, overwrite: bool = False, json: Json = False
) -> None:
    """Write encoder and decoder as ONNX files or as programs of torch.export, which need neither untwine nor the method.

    Each folder gets an encoder, a decoder and export.json: the blocks with their neutral codes, the shape of a sample, the
    names of features, how samples are scaled, and what goes in with each of them: covariates, library sizes of counts. The
    files are run on random samples, and compared with the run, before they are kept.

    For example:

    - for onnxruntime, in any language: `untwine export runs/x --onnx deploy`
    - for torch.export.load: `untwine export runs/x --torch deploy`

    Parameters
    ----------
    onnx
        The folder to write encoder.onnx and decoder.onnx in.
    torch
        The folder to write encoder.pt2 and decoder.pt2 in.
    overwrite
        Replace an earlier export.
    """
    from untwine.export.networks import export_onnx, export_torch
    from untwine.methods import load_method

    wanted = {kind: folder for kind, folder in (("onnx", onnx), ("torch", torch)) if folder is not None}
    if not wanted:
        raise ValueError("export needs a folder to write in; got none; pass --onnx FOLDER or --torch FOLDER.")
    if len({folder.resolve() for folder in wanted.values()}) < len(wanted):
        raise ValueError(f"--onnx and --torch must be different folders; got {onnx} twice; choose another for one of them.")
    method = load_method(run)
    written = {}
    for kind, folder in wanted.items():
        difference = (export_onnx if kind == "onnx" else export_torch)(method, folder, overwrite=overwrite)
        written[kind] = {"folder": str(folder), "difference": difference}
        if not json:
            largest = ", ".join(f"{graph} {value:.1e}" for graph, value in difference.items())
            print(f"{method.name} for {kind}: {folder}  (largest difference from the run on random samples: {largest})")
    if json:
        print_json(written)
