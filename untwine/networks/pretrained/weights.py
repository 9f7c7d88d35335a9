"""Weights of pretrained networks: where the files are, how they are loaded, and how public files are converted.

They are loaded from `weights/` in the data folder (the environment variable UNTWINE_DATA, else ~/.cache/untwine), as
safetensors or as npz of plain arrays. Public files in torch's format are converted once, by `convert` or `untwine convert`.
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
from untwine.networks.pretrained.perceptual import FEATURE_NETWORKS, LOSS_NETWORKS, LPIPS, PerceptualLoss
from untwine.registry.checks import check_choice
from untwine.runs import files

Network = TypeVar("Network", bound=nn.Module)
SUFFIXES = (".npz", ".safetensors")


def find_weights(prefix: str, folder: str | Path | None = None) -> Path | None:
    """Return the first weight file with this prefix in `weights/` of the data folder; None where there is none."""
    paths = sorted((data_folder(folder) / "weights").glob(f"{prefix}*"))
    return next((path for path in paths if path.suffix in SUFFIXES), None)


def require_weights(name: str, prefix: str) -> Path:
    """Return the weight file with this prefix in `weights/` of the data folder, or refuse with where it should be."""
    path = find_weights(prefix)
    if path is None:
        raise ValueError(
            f"the weights of {name} must be in a file {data_folder(None) / 'weights' / prefix}*.safetensors or .npz; "
            "found none; set UNTWINE_DATA to the folder that holds weights/, or convert a public file by `untwine convert`."
        )
    return path


def load_weights(network: Network, path: Path) -> Network:
    """Load weights into a network, in evaluation mode; tensors of layers that it does not have are ignored."""
    if path.suffix == ".npz":
        tensors = {key: torch.from_numpy(value) for key, value in load_arrays(path).items()}
    else:
        tensors, _ = files.read_tensors(path)
    own = network.state_dict()
    needed = [key for key in own if not key.endswith("num_batches_tracked")]
    wrong = next((key for key in needed if key not in tensors or tensors[key].shape != own[key].shape), None)
    if wrong is not None:
        shape = tuple(tensors[wrong].shape) if wrong in tensors else "no such tensor"
        raise ValueError(f"{path} must hold {wrong} of shape {tuple(own[wrong].shape)}; got {shape}; use published weights.")
    network.load_state_dict({key: tensors[key].to(own[key].dtype) for key in needed}, strict=False)
    return network.eval()


def load_perceptual_loss(name: str, weights: str | Path | None = None) -> PerceptualLoss:
    """Return the perceptual loss of a network.

    Parameters
    ----------
    name
        `vgg16` or `squeezenet`.
    weights
        Its weight file; by default the one in `weights/` of the data folder.
    """
    network = FEATURE_NETWORKS[check_choice("the network", name, LOSS_NETWORKS)]
    return _perceptual_loss(name, Path(weights) if weights is not None else require_weights(name, network.weights_prefix))


def load_lpips(name: str = "squeezenet", weights: str | Path | None = None, heads: str | Path | None = None) -> LPIPS:
    """Return LPIPS with the features of a network.

    Parameters
    ----------
    name
        `vgg16`, `squeezenet` or `alexnet`.
    weights, heads
        The weight files of the network and of the linear heads; by default those in `weights/` of the data folder.
    """
    network = FEATURE_NETWORKS[check_choice("the network", name, FEATURE_NETWORKS)]
    trunk = Path(weights) if weights is not None else require_weights(name, network.weights_prefix)
    linear = Path(heads) if heads is not None else require_weights(f"LPIPS for {name}", network.heads_prefix)
    return _lpips(name, trunk, linear)


def convert(source: str | Path, out: str | Path | None = None) -> Path:
    """Convert a public weight file in torch's format (.pth) to safetensors, and return the new file.

    The network is recognised by the names and shapes of the tensors; an unused classifier is left out. Nothing in the file is
    executed: it is read as tensors and plain containers, and anything else in it is refused.

    Parameters
    ----------
    source
        The file: torchvision's VGG16, SqueezeNet 1.1 or AlexNet, or the linear heads of LPIPS v0.1 for one of them.
    out
        The file to write; by default in `weights/` of the data folder, under the name that it is loaded by.
    """
    tensors = _read_torch(Path(source))
    name, used = _recognise(Path(source), tensors)
    path = Path(out) if out is not None else data_folder(None) / "weights" / f"{name}.safetensors"
    if path.suffix != ".safetensors":
        raise ValueError(f"out must be a file with the suffix .safetensors; got {path}.")
    files.write_tensors(path, used)
    return path


@functools.lru_cache(maxsize=4)  # a training step calls it each time
def _perceptual_loss(name: str, path: Path) -> PerceptualLoss:
    return PerceptualLoss(load_weights(_build(name), path), FEATURE_NETWORKS[name].loss_layers)


@functools.lru_cache(maxsize=4)
def _lpips(name: str, path: Path, heads: Path) -> LPIPS:
    network = FEATURE_NETWORKS[name]
    distance = LPIPS(load_weights(_build(name), path), network.lpips_layers, network.lpips_channels).eval()
    load_weights(distance.heads, heads)
    return distance


def _build(name: str) -> nn.Module:
    with torch.random.fork_rng(devices=[]):  # the caller's random state stays as it was
        return FEATURE_NETWORKS[name].build()


def _read_torch(path: Path) -> dict[str, Tensor]:
    if not path.is_file():
        raise ValueError(f"source must be a weight file; got {path}, which does not exist.")
    try:
        content: Any = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, RuntimeError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} must be weights in torch's format; got an unreadable file ({_first_line(error)}).") from None
    except Exception as error:  # the class that torch raises for other objects than tensors is not public
        raise ValueError(f"{path} must hold named tensors only; got more ({_first_line(error)}); nothing was run.") from None
    if not isinstance(content, Mapping) or not all(isinstance(value, Tensor) for value in content.values()):
        raise ValueError(f"{path} must hold named tensors; got a {type(content).__name__}; pass a weight file.")
    return dict(content)


def _recognise(path: Path, tensors: Mapping[str, Tensor]) -> tuple[str, dict[str, Tensor]]:
    """Return the prefix that the weights are loaded by, and the tensors that are used."""
    with torch.device("meta"):
        networks = {one.weights_prefix: one.build().state_dict() for one in FEATURE_NETWORKS.values()}
        networks |= {
            one.heads_prefix: LPIPS(nn.Module(), (), one.lpips_channels).heads.state_dict() for one in FEATURE_NETWORKS.values()
        }
    for name, own in networks.items():
        if all(key in tensors and tensors[key].shape == value.shape for key, value in own.items()):
            # The heads of another network may begin with the same tensors.
            if name.startswith("lpips") and len(tensors) != len(own):
                continue
            return name, {key: tensors[key].contiguous() for key in own}
    raise ValueError(f"{path} must hold the weights of {' or '.join(networks)}; got other tensors; pass a published file.")


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].rstrip(".")
