"""Sprites over four digits: positions, and factors that match the images."""

import hashlib

import numpy as np
import pytest

from untwine.data import load
from untwine.data.images.sprites import draw_sprites
from untwine.data.readers import mnist

SMALL = {"n_target": 30, "n_background": 20, "n_test": 10}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write digits whose pixels are 10 times their class, plus 1 in the test set."""
    arrays = {}
    for split, extra in (("train", 0), ("test", 1)):
        y = (np.arange(60) % 6).astype(np.uint8)
        x = np.broadcast_to((10 * y + extra)[:, None, None], (60, 28, 28)).astype(np.uint8)
        arrays |= {f"x_{split}": x, f"y_{split}": y}
    monkeypatch.setattr(mnist, "DIGESTS", {k: hashlib.sha256(mnist.as_idx(v)).hexdigest() for k, v in arrays.items()})
    (tmp_path / "mnist").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **arrays)
    return tmp_path


@pytest.fixture
def splits(folder):
    with pytest.warns(UserWarning, match="dSprites redrawn, not dSprites"):
        return load("dsprites_mnist", folder=folder, **SMALL)


def test_four_digits_form_a_square(splits):
    for split, extra in ((splits.train, 0), (splits.test, 1)):
        for image in split.background.x[:, 0]:
            corners = image[[2, 2, 34, 34], [2, 34, 2, 34]]
            assert corners.tolist() == [10 + extra, 20 + extra, 30 + extra, 40 + extra]
            assert not image[:, 30:34].any()
    assert (len(splits.train.background), len(splits.test.background)) == (20, 5)


def test_the_sprite_is_on_top_and_matches_its_factors(splits):
    target = splits.train.target
    factors = dict(zip(target.factor_names, target.factors.T, strict=True))
    shape, scale, angle, x, y = (factors[f"salient {name}"] for name in ("shape", "scale", "orientation", "x", "y"))
    sprites = draw_sprites(shape.astype(int), scale, -angle, 16 + 32 * np.stack([x, y], axis=1))
    np.testing.assert_array_equal(target.x[:, 0] == 255, sprites)
    np.testing.assert_array_equal(target.labels, shape)
    ink = [10 * digit * (28 / 32) ** 2 / 255 for digit in (1, 2, 3, 4)]
    np.testing.assert_allclose(target.factors[:, 5:], np.tile(ink, (30, 1)))
    background = splits.train.background
    assert np.isnan(background.factors[:, :5]).all()
    assert not np.isnan(background.factors[:, 5:]).any()


def test_splits_share_no_sprite_and_smaller_sizes_are_pooled(folder, splits):
    keys = [{tuple(row) for row in split.target.factors[:, :5].tolist()} for split in splits]
    assert not keys[0] & keys[1]
    with pytest.warns(UserWarning, match="redrawn"):
        small = load("dsprites_mnist", folder=folder, size=32, **SMALL).train
    whole = splits.train.x.reshape(50, 1, 32, 2, 32, 2).mean(axis=(3, 5))
    np.testing.assert_allclose(small.x, whole, atol=0.51)


def test_the_size_must_divide_64(folder):
    with pytest.raises(ValueError, match="size must be one of 8, 16, 32, 64; got 48"):
        load("dsprites_mnist", folder=folder, size=48)


def test_more_sprites_than_available_are_refused(folder):
    with (
        pytest.warns(UserWarning, match="redrawn"),
        pytest.raises(ValueError, match=r"n_target \+ n_test must be an integer from 3 to 737280; got 737281"),
    ):
        load("dsprites_mnist", folder=folder, n_target=737_181, n_test=100)


def test_the_authors_mix_dims_the_digits_and_not_the_sprite(folder, splits):
    with pytest.warns(UserWarning, match="dSprites redrawn, not dSprites"):
        authors = load("dsprites_mnist", folder=folder, mix="authors", **SMALL)
    for before, after in zip(splits, authors, strict=True):
        np.testing.assert_array_equal(before.factors, after.factors)
        sprite = before.target.x == 255
        np.testing.assert_array_equal(after.target.x == 255, sprite)
        for mixed, plain in (
            (after.target.x[~sprite], before.target.x[~sprite]),
            (after.background.x, before.background.x),
        ):
            np.testing.assert_allclose(mixed, plain / 2, atol=0.51)


def test_an_unknown_mix_is_refused_before_files_are_read(tmp_path):
    with pytest.raises(ValueError, match="mix must be 'opaque' or 'authors'; got 3"):
        load("dsprites_mnist", folder=tmp_path, mix=3)
