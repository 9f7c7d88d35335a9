"""3D Chairs: outlines of chair models from any side; from the public folder of images."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import placed
from untwine.data.splits import Splits
from untwine.registry.checks import check_int
from untwine.samples import SIDES

FILE = re.compile(r"_p(\d+)_t(\d+)_r\d+\.png$")
SHARE_FOR_TRAINING = 0.8
MODELS = 809  # that the papers use, of the archive's 1,393
WHITE = 250  # what is darker in any channel is chair


def chairs3d(*, n_models: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """3D Chairs, masks of chair models from 31 directions and 2 heights; needs its folder of images.

    An image is the mask of a chair: white where the photograph is not white, black elsewhere, shrunk from 600 x 600 and made
    black or white again. The first 80 % of the models, by name, are for training and the others for testing.

    Source: `chairs3d/<model>/renders/*_p<elevation>_t<azimuth>_r<distance>.png` (or `rendered_chairs/...`), as in
    rendered_chairs.tar of www.di.ens.fr/willow/research/seeing3Dchairs (M. Aubry, D. Maturana, A. Efros, B. Russell, J. Sivic,
    2014; for research only). The archive has 1,393 models; to take the 809 that are not near-duplicates, as the papers do,
    keep only their folders or name them in `chairs3d/models.txt`, one a line; with any other number there is a warning. A list
    of 809 is in github.com/jimeiyang/deepRotator: `selected` of chair/reduced_set1.mat counts, from 1, the names of
    chair/folder_list.mat, and scipy.io.loadmat reads both. Checksum: none, as any models will do. Group: none. Label: the
    model. Factors: `model` (by name), `azimuth` and `elevation` in degrees.

    Parameters
    ----------
    n_models
        How many models to use, the first by name; all where not given. An image takes about 10 ms to read.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides nothing, as the split is by name; every data set takes it.
    folder
        The folder that holds `chairs3d/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    check_int("seed", seed, 0)
    grid = chairs3d_grid(n_models=n_models, size=size, folder=folder)
    models = grid.sizes[0]
    if models < 2:
        raise ValueError("3D Chairs expected at least 2 models, one for training and one for testing, but has 1.")
    return grid.apart("model", np.arange(min(round(SHARE_FOR_TRAINING * models), models - 1), models))


def chairs3d_grid(*, n_models: int | None = None, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return the masks of 3D Chairs, addressed by their factors and read when asked for."""
    size = check_int("size", size, SIDES[0], SIDES[-1])
    place = placed(
        folder,
        "3D Chairs",
        ("chairs3d", "rendered_chairs"),
        "rendered_chairs.tar of www.di.ens.fr/willow/research/seeing3Dchairs",
    )
    models = _models(place)
    if len(models) != MODELS:  # counted before n_models: the first 809 of 1,393 are other ones
        warnings.warn(
            f"{place} has {len(models)} models of 3D Chairs, not the {MODELS} of the papers, so scores are not theirs; "
            f"name those {MODELS} in {place / 'models.txt'}, one a line, to compare.",
            stacklevel=3,
        )
    models = models[: None if n_models is None else check_int("n_models", n_models, 1)]
    files = {model: _views(place / model) for model in models}
    views = sorted(files[models[0]])
    azimuths, elevations = (np.unique([view[axis] for view in views]) for axis in (0, 1))
    for model, found in files.items():
        if sorted(found) != views or len(views) != len(azimuths) * len(elevations):
            raise ValueError(
                f"{place / model} must be an image for each of {len(azimuths)} azimuths and {len(elevations)} elevations, as "
                f"{models[0]} has, but has {len(found)}; unpack it again, or leave it out."
            )
    paths = [files[model][view] for model in models for view in views]
    values = np.arange(float(len(models))), azimuths.astype(np.float64), elevations.astype(np.float64)

    def read(rows: Array) -> Array:
        return np.stack([_mask(paths[row], size) for row in rows])[:, None]

    return FactorGrid(("model", "azimuth", "elevation"), values, read, "model", tuple(models))


def _models(place: Path) -> list[str]:
    """Return the names of the models to use: those of `models.txt`, or else all that have images."""
    chosen = place / "models.txt"
    if chosen.is_file():
        names = sorted(set(chosen.read_text().split()))
        missing = [name for name in names if not (place / name / "renders").is_dir()]
    else:
        names, missing = sorted(path.parent.name for path in place.glob("*/renders")), []
    if missing or not names:
        came = f"{missing[0]} of models.txt has none" if missing else "there are none"
        raise ValueError(f"3D Chairs was must be in {place} as a folder with renders/ for each model, but {came}.")
    return names


def _views(model: Path) -> dict[tuple[int, int], Path]:
    """Return the images of a model by azimuth and elevation in degrees."""
    found = ((FILE.search(path.name), path) for path in (model / "renders").glob("*.png"))
    return {(int(name[2]), int(name[1])): path for name, path in found if name}


def _mask(path: Path, size: int) -> Array:
    from PIL import Image

    try:
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path} must be an image, but it cannot be read ({error}); replace it.") from None
    chair = Image.fromarray(np.where(pixels.min(axis=2) < WHITE, 255, 0).astype(np.uint8))
    shrunk = np.asarray(chair.resize((size, size), Image.Resampling.BOX))
    return np.where(shrunk >= 128, 255, 0).astype(np.uint8)
