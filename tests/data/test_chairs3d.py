import warnings

import numpy as np
import pytest
from PIL import Image

import untwine.data.sets.chairs3d as module
from untwine.data import grid, load

pytestmark = pytest.mark.filterwarnings("ignore:.* models of 3D Chairs, not the 809 of the papers")
AZIMUTHS, ELEVATIONS = (0, 11, 23), (20, 30)


def make(root, models=10):
    """Write rendered chairs: a grey seat whose height encodes the model, a leg whose position encodes the view, on white."""
    for model in range(models):
        renders = root / f"{model:02d}chair" / "renders"
        renders.mkdir(parents=True)
        views = [(a, e) for e in ELEVATIONS for a in AZIMUTHS]
        for number, (azimuth, elevation) in enumerate(views, 1):
            image = np.full((160, 160, 3), 255, np.uint8)
            image[20 : 30 + 10 * model, 40:120] = (120, 120, 90)
            image[140:150, 4 * azimuth : 4 * azimuth + 40] = (0, 0, elevation)
            Image.fromarray(image).save(renders / f"image_{number:03d}_p{elevation:03d}_t{azimuth:03d}_r096.png")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    make(root / "chairs3d")
    return root


def test_masks_are_addressed_by_their_factors(folder):
    chairs = grid("chairs3d", folder=folder, size=16)
    assert chairs.sizes == (10, 3, 2)
    samples = chairs.samples(np.arange(len(chairs)))
    assert set(np.unique(samples.x)) == {0, 255}
    np.testing.assert_array_equal(samples.x[:, 0, 2:12, 8].sum(axis=1) / 255, np.minimum(samples.factors[:, 0] + 1, 10))
    first = (samples.x[:, 0, 14] > 0).argmax(axis=1)
    np.testing.assert_allclose(first, 4 * samples.factors[:, 1] / 10, atol=0.6)
    assert set(samples.factors[:, 2]) == {20, 30}


def test_the_first_four_fifths_of_the_models_are_for_training(folder):
    train, test = load("chairs3d", folder=folder, size=16)
    assert set(train.labels) == set(range(8))
    assert set(test.labels) == {8, 9}
    assert train.label_names[9] == "09chair"
    few = load("chairs3d", folder=folder, n_models=2, size=16)
    assert (set(few.train.labels), set(few.test.labels)) == ({0}, {1})


def test_models_can_be_listed_in_a_file(folder, tmp_path):
    make(tmp_path / "rendered_chairs", 6)
    (tmp_path / "rendered_chairs" / "models.txt").write_text("04chair\n01chair\n")
    train, _ = load("chairs3d", folder=tmp_path, size=16)
    assert train.label_names == ("01chair", "04chair")
    (tmp_path / "rendered_chairs" / "models.txt").write_text("17chair\n")
    with pytest.raises(ValueError, match=r"renders/ for each model; got none for 17chair of models.txt"):
        load("chairs3d", folder=tmp_path)


def test_another_number_of_models_than_the_papers_warns_once(folder, monkeypatch):
    for n_models in (None, 4):
        with pytest.warns(
            UserWarning, match=r"chairs3d has 10 models of 3D Chairs, not the 809 .* list those 809 in"
        ) as caught:
            grid("chairs3d", folder=folder, n_models=n_models)
        assert len(caught) == 1
        assert "\n" not in str(caught[0].message)
    assert module.MODELS == 809
    monkeypatch.setattr(module, "MODELS", 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grid("chairs3d", folder=folder, n_models=4).sizes[0] == 4


def test_only_the_listed_models_are_counted(tmp_path, monkeypatch):
    make(tmp_path / "chairs3d", 6)
    monkeypatch.setattr(module, "MODELS", 3)
    with pytest.warns(UserWarning, match="6 models of 3D Chairs, not the 3"):
        grid("chairs3d", folder=tmp_path)
    (tmp_path / "chairs3d" / "models.txt").write_text("00chair\n03chair\n05chair\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grid("chairs3d", folder=tmp_path).sizes[0] == 3


def test_missing_or_damaged_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"3D Chairs must be in .* as chairs3d or rendered_chairs; not found"):
        load("chairs3d", folder=tmp_path)
    (tmp_path / "chairs3d").mkdir()
    with pytest.raises(ValueError, match="renders/ for each model; got none"):
        load("chairs3d", folder=tmp_path)
    make(tmp_path / "chairs3d", 3)
    with pytest.raises(ValueError, match="at least 2 models"):
        load("chairs3d", folder=tmp_path, n_models=1)
    paths = sorted((tmp_path / "chairs3d" / "01chair" / "renders").iterdir())
    paths[0].write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"image_001_p020_t000_r096.png must be an image; it cannot be read"):
        load("chairs3d", folder=tmp_path)
    paths[0].unlink()
    with pytest.raises(ValueError, match=r"01chair must have an image for each of 3 azimuths and 2 elevations, .*; got 5"):
        load("chairs3d", folder=tmp_path)
