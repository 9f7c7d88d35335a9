"""Write the encoder and the decoder of a fitted method as ONNX files, or as torch's own exported programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from untwine._typing import Array
from untwine.export import conditions, graphs
from untwine.method.contract import Method
from untwine.registry.extras import optional
from untwine.runs import files

DESCRIPTION = "export.json"
BATCH = "batch"  # the name of the dynamic axis
FORMAT_VERSION = 2
MOST_BYTES = 2**31 - 1  # of one protobuf message
SCALING = {  # by the number of axes of a sample; 0 for counts
    1: "vectors in the units of the data; the encoder standardises each feature, and the decoder undoes it, inside the graph",
    0: "vectors of raw counts; the decoder returns expected counts at the library sizes that it is given",
    3: "images as floats in [0, 1]; divide uint8 by 255 first; the decoder returns floats in [0, 1]",
    4: "volumes as floats in [0, 1]; divide uint8 by 255 first; the decoder returns floats in [0, 1]",
}
Run = Callable[..., list[Array]]


def export_onnx(method: Method, folder: str | os.PathLike[str], *, overwrite: bool = False) -> dict[str, float]:
    """Write a fitted method as `encoder.onnx` and `decoder.onnx`, with `export.json` that describes them.

    Any number of samples can be passed at once. The encoder takes `x` and returns the codes of each block by its name; the
    decoder takes these and returns `x`. Where the fit had covariates both take `covariates` (n, k), whose columns `export.json`
    describes; of counts the encoder also returns `library_size` (n, 1), which the decoder takes. Both files are run by
    onnxruntime on random samples before they are kept.

    Parameters
    ----------
    method
        A fitted method.
    folder
        Where to write; must be new or empty, unless `overwrite`.
    overwrite
        Replace an earlier export.

    Returns
    -------
    difference
        The largest absolute difference from torch on random samples, for `encoder` and `decoder`.
    """
    optional("onnx", "writing ONNX files")
    optional("onnxscript", "writing ONNX files")
    runtime = optional("onnxruntime", "checking ONNX files")
    folder = _check_folder(folder, overwrite)
    names = conditions.ports(method)
    contents, run = {}, {}
    for graph, program in graphs.trace(method).items():
        inputs, outputs = map(list, names[graph])
        contents[f"{graph}.onnx"] = _onnx(program, inputs, outputs)
        run[graph] = _session(runtime, contents[f"{graph}.onnx"], inputs, outputs)
    return _write(folder, method, contents, "onnx", graphs.largest_difference(method, run))


def export_torch(method: Method, folder: str | os.PathLike[str], *, overwrite: bool = False) -> dict[str, float]:
    """Write a fitted method as `encoder.pt2` and `decoder.pt2` for `torch.export.load`, with `export.json`.

    Parameters and returns are those of `export_onnx`; the graphs take and return tensors in the order of `inputs` and
    `outputs` of `export.json`.
    """
    import io

    folder = _check_folder(folder, overwrite)
    contents, run = {}, {}
    for graph, program in graphs.trace(method).items():
        content = io.BytesIO()
        with graphs.quiet():
            torch.export.save(program, content)
        contents[f"{graph}.pt2"] = content.getvalue()
        run[graph] = _module(program.module())
    return _write(folder, method, contents, "torch", graphs.largest_difference(method, run))


def _onnx(program: torch.export.ExportedProgram, inputs: list[str], outputs: list[str]) -> bytes:
    size = sum(tensor.numel() * tensor.element_size() for tensor in program.state_dict.values())
    if size > MOST_BYTES:
        raise ValueError(
            f"an ONNX file can hold at most {MOST_BYTES:,} bytes; the weights have {size:,}; export with --torch instead "
            "(export_torch in Python)."
        )
    with graphs.quiet():
        written: Any = torch.onnx.export(program, dynamo=True, input_names=inputs, output_names=outputs, verbose=False)
    model = written.model_proto
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = BATCH
    content: bytes = model.SerializeToString()
    return content


def _session(runtime: Any, content: bytes, inputs: list[str], outputs: list[str]) -> Run:
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return lambda *arrays: list(session.run(outputs, dict(zip(inputs, arrays, strict=True))))


def _module(module: Any) -> Run:
    def run(*arrays: Array) -> list[Array]:
        with torch.no_grad():
            result = module(*map(torch.from_numpy, arrays))
        return [one.numpy() for one in (result if isinstance(result, (tuple, list)) else (result,))]

    return run


def _check_folder(folder: str | os.PathLike[str], overwrite: bool) -> Path:
    """Refuse a folder with other things in it; only an earlier export is ever replaced."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"the export must be a folder; {folder} is a file; choose another name.")
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / DESCRIPTION).exists():
            raise ValueError(f"the export must be a new folder; {folder} holds other files; choose another.")
        if not overwrite:
            raise ValueError(f"the export must be a new folder; {folder} holds one; choose another or pass overwrite.")
    files.make_folder(folder)
    return folder


def _write(
    folder: Path, method: Method, contents: dict[str, bytes], kind: str, difference: dict[str, float]
) -> dict[str, float]:
    """Write the graphs, then their description, so that a folder that has one is complete."""
    from untwine import __version__

    for name in (DESCRIPTION, *(f"{graph}.{ending}" for graph in ("encoder", "decoder") for ending in ("onnx", "pt2"))):
        (folder / name).unlink(missing_ok=True)
    for name, content in contents.items():
        files.write(folder / name, content)
    description = {
        "format_version": FORMAT_VERSION,
        "format": kind,
        "method": method.name,
        "params": method.get_params(),
        "shape": list(method.shape_),
        "blocks": method.blocks,
        "inputs": {graph: names.inputs for graph, names in conditions.ports(method).items()},
        "outputs": {graph: names.outputs for graph, names in conditions.ports(method).items()},
        **conditions.describe(method),
        "neutral": {name: _neutral(method, name) for name in method.blocks},
        "feature_names": list(method.feature_names),
        "scaling": SCALING[0 if method.counts else len(method.shape_)],
        "dtype": "float32",
        "data": dict(method.data_),
        "difference": difference,
        "sha256": {name: files.sha256(folder / name) for name in contents},
        "versions": {"untwine": __version__, "torch": torch.__version__},
    }
    files.write_json(folder / DESCRIPTION, description)
    return difference


def _neutral(method: Method, block: str) -> list[float]:
    """Return the code that takes the block's place where it is removed."""
    neutral = method.neutral().get(block)
    return [0.0] * method.blocks[block] if neutral is None else [float(one) for one in neutral]
