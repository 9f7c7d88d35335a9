"""Optional dependencies: imported where they are used, and asked for by the extra that brings them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXTRAS = {
    "anndata": "cells",
    "zarr": "cells",
    "h5py": "cells",
    "pyarrow": "tables",
    "pandas": "tables",
    "nibabel": "imaging",
    "pydicom": "imaging",
    "starlette": "explore",
    "uvicorn": "explore",
    "onnx": "export",
    "onnxscript": "export",
    "onnxruntime": "export",
    "huggingface_hub": "hub",
    "tensorboard": "tensorboard",
    "mlflow": "mlflow",
    "optuna": "tune",
    "ray": "cluster",
}


def optional(name: str, purpose: str) -> Any:
    """Return an optional package or a module of it, such as "pyarrow.parquet"; say how to install it where it is missing.

    Parameters
    ----------
    name
        A module of one of the packages in `EXTRAS`; always a constant of the code, never text from a file.
    purpose
        What it is needed for, as the beginning of the sentence: "reading an .h5ad file".
    """
    package = name.partition(".")[0]
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the package is there, and lacks something itself
        extra = EXTRAS[package]
        raise ModuleNotFoundError(
            f"{purpose} needs the package {package}, which is not installed; run: pip install 'untwine[{extra}]'.", name=package
        ) from None
