"""Weights of published networks: where they lie, how they are read, and how public files become readable ones.

They are read from `weights/` in the data folder (the environment variable UNTWINE_DATA, else ~/.cache/untwine), as safetensors
or as npz of plain arrays. Public files in torch's own format are converted once, by `convert` or `untwine convert`.
"""

from __future__ import annotations

import functools
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from untwine.data.location import data_folder
from untwine.data.readers.arrays import load_arrays
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, LPIPS, PerceptualLoss
from untwine.runs import files

Network = TypeVar("Network", bound=nn.Module)
ENDINGS = (".npz", ".safetensors")


def find_weights(start: str, folder: str | Path | None = None) -> Path | None:
    """Return the file of weights whose name begins so, in `weights/` of the data folder; None where there is none."""
    found = sorted((data_folder(folder) / "weights").glob(f"{start}*"))
    return next((path for path in found if path.suffix in ENDINGS), None)


def load_weights(network: Network, path: Path) -> Network:
    """Read weights into a network; those of other heads that nobody asks for are left out."""
    if path.suffix == ".npz":
        tensors = {key: torch.from_numpy(value) for key, value in load_arrays(path).items()}
    else:
        tensors, _ = files.read_tensors(path)
    own = network.state_dict()
    needed = [key for key in own if not key.endswith("num_batches_tracked")]
    wrong = next((key for key in needed if key not in tensors or tensors[key].shape != own[key].shape), None)
    if wrong is not None:
        came = tuple(tensors[wrong].shape) if wrong in tensors else "nothing"
        raise ValueError(f"{path} expected {wrong} of shape {tuple(own[wrong].shape)}, but has {came}; use the usual weights.")
    network.load_state_dict({key: tensors[key].to(own[key].dtype) for key in needed}, strict=False)
    return network.eval()


def load_perceptual_loss(name: str, weights: str | Path | None = None) -> PerceptualLoss:
    """Return the loss of a network's features.

    Parameters
    ----------
    name
        `vgg16` or `squeezenet`.
    weights
        Its file of weights; without it the one in `weights/` of the data folder whose name begins as the network's.
    """
    known = FEATURE_NETWORKS[_checked(name)]
    return _perceptual(name, Path(weights) if weights is not None else _there(name, known.weights_prefix))


def load_lpips(name: str = "squeezenet", weights: str | Path | None = None, heads: str | Path | None = None) -> LPIPS:
    """Return LPIPS with the features of a network.

    Parameters
    ----------
    name
        `vgg16` or `squeezenet`.
    weights, heads
        The files of the network's and the heads' weights; without them those in `weights/` of the data folder.
    """
    known = FEATURE_NETWORKS[_checked(name)]
    trunk = Path(weights) if weights is not None else _there(name, known.weights_prefix)
    return _lpips(name, trunk, Path(heads) if heads is not None else _there(f"LPIPS for {name}", known.heads_prefix))


def convert(source: str | Path, out: str | Path | None = None) -> Path:
    """Rewrite a public file of weights in torch's format (.pth) as safetensors, and return the new file.

    It is told by what it holds which network it belongs to; a classifier that is not used is left out. Nothing in the file is
    run: it is read as tensors and plain containers, and anything else in it is refused.

    Parameters
    ----------
    source
        The file: torchvision's of VGG16 or SqueezeNet 1.1, or the heads of LPIPS v0.1.
    out
        The file to write; `weights/` in the data folder, under the name it is looked for, where not given.
    """
    tensors = _read_torch(Path(source))
    name, kept = _recognised(Path(source), tensors)
    path = Path(out) if out is not None else data_folder(None) / "weights" / f"{name}.safetensors"
    if path.suffix != ".safetensors":
        raise ValueError(f"out must be a file that ends in .safetensors; got {path}.")
    files.write_tensors(path, kept)
    return path


def _checked(name: str) -> str:
    if name not in FEATURE_NETWORKS:
        raise ValueError(f"the network must be one of {', '.join(FEATURE_NETWORKS)}; got {name!r}.")
    return name


def _there(name: str, start: str) -> Path:
    path = find_weights(start)
    if path is None:
        raise ValueError(
            f"the weights of {name} were expected as {data_folder(None) / 'weights' / start}*.safetensors or .npz, but are not "
            "there; set UNTWINE_DATA to the folder that holds weights/, or make them from a public file by `untwine convert`."
        )
    return path


@functools.lru_cache(maxsize=4)  # a loss asks for it in every step
def _perceptual(name: str, path: Path) -> PerceptualLoss:
    return PerceptualLoss(load_weights(_empty(name), path), FEATURE_NETWORKS[name].loss_layers)


@functools.lru_cache(maxsize=4)
def _lpips(name: str, path: Path, heads: Path) -> LPIPS:
    made = LPIPS(load_weights(_empty(name), path), FEATURE_NETWORKS[name].lpips_layers, FEATURE_NETWORKS[name].lpips_channels).eval()
    load_weights(made.heads, heads)
    return made


def _empty(name: str) -> nn.Module:
    with torch.random.fork_rng(devices=[]):  # the caller's chance stays as it was
        return FEATURE_NETWORKS[name].build()


def _read_torch(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise ValueError(f"source must be a file of weights, but {path} is not there.")
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} expected weights in torch's format, but cannot be read ({_first(error)}).") from None
    except Exception as error:  # what torch raises where a file holds more than tensors is no public name of it
        raise ValueError(f"{path} expected tensors by name alone, but holds more ({_first(error)}); it was not run.") from None
    if not isinstance(content, Mapping) or not all(isinstance(value, Tensor) for value in content.values()):
        raise ValueError(f"{path} expected tensors by name, but holds a {type(content).__name__}; pass a file of weights.")
    return dict(content)


def _recognised(path: Path, tensors: Mapping[str, Tensor]) -> tuple[str, dict[str, Tensor]]:
    """Return the name that weights are looked for by, and those that are used."""
    with torch.device("meta"):
        networks = {known.weights_prefix: known.build().state_dict() for known in FEATURE_NETWORKS.values()}
        networks |= {known.heads_prefix: LPIPS(nn.Module(), (), known.lpips_channels).heads.state_dict() for known in FEATURE_NETWORKS.values()}
    for name, own in networks.items():
        if all(key in tensors and tensors[key].shape == value.shape for key, value in own.items()):
            # The heads of another network may begin as these do.
            if name.startswith("lpips") and len(tensors) != len(own):
                continue
            return name, {key: tensors[key].contiguous() for key in own}
    raise ValueError(f"{path} expected the weights of one of {', '.join(networks)}, but holds others; pass a public file.")


def _first(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
