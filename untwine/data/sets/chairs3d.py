"""3D Chairs: masks of chair models from many viewpoints; from the public folder of images."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.factor_grid import FactorGrid
from untwine.data.location import locate
from untwine.data.options import check_size
from untwine.data.readers.image_files import open_image
from untwine.data.splits import Splits
from untwine.registry.checks import check_int

FILE = re.compile(r"_p(\d+)_t(\d+)_r\d+\.png$")
TRAIN_SHARE = 0.8
MODELS = 809  # used in the papers, of the archive's 1,393
WHITE = 250  # pixels that are darker in any channel belong to the chair


CARD = DataCard(
    source="rendered_chairs.tar of www.di.ens.fr/willow/research/seeing3Dchairs (M. Aubry, D. Maturana, A. Efros, B. "
    "Russell, J. Sivic, 2014).",
    licence="research only.",
    size="62 images of each model (50,158 of 809), 1 x 64 x 64; a fifth of the models is held out.",
    files="`chairs3d/<model>/renders/*_p<elevation>_t<azimuth>_r<distance>.png` (or `rendered_chairs/...`). The archive has"
    " 1,393 models; to use the 809 that are not near-duplicates, as the papers do, keep only their folders or list "
    "them in `chairs3d/models.txt`, one per line; any other number gives a warning. A list of the 809 is in "
    "github.com/jimeiyang/deepRotator: `selected` of chair/reduced_set1.mat has the indices, from 1, of the names in "
    "chair/folder_list.mat, and scipy.io.loadmat reads both. Checksum: none, as any models are accepted.",
    groups="none.",
    labels="the model.",
    factors="`model` (by name), `azimuth` and `elevation` in degrees.",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
)


@described(CARD)
def chairs3d(*, n_models: int | None = None, size: int = 64, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """3D Chairs, masks of chair models from 31 azimuths and 2 elevations; needs its folder of images.

    An image is the mask of a chair: white where the rendered image is not white, black elsewhere, resized from 600 x 600 and
    binarised again. The first 80 % of the models, by name, are for training and the others for testing.

    Parameters
    ----------
    n_models
        Number of models to use, the first by name; by default all. An image takes about 10 ms to read.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Has no effect, as the split is by name; accepted because every data set has it.
    folder
        Folder that contains `chairs3d/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    check_int("seed", seed, 0)
    grid = chairs3d_grid(n_models=n_models, size=size, folder=folder)
    models = grid.sizes[0]
    if models < 2:
        raise ValueError("3D Chairs must have at least 2 models, to train on one and test on the other; got 1; raise n_models.")
    return grid.hold_out_levels("model", np.arange(min(round(TRAIN_SHARE * models), models - 1), models))


def chairs3d_grid(*, n_models: int | None = None, size: int = 64, folder: str | Path | None = None) -> FactorGrid:
    """Return the masks of 3D Chairs as a grid of their factors, read on demand."""
    size = check_size(size)
    source = "rendered_chairs.tar of www.di.ens.fr/willow/research/seeing3Dchairs"
    root = locate(folder, "3D Chairs", ("chairs3d", "rendered_chairs"), source)
    models = _list_models(root)
    if len(models) != MODELS:  # counted before n_models applies: the first 809 of 1,393 are other models
        warnings.warn(
            f"{root} has {len(models)} models of 3D Chairs, not the {MODELS} of the papers, so that scores are not comparable; "
            f"list those {MODELS} in {root / 'models.txt'}, one per line, to compare.",
            stacklevel=3,
        )
    models = models[: None if n_models is None else check_int("n_models", n_models, 1)]
    files = {model: _views(root / model) for model in models}
    views = sorted(files[models[0]])
    azimuths, elevations = (np.unique([view[axis] for view in views]) for axis in (0, 1))
    for model, images in files.items():
        if sorted(images) != views or len(views) != len(azimuths) * len(elevations):
            raise ValueError(
                f"{root / model} must have an image for each of {len(azimuths)} azimuths and {len(elevations)} elevations, as "
                f"{models[0]} has; got {len(images)}; unpack it again, or leave it out."
            )
    paths = [files[model][view] for model in models for view in views]
    values = np.arange(float(len(models))), azimuths.astype(np.float64), elevations.astype(np.float64)

    def read(indices: Array) -> Array:
        return np.stack([_read_mask(paths[i], size) for i in indices])[:, None]

    return FactorGrid(("model", "azimuth", "elevation"), values, read, "model", tuple(models))


def _list_models(root: Path) -> list[str]:
    """Return the names of the models to use: those of `models.txt`, else all that have images."""
    listed = root / "models.txt"
    if listed.is_file():
        names = sorted(set(listed.read_text().split()))
        missing = [name for name in names if not (root / name / "renders").is_dir()]
    else:
        names, missing = sorted(path.parent.name for path in root.glob("*/renders")), []
    if missing or not names:
        got = f"none for {missing[0]} of models.txt" if missing else "none"
        raise ValueError(
            f"3D Chairs must be in {root} as a folder with renders/ for each model; got {got}; unpack the archive."
        )
    return names


def _views(model: Path) -> dict[tuple[int, int], Path]:
    """Return the images of a model by azimuth and elevation in degrees."""
    matches = ((FILE.search(path.name), path) for path in (model / "renders").glob("*.png"))
    return {(int(match[2]), int(match[1])): path for match, path in matches if match}


def _read_mask(path: Path, size: int) -> Array:
    from PIL import Image

    pixels = np.asarray(open_image(path, "RGB"))
    chair = Image.fromarray(np.where(pixels.min(axis=2) < WHITE, 255, 0).astype(np.uint8))
    resized = np.asarray(chair.resize((size, size), Image.Resampling.BOX))
    return np.where(resized >= 128, 255, 0).astype(np.uint8)


ENTRIES = {"chairs3d": DataSet(chairs3d, grid=chairs3d_grid)}
