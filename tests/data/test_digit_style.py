import hashlib

import numpy as np
import pytest

import untwine.data.sets.digit_style as module
from untwine.data import load
from untwine.data.readers import mnist

STYLE = slice(10, 15)


def tiny_mnist():
    """Return digits in MNIST's form: bright rectangles of different sizes."""
    arrays = {}
    for split, n, first in (("train", 40, 0), ("test", 20, 40)):
        x = np.zeros((n, 28, 28), np.uint8)
        for i, image in enumerate(x, first):
            image[6 : 11 + i // 8, 6 : 11 + i % 8] = 255
        arrays |= {f"x_{split}": x, f"y_{split}": (np.arange(n) % 10).astype(np.uint8)}
    return arrays


@pytest.fixture
def folder(tmp_path, monkeypatch):
    arrays = tiny_mnist()
    digests = {name: hashlib.sha256(mnist.as_idx(array)).hexdigest() for name, array in arrays.items()}
    monkeypatch.setattr(mnist, "DIGESTS", digests)
    (tmp_path / "mnist").mkdir()
    np.savez(tmp_path / "mnist" / "mnist.npz", **arrays)
    return tmp_path


@pytest.fixture(scope="module")
def splits():
    return load("digit_style", digits="embedded", n_target=3000, n_test=2000)


def test_counts_are_those_of_the_paper_scaled_to_the_available_digits(folder):
    train, test = load("digit_style", folder=folder)
    assert [len(group) for group in (train.background, train.target, test.background, test.target)] == [20, 40, 10, 20]
    assert train.shape == (3, 64, 64)
    assert train.labels is None
    # Each training digit is plain once or a target twice; each test digit a target once.
    digits = train.factors[:, :10]
    assert (digits.sum(axis=1) == 1).all()
    once = np.vstack([train.background.factors[:, :10], train.target.factors[::2, :10]]).sum(axis=0)
    assert once.sum() == 40
    np.testing.assert_array_equal(test.target.factors[:, :10].sum(axis=0), np.full(10, 2))


def test_plain_digits_are_white_outlines_at_full_scale(splits):
    for split in splits:
        x = split.background.x
        assert set(np.unique(x)) == {0, 255}
        np.testing.assert_array_equal(x[:, 0], x[:, 2])
        np.testing.assert_array_equal(split.background.factors[:, STYLE], np.tile([1, 1, 1, 1, 0], (len(x), 1)))


def test_the_factors_match_the_images(splits):
    target = splits.train.target
    red, green, blue, scale, width = target.factors[:, STYLE].T
    np.testing.assert_allclose(red + green + blue, 1)
    ink = target.x.sum(axis=(2, 3)).astype(float)
    wide = width > 0.5  # rounding is too coarse for thin faint lines
    shares = ink / ink.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares[wide], target.factors[wide, 10:13], atol=0.01)
    # The height of a digit is determined by its scale and, less, by its line width.
    visible = target.x.max(axis=1) > 8
    height = visible.any(axis=2).sum(axis=1)
    assert np.corrcoef(height, scale)[0, 1] > 0.8
    brightness = ink.sum(axis=1) / ((scale + 1) / 2) ** 2
    assert np.corrcoef(brightness, width)[0, 1] > 0.9


def test_styles_are_uniform_and_independent_of_each_other_and_of_the_digit(splits):
    factors = splits.train.target.factors
    np.testing.assert_array_equal(np.unique((9 * factors[:, 14]).round(6)), np.arange(10))
    assert factors[:, 13].min() < 0.01
    assert factors[:, 13].max() > 0.99
    assert abs(np.corrcoef(factors[:, 13], factors[:, 14])[0, 1]) < 0.06
    assert np.abs(np.corrcoef(factors.T)[:10, STYLE]).max() < 0.08


def test_a_constant_predictor_has_the_errors_of_the_docstring(splits):
    style = splits.test.target.factors[:, STYLE]
    half = len(style) // 2
    errors = np.abs(style[half:] - np.median(style[:half], axis=0)).mean(axis=0)
    np.testing.assert_allclose(errors, [0.144, 0.144, 0.144, 0.250, 0.278], atol=0.012)
    assert errors.mean() == pytest.approx(0.192, abs=0.006)


def test_the_halves_for_regressors_and_training_share_no_digit(folder, monkeypatch):
    # With a plain style, a digit is identified by its image.
    monkeypatch.setattr(module, "_draw_styles", lambda rng, n: np.ones((n, 5)))
    train, test = load("digit_style", folder=folder, n_test=60)
    names = [image.tobytes() for image in test.target.x]
    assert not set(names[:30]) & set(names[30:])
    assert not set(names) & {image.tobytes() for image in train.x}
    assert not {p.tobytes() for p in train.target.x} & {p.tobytes() for p in train.background.x}
    assert {image.tobytes() for image in test.background.x} <= set(names)


def test_a_smaller_size_has_the_same_styles(splits):
    small = load("digit_style", digits="embedded", size=32, n_target=3000, n_test=2000)
    np.testing.assert_array_equal(small.train.factors, splits.train.factors)
    halved = splits.train.target.x[:50].reshape(50, 3, 32, 2, 32, 2).mean(axis=(3, 5))
    np.testing.assert_allclose(small.train.target.x[:50], halved, atol=1.1)


def test_the_seed_determines_the_splits():
    options = {"digits": "embedded", "size": 16, "n_background": 20, "n_target": 20, "n_test": 8}
    a, b, other = (load("digit_style", seed=seed, **options) for seed in (0, 0, 1))
    assert [split.fingerprint() for split in a] == [split.fingerprint() for split in b]
    assert len({split.fingerprint() for split in (*a, *other)}) == 4


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"digits": "letters"}, "digits must be 'mnist' or 'embedded'; got 'letters'"),
        ({"digits": "embedded", "n_background": 630}, "n_background must be an integer from 1 to 629; got 630"),
        ({"digits": "embedded", "n_test": 1}, "n_test must be an integer of at least 2"),
        ({"digits": "embedded", "size": 200}, "size must be an integer from 8 to 128"),
        ({}, "must be in .*mnist as mnist.npz .*contains mnist/, or pass digits='embedded' for scikit-learn's digits.$"),
    ],
)
def test_bad_options_are_refused(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        load("digit_style", folder=tmp_path, **options)
    assert "\n" not in str(error.value)
