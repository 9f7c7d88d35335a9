"""`untwine convert`: convert public weights to safetensors."""

from __future__ import annotations

from pathlib import Path

from untwine.cli.flags import Json
from untwine.cli.outputs import print_json

ORDER = 130


def command(source: Path, /, *, out: Path | None = None, json: Json = False) -> None:
    """Convert public weights of a network to safetensors, for perceptual losses, LPIPS and scores of realism.

    Supported are torchvision's VGG16 and SqueezeNet 1.1, and the linear heads of LPIPS v0.1 for both. No code in
    the file is run. Example: `untwine convert vgg16-397923af.pth`.

    Parameters
    ----------
    source
        The file in torch's format (.pth).
    out
        The .safetensors file to write; by default in weights/ of the data folder (UNTWINE_DATA).
    """
    from untwine.networks.pretrained.weights import convert

    path = convert(source, out)
    if json:
        print_json({"out": str(path)})
    else:
        print(f"written: {path}")
