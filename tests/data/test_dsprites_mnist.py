"""Sprites over four digits: what is where, and what is known of it."""

import hashlib

import numpy as np
import pytest

from untwine.data import load
from untwine.data.images.sprites import draw_sprites
from untwine.data.readers import mnist

SMALL = {"n_target": 30, "n_background": 20, "n_test": 10}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Digits whose every pixel has 10 times their class, brighter by 1 for testing."""
    arrays = {}
    for part, extra in (("train", 0), ("test", 1)):
        y = (np.arange(60) % 6).astype(np.uint8)
        x = np.broadcast_to((10 * y + extra)[:, None, None], (60, 28, 28)).astype(np.uint8)
        arrays |= {f"x_{part}": x, f"y_{part}": y}
    monkeypatch.setattr(mnist, "DIGESTS", {k: hashlib.sha256(mnist.as_idx(v)).hexdigest() for k, v in arrays.items()})
    (tmp_path / "mnist").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **arrays)
    return tmp_path


@pytest.fixture
def splits(place):
    with pytest.warns(UserWarning, match="dSprites redrawn, not dSprites"):
        return load("dsprites_mnist", folder=place, **SMALL)


def test_four_digits_in_a_square(splits):
    for part, extra in ((splits.train, 0), (splits.test, 1)):
        for image in part.background.x[:, 0]:
            corners = image[[2, 2, 34, 34], [2, 34, 2, 34]]
            assert corners.tolist() == [10 + extra, 20 + extra, 30 + extra, 40 + extra]
            assert not image[:, 30:34].any()
    assert (len(splits.train.background), len(splits.test.background)) == (20, 5)


def test_the_sprite_is_on_top_and_its_factors_are_known(splits):
    target = splits.train.target
    named = dict(zip(target.factor_names, target.factors.T, strict=True))
    shape, scale, angle, x, y = (named[f"salient {name}"] for name in ("shape", "scale", "orientation", "x", "y"))
    sprites = draw_sprites(shape.astype(int), scale, -angle, 16 + 32 * np.stack([x, y], axis=1))
    np.testing.assert_array_equal(target.x[:, 0] == 255, sprites)
    np.testing.assert_array_equal(target.labels, shape)
    ink = [10 * digit * (28 / 32) ** 2 / 255 for digit in (1, 2, 3, 4)]
    np.testing.assert_allclose(target.factors[:, 5:], np.tile(ink, (30, 1)))
    background = splits.train.background
    assert np.isnan(background.factors[:, :5]).all()
    assert not np.isnan(background.factors[:, 5:]).any()


def test_no_sprite_of_training_is_tested_and_sizes_are_averaged(place, splits):
    keys = [{tuple(row) for row in part.target.factors[:, :5].tolist()} for part in splits]
    assert not keys[0] & keys[1]
    with pytest.warns(UserWarning, match="redrawn"):
        small = load("dsprites_mnist", folder=place, size=32, **SMALL).train
    whole = splits.train.x.reshape(50, 1, 32, 2, 32, 2).mean(axis=(3, 5))
    np.testing.assert_allclose(small.x, whole, atol=0.51)


def test_only_a_side_that_divides_64_is_taken(place):
    with pytest.raises(ValueError, match="size must be one of 8, 16, 32, 64; got 48"):
        load("dsprites_mnist", folder=place, size=48)


def test_more_sprites_than_there_are_get_their_sentence(place):
    with (
        pytest.warns(UserWarning, match="redrawn"),
        pytest.raises(ValueError, match=r"n_target \+ n_test must be a whole number from 3 to 737280; got 737281"),
    ):
        load("dsprites_mnist", folder=place, n_target=737_181, n_test=100)
