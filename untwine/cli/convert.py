"""The command `untwine convert`."""

from __future__ import annotations

from pathlib import Path

from untwine.cli.rows import print_json


def convert(source: Path, /, *, out: Path | None = None, json: bool = False) -> None:
    """Rewrite a public file of a network's weights as safetensors, for perceptual losses, LPIPS and scores of realism.

    Known are torchvision's VGG16 and SqueezeNet 1.1, and the heads of LPIPS v0.1 for both. Nothing in the file is run.
    Example: `untwine convert vgg16-397923af.pth`.

    Parameters
    ----------
    source
        The file in torch's format (.pth).
    out
        The .safetensors file to write; in weights/ of the data folder (UNTWINE_DATA) where not given.
    json
        Print what was written as JSON.
    """
    from untwine.networks.pretrained.weights import convert as rewrite

    path = rewrite(source, out)
    if json:
        print_json({"out": str(path)})
    else:
        print(f"written: {path}")
