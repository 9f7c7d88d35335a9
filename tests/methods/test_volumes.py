"""Whole volumes: who takes them, what is learned of them, and how they are scored and shown."""

import numpy as np
import pytest
from brains import bids

import untwine as un
from untwine import plots
from untwine.data import Splits
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_volumes
from untwine.method.inputs import FOR_VOLUMES
from untwine.methods import METHODS
from untwine.runs.gallery import read_gallery
from untwine.samples import Samples

SHAPE = (1, 10, 8, 9)
RNG = np.random.default_rng(0)


def volumes(n=40, dtype=np.float32):
    """Balls of varying brightness; in targets with a bright cube."""
    grid = np.stack(np.meshgrid(*(np.linspace(-1, 1, side) for side in SHAPE[1:]), indexing="ij"))
    ball = (np.square(grid).sum(0) < 0.8).astype(np.float32)
    x = ball * RNG.uniform(0.3, 0.6, (n, 1, 1, 1, 1)).astype(np.float32)
    groups = np.arange(n) % 2
    for one in np.flatnonzero(groups):
        x[one, 0, 4:7, 2:5, 3:6] = RNG.uniform(0.8, 1)
    x = x if dtype == np.float32 else np.rint(255 * x).astype(np.uint8)
    return Samples(x, groups=groups, labels=np.arange(n) % 4 // 2)


def test_samples_of_volumes():
    data = volumes()
    assert data.is_volume
    assert not data.is_image
    assert data.shape == SHAPE
    assert repr(data).startswith("Samples(40 volumes of 1x10x8x9 (float32): background 20")
    masked = Samples(data.x, masks=data.x[:, 0] > 0.9)
    assert masked[:3].masks.shape == (3, *SHAPE[1:])
    with pytest.raises(ValueError, match=r"volumes \(n, C, D, H, W\) with sides from 8 to 64; got shape \(2, 1, 8, 8, 65\)"):
        Samples(np.zeros((2, 1, 8, 8, 65), np.float32))
    with pytest.raises(
        ValueError, match=r"x must be volumes as uint8 or uint16, or as floats in \[0, 1\]; got float32 from 0 to 3"
    ):
        Samples(np.full((2, 1, 8, 8, 8), [[[[[0, 3] * 4]]]], np.float32))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_volumes_or_says_which_do(name):
    kind, data = METHODS[name], volumes(12)
    fields = kind().get_params()
    method = kind(
        **{key: value for key, value in {"epochs": 1, "batch": 4, "width": 2, "n_latent": 3}.items() if key in fields}
    )
    assert kind.takes_volumes == (name in FOR_VOLUMES)
    if name in FOR_VOLUMES:
        decoded = method.fit(data).reconstruct(data)
        assert decoded.shape == data.x.shape
        assert decoded.min() >= 0
        assert decoded.max() <= 1
    else:
        with pytest.raises(ValueError, match=r"needs images or vectors; got volumes .*fit one of principled_vae, .*, pca\."):
            method.fit(data)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    data, folder = volumes(60, np.uint8), tmp_path_factory.mktemp("volumes") / "run"
    method = un.PrincipledVAE.fixed(epochs=300, batch=10, n_common=2, n_salient=2, lr=2e-3, scale=0.1)
    method.fit(data, out=folder)
    return method, data, folder


def test_it_learns_and_loads(run):
    method, data, folder = run
    x = data.x / np.float32(255)
    error = np.square(method.reconstruct(data) - x).mean()
    assert error < 0.5 * np.square(x - x.mean(0)).mean()
    removed = un.manipulate.remove(method, data.target)
    cube = data.target.x > 0.75 * 255
    assert removed[cube].mean() < 0.7  # the cube is gone, whose brightness was 0.9
    maps = un.manipulate.difference(method, data.target)
    assert maps.shape == (30, *SHAPE[1:])
    assert maps[cube[:, 0]].mean() > 0.2 + maps[~cube[:, 0]].mean()
    np.testing.assert_array_equal(un.load_method(folder).encode(data)["salient"], method.encode(data)["salient"])


def test_scores_gallery_and_report_of_volumes(run, tmp_path):
    method, data, folder = run
    scores = un.evaluate_run(folder, data=Splits(data, data), skip_inapplicable=True, seeds=2)
    assert scores["reconstruction.x"].value == pytest.approx(
        np.square(method.reconstruct(data) - data.x / 255).mean(), rel=1e-4
    )
    gallery = read_gallery(folder)
    assert gallery.targets.originals.shape[1:] == (1, 8, 9)
    assert all((one == data.target.x[:, :, 5]).all(axis=(1, 2, 3)).any() for one in gallery.targets.originals)
    assert gallery.swaps.grid.shape[2:] == gallery.interpolation.shape[2:] == (1, 8, 9)
    un.report(folder, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Images of" not in page.split("<body")[1] or "need samples that are images" not in page


def test_figures_show_the_middle_slice():
    x = volumes(3).x
    x[:, :, 5] = 0.25
    for figure in (plots.image_rows({"row": x}), plots.salient_maps(x, x, x, x[:, 0] > 0.2)):
        shown = figure.axes[0].images[0].get_array()
        np.testing.assert_array_equal(shown, np.full((8, 9), 0.25, np.float32))


def test_scans_as_whole_volumes(tmp_path):
    data = read_volumes(
        bids(tmp_path, 3, 3), Roles(group="group", background=("control",)), volumes=True, size=12, masks="lesion"
    )
    assert data.is_volume
    assert data.masks.shape == (6, 12, 12, 12)
    assert len(data.source_names) == 6
    assert data.ids[0] == "sub-00/anat/sub-00_T1w.nii.gz"
    assert un.VAE.fixed(epochs=1, width=2).fit(data).encode(data)["z"].shape == (6, 10)
