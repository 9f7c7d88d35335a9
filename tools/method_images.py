"""Draw docs/images/methods: an image for every method that shows what it does, from a short fit on data that needs no download.

    python tools/method_images.py              every method, some minutes each
    python tools/method_images.py NAME ...     these methods

The fits are short and the data small: the images show what a method's blocks are for, not how good it is.

- With target and background: digits on grass, reconstructed from both blocks and from each alone.
- With classes: digits that no fit has seen, each in the poses of the others.
- Without supervision: one sprite, each row along one latent, those that change it most.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import untwine as un
from untwine.data import Splits
from untwine.method.contract import Method
from untwine.methods import METHODS

FOLDER = Path(__file__).parents[1] / "docs" / "images" / "methods"
SHOWN, TRAVERSED, STEPS, COLOURS, DPI = 8, 5, 8, 64, 72

# The data of each kind of supervision, and fields where the default is not for data as small as this.
DATA: Mapping[str, tuple[str, dict[str, Any]]] = {
    "groups": ("grassy_digits", {"n_target": 3000, "n_background": 3000, "n_test": 400, "size": 24}),
    "labels": ("posed_digits", {"n_train": 400, "n_poses": 20, "n_test": 40}),
    "nothing": ("dsprites_redrawn", {"n_train": 6000, "n_test": 1000, "size": 32}),
}
# StarGAN translates between the classes it was trained on.
OWN_DATA: Mapping[str, dict[str, Any]] = {"stargan": {"n_train": 10, "n_poses": 90, "held_out": "images"}}
LINEAR = {"n_common": 24, "n_salient": 16}
SHORT = {"epochs": 20}  # a length that is chosen from the data would take minutes for each
# Of the small sizes of the studies dip_goals, lord_table1, lord_table4, infogan_table3 and infogan_table9. Weights of a KL are
# smaller than theirs for 64 x 64 pixels, because a quarter of the pixels makes a quarter of the likelihood.
SPRITES = {"likelihood": "bernoulli", "networks": "mlp", "n_latent": 10, "epochs": 40}
CLASSES = {"n_class": 16, "n_content": 12, "loss": "l1", "epochs": 20}
DIP = {"lambda_od": 5.0, "lambda_d": 20.0, "lambda_third": 5.0, "start": 100.0, "clip": 2e4, "batch": 64, "lr": 5e-4}
GAN = {"batch": 16, "lr": 1e-3, "width": 24, "noise": 0.1, "w_info_s": 2.0, "w_image": 4.0, "epochs": 6}
FIELDS: Mapping[str, dict[str, Any]] = {
    **dict.fromkeys(("contrastive_pca", "generalised_contrastive_pca", "probabilistic_contrastive_pca"), LINEAR),
    **dict.fromkeys(("principled_vae", "contrastive_vae", "mm_cvae", "sep_vae", "recombining_vae"), SHORT),
    **dict.fromkeys(("rb_vae", "symmetric_rb_vae"), SHORT),
    "double_infogan": {"n_common": 64, "n_salient": 32} | GAN,
    "lord": {"epochs": 60},
    **dict.fromkeys(("mlvae", "drnet", "mixing_ae"), CLASSES),
    "cycle_vae": CLASSES | {"w_kl": 1.0, "epochs": 40},  # at its own weight, 3, of images larger than these, strokes are a blur
    "stargan": {"epochs": 40, "batch": 16},
    **dict.fromkeys(("vae", "factor_vae", "symmetric_vae"), SPRITES),
    "beta_vae": SPRITES | {"beta": 2.0},
    "beta_tcvae": SPRITES | {"beta": 3.0},
    "dip_vae": SPRITES | DIP,
    "infogan": {"epochs": 8, "batch": 16, "lr": 5e-4, "width": 16},
}


def fit(name: str) -> tuple[Method, Splits]:
    """Return a fitted method of the catalogue, and its data."""
    kind = METHODS[name]
    data_set, options = DATA[kind.needs]
    data = un.load(data_set, **options | OWN_DATA.get(name, {}))
    return kind(seed=0, **FIELDS.get(name, {})).fit(data.train), data


def draw(method: Method, data: Splits) -> Figure:
    """Return the image of a fitted method, by what supervision it has."""
    return {"groups": _single_blocks, "labels": _class_swaps, "nothing": _traversals}[method.needs](method, data)


def _single_blocks(method: Method, data: Splits) -> Figure:
    target = data.test.target
    x = target.x[_one_of_each(target.labels, SHOWN)]
    z = method.encode(x)
    rows = {
        "image": x,
        "both blocks": method.decode(z),
        "common alone": method.decode(z.remove("salient")),
        "salient alone": method.decode(z.remove("common")),
    }
    return un.plots.image_rows({name: _shown(row) for name, row in rows.items()})


def _class_swaps(method: Method, data: Splits) -> Figure:
    labels = np.asarray(data.test.labels)
    # Samples of one class are in the order of their poses: each class is shown in another one.
    of_each = [np.flatnonzero(labels == one) for one in np.unique(labels)[: SHOWN - 2]]
    x = data.test.x[[samples[3 * i % len(samples)] for i, samples in enumerate(of_each)]]
    z = method.encode(x)
    grid = method.decode(z.cross(z, "content")).reshape(len(x), len(x), *x.shape[1:])
    return un.plots.swap_grid(_shown(x), _shown(x), _shown(grid), ("class", "content"))


def _traversals(method: Method, data: Splits) -> Figure:
    x = data.test.x
    traversal = un.manipulate.traverse(method, x[3:4], x, steps=STEPS, most=TRAVERSED)
    names = [f"latent {i}" for i in traversal.latents]
    return un.plots.traversal_grid(_shown(traversal.samples), traversal.values, names)


def _one_of_each(labels: Any, n: int) -> Any:
    """Return the indices of the first sample of each of n classes, or of the first n samples where there are no labels."""
    if labels is None:
        return np.arange(n)
    return np.sort(np.unique(np.asarray(labels), return_index=True)[1][:n])


def _shown(x: Any) -> Any:
    array = np.asarray(x)
    return array if array.dtype == np.uint8 else np.clip(array, 0, 1)


def write(figure: Figure, path: Path, colours: int = COLOURS, dpi: int = DPI) -> None:
    """Write a figure as a PNG with few colours, which takes a third of the space."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dpi, format="png", facecolor="white")
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)


def main(arguments: Sequence[str]) -> int:
    """Draw the image of each method that is named, or of all."""
    for name in arguments or list(METHODS):
        start = time.perf_counter()
        write(draw(*fit(name)), FOLDER / f"{name}.png")
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
