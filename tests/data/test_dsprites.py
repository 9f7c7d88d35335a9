import json
import tracemalloc

import numpy as np
import pytest

import untwine.data.sets.dsprites as module
from untwine.cli.commands.fit import command as fit
from untwine.data import grid, load, origin
from untwine.data.images.sprites import draw_sprites
from untwine.data.location import data_folder

SMALL = {"n_train": 30, "n_test": 10}


def centre_and_area(image):
    rows, columns = np.nonzero(image)
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5]), len(rows)


def sprite(shape, scale=1.0, angle=0.0, c=(32.0, 32.0)):
    return draw_sprites(*(np.array([value]) for value in (shape, scale, angle)), np.array([c]))[0]


@pytest.mark.parametrize("scale", [0.5, 0.8, 1.0])
def test_areas_are_those_of_the_shapes(scale):
    # The curve of the heart has area 180 pi as (16 sin^3 t, 13 cos t - ...), times its two scales.
    areas = (19.2**2, np.pi * 12.8 * 7.2, 180 * np.pi * 0.6 * 0.6625)
    rng = np.random.default_rng(0)
    for shape, area in enumerate(areas):
        many = draw_sprites(np.full(300, shape), np.full(300, scale), rng.uniform(0, 6, 300), rng.uniform(30, 34, (300, 2)))
        assert many.sum(axis=(1, 2)).mean() == pytest.approx(area * scale**2, rel=0.01)


def test_shapes_have_their_position_and_rotation():
    for c in ((16.0, 16.0), (48.0, 16.0), (31.7, 44.2)):
        np.testing.assert_allclose(centre_and_area(sprite(1, 1.0, 0.4, c))[0], c, atol=0.3)
    upright, rotated = sprite(1), sprite(1, angle=np.pi / 2)
    assert np.ptp(np.nonzero(upright)[1]) > np.ptp(np.nonzero(upright)[0])
    np.testing.assert_array_equal(rotated, upright.T)
    heart = sprite(2)
    np.testing.assert_array_equal(heart, heart[:, ::-1])
    widths = heart.sum(axis=1)[heart.any(axis=1)]
    assert widths[2] > 2 * widths[-2]  # the tip is at the bottom
    assert not heart[24, 32]  # the notch is at the top
    np.testing.assert_array_equal(sprite(2, angle=np.pi / 2), np.rot90(heart, -1))


def test_a_batch_of_sprites_equals_single_ones():
    rng = np.random.default_rng(0)
    shape, scale, angle, c = (
        rng.integers(0, 3, 700),
        rng.uniform(0.5, 1, 700),
        rng.uniform(0, 6, 700),
        rng.uniform(16, 48, (700, 2)),
    )
    many = draw_sprites(shape, scale, angle, c)
    for i in (0, 1, 511, 512, 699):
        np.testing.assert_array_equal(many[i], sprite(shape[i], scale[i], angle[i], c[i]))


def test_redrawn_images_are_addressed_by_their_factors():
    sprites = grid("dsprites_redrawn")
    assert sprites.sizes == (3, 6, 40, 32, 32)
    assert len(sprites) == 737_280
    left, right, low = sprites.images([[1, 3, 5, 0, 16], [1, 3, 5, 31, 16], [1, 3, 5, 0, 31]])[:, 0]
    assert set(np.unique(left)) == {0, 255}
    np.testing.assert_allclose(centre_and_area(left)[0], [16, 16 + 32 * 16 / 31], atol=0.3)
    np.testing.assert_allclose(centre_and_area(right)[0], [48, 16 + 32 * 16 / 31], atol=0.3)
    np.testing.assert_allclose(centre_and_area(low)[0], [16, 48], atol=0.3)
    first, last = sprites.images([[2, 5, 0, 9, 9], [2, 5, 39, 9, 9]])
    np.testing.assert_array_equal(first, last)
    # The angle decreases with the level, so that shapes rotate anticlockwise: the heart's tip moves from bottom to right.
    (rotated,) = sprites.images([[2, 5, 10, 16, 16]])[:, 0]
    columns = rotated.any(axis=0)
    widths = rotated.sum(axis=0)[columns]
    assert widths[-2] < widths[2]


def test_factors_and_labels_match_the_images():
    train, test = load("dsprites_redrawn", **SMALL)
    assert train.label_names == ("square", "ellipse", "heart")
    assert train.factor_names == ("shape", "scale", "orientation", "x", "y")
    for split in (train, test):
        np.testing.assert_array_equal(split.labels, split.factors[:, 0])
        for image, (_, scale, _, x, y) in zip(split.x[:, 0], split.factors, strict=True):
            centre, area = centre_and_area(image)
            np.testing.assert_allclose(centre, [16 + 32 * x, 16 + 32 * y], atol=2.5)
            assert 190 * scale**2 < area < 420 * scale**2
    small = load("dsprites_redrawn", size=32, **SMALL).train
    np.testing.assert_allclose(small.x, train.x.reshape(30, 1, 32, 2, 32, 2).mean(axis=(3, 5)), atol=0.51)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a small version of the public file: fewer levels of each factor, and a pickled description as in the real one."""
    values = (np.arange(3.0), np.array([0.5, 1]), np.array([0.0, 3.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    monkeypatch.setattr(module, "factor_values", lambda: values)
    imgs = (np.random.default_rng(0).random((48, 64, 64)) < 0.1).astype(np.uint8)
    (tmp_path / "dsprites").mkdir()
    np.savez_compressed(
        tmp_path / "dsprites" / module.FILE,
        metadata=np.array({"title": "dSprites"}, dtype=object),
        imgs=imgs,
        latents_classes=np.zeros((48, 6), np.int64),
    )
    return tmp_path, imgs


def test_the_public_file_is_used_if_it_exists(folder):
    root, imgs = folder
    sprites = grid("dsprites", folder=root)
    np.testing.assert_array_equal(sprites.images([[2, 1, 0, 1, 1], [0, 0, 0, 0, 0]])[:, 0], 255 * imgs[[43, 0]])
    train, test = load("dsprites", folder=root, n_train=30, n_test=18)
    whole = {(255 * image).tobytes() for image in imgs}
    assert {image.tobytes() for split in (train, test) for image in split.x} == whole


def peak_memory(function):
    """Return the peak memory of a call in MB, and its result."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1] / 1e6, result
    finally:
        tracemalloc.stop()


def test_a_thousand_redrawn_images_do_not_need_memory_for_the_whole_grid():
    levels = np.random.default_rng(0).integers(0, (3, 6, 40, 32, 32), (1_000, 5))
    peak, x = peak_memory(lambda: grid("dsprites_redrawn").images(levels))
    assert x.shape == (1_000, 1, 64, 64)
    assert peak < 50  # all would be 3,020
    peak, splits = peak_memory(lambda: load("dsprites_redrawn", n_train=900, n_test=100))
    assert [len(split) for split in splits] == [900, 100]
    assert peak < 100  # includes the permutation of all indices


def test_the_public_file_is_held_once_in_memory_as_bits(tmp_path, monkeypatch):
    values = (np.arange(3.0), *(np.linspace(0, 1, 10) for _ in range(4)))
    monkeypatch.setattr(module, "factor_values", lambda: values)
    monkeypatch.setattr("untwine.data.readers.large_arrays.BLOCK_BYTES", 1 << 20)
    imgs = np.zeros((30_000, 64, 64), np.uint8)
    imgs[np.arange(30_000), np.arange(30_000) % 64, np.arange(30_000) // 64 % 64] = 1
    (tmp_path / "dsprites").mkdir()
    np.savez_compressed(tmp_path / "dsprites" / module.FILE, imgs=imgs)
    sprites = grid("dsprites", folder=tmp_path)
    indices = np.random.default_rng(0).permutation(30_000)[:100]
    bits = imgs.nbytes / 8 / 1e6
    peak, x = peak_memory(lambda: sprites.images(sprites.levels(indices)))
    np.testing.assert_array_equal(x[:, 0], 255 * imgs[indices])
    assert bits < peak < 1.5 * bits  # 377 MB for the real file, 3,020 MB as bytes
    peak, x = peak_memory(lambda: sprites.images(sprites.levels(indices[:50])))
    assert peak < 3  # the bits are cached


def test_a_file_of_another_shape_is_refused(folder):
    root, imgs = folder
    np.savez(root / "dsprites" / module.FILE, imgs=imgs[:40])
    with pytest.raises(ValueError, match=r"must hold imgs of shape \(48, 64, 64\); got \(40, 64, 64\)"):
        load("dsprites", folder=root)


def test_without_the_file_sprites_are_redrawn_with_a_warning(tmp_path):
    with pytest.warns(UserWarning, match="does not exist, so this is dSprites redrawn, not dSprites"):
        splits = load("dsprites", folder=tmp_path, **SMALL)
    assert [split.fingerprint() for split in splits] == [split.fingerprint() for split in load("dsprites_redrawn", **SMALL)]


def test_a_run_on_redrawn_sprites_is_not_recorded_as_dsprites(folder, tmp_path, monkeypatch):
    root, _ = folder
    assert origin("dsprites", {"folder": root, "size": 32}) == {"name": "dsprites", "options": {"folder": root, "size": 32}}
    none = tmp_path / "none"
    assert origin("dsprites", {"folder": none, "size": 32}) == {"name": "dsprites_redrawn", "options": {"size": 32}}
    assert origin("toy_contrast", {"seed": 1}) == {"name": "toy_contrast", "options": {"seed": 1}}
    monkeypatch.setenv("UNTWINE_DATA", str(none))
    with pytest.warns(UserWarning, match="not dSprites"):
        fit("pca", data="dsprites", data_set=("n_train=20", "n_test=10", "size=8"), out=tmp_path / "run", quiet=True)
    card = json.loads((tmp_path / "run" / "method.json").read_text())
    assert card["data"]["name"] == "dsprites_redrawn"
    assert card["data"]["options"] == {"n_train": 20, "n_test": 10, "size": 8}


def test_redrawn_sprites_match_frames_of_dsprites():
    """Compare with frames of dSprites' own animation, if available: the source of the figures in `sprites`."""
    path = data_folder(None) / "dsprites" / "dsprites_gif_320frames.npz"
    if not path.is_file():
        pytest.skip("the frames are not in UNTWINE_DATA")
    frames = np.load(path, allow_pickle=False)["frames"].astype(bool)
    kinds = np.stack(np.meshgrid(np.arange(3), np.arange(6), np.arange(39), indexing="ij"), axis=-1).reshape(-1, 3)
    scale, angle = 0.5 + 0.1 * kinds[:, 1], -2 * np.pi * kinds[:, 2] / 39
    centred = draw_sprites(kinds[:, 0], scale, angle, np.full((len(kinds), 2), 32.0))
    areas, centres = centred.sum(axis=(1, 2)), np.stack([centre_and_area(one)[0] - 32 for one in centred])
    wrong = {0: [], 1: [], 2: []}
    for frame in frames:
        centre, area = centre_and_area(frame)
        near = np.flatnonzero(np.abs(areas - area) < 0.1 * area + 8)
        c = 16 + 32 / 31 * np.clip(np.round((centre - centres[near] - 16) * 31 / 32), 0, 31)
        differ = (draw_sprites(kinds[near, 0], scale[near], angle[near], c) != frame).sum(axis=(1, 2))
        wrong[int(kinds[near[differ.argmin()], 0])].append(differ.min())
    assert [len(wrong[kind]) for kind in range(3)] == [64, 64, 192]
    assert [round(float(np.mean(wrong[kind])), 1) for kind in range(3)] == [0.1, 1.2, 0.2]
