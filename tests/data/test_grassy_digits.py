import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict, cross_val_score

from untwine.data import load
from untwine.data.images.blending import to_bytes
from untwine.data.images.drawn_grass import colour, draw_textures
from untwine.data.readers.sklearn_digits import read_digits, split_digits, upsample_digits


@pytest.fixture(scope="module")
def splits():
    return load("grassy_digits", n_target=400, n_background=300, n_test=1200)


def flat(samples):
    return samples.x.reshape(len(samples), -1) / 255


def test_shapes_counts_and_labels(splits):
    train, test = splits
    assert train.x.dtype == np.uint8
    assert train.shape == (3, 28, 28)
    assert (len(train.target), len(train.background)) == (400, 300)
    assert (len(test.target), len(test.background)) == (1200, 600)
    assert (train.background.labels == -1).all()
    assert set(train.target.labels) == set(range(10))
    assert train.label_names == tuple("0123456789")


def test_splits_share_no_digit():
    # With rho = 0 a target is its digit alone, so that the digit is identified by the image.
    train, test = load("grassy_digits", n_target=1500, n_background=2, n_test=700, rho=0.0)
    images, classes = read_digits()
    known = {to_bytes(digit).tobytes(): index for index, digit in enumerate(upsample_digits(images, 28))}
    assert len(known) == 1797
    train_digits = [known[image[0].tobytes()] for image in train.target.x]
    test_digits = [known[image[0].tobytes()] for image in test.target.x]
    assert not set(train_digits) & set(test_digits)
    assert len(set(train_digits) | set(test_digits)) == 1797
    np.testing.assert_array_equal(classes[train_digits], train.target.labels)
    np.testing.assert_array_equal(classes[test_digits], test.target.labels)
    # No digit is used a third time before all have been used twice.
    assert np.bincount(np.bincount(train_digits, minlength=1797)[sorted(set(train_digits))])[3:].sum() == 0


def test_the_split_is_seventy_to_thirty_in_every_class_and_follows_the_seed():
    _, classes = read_digits()
    train, test = split_digits(classes, 0)
    assert not set(train) & set(test)
    np.testing.assert_allclose(np.bincount(classes[train]) / np.bincount(classes), 0.7, atol=0.01)
    assert set(train) != set(split_digits(classes, 1)[0])


def test_the_seed_determines_the_splits():
    small = {"n_target": 30, "n_background": 20, "n_test": 10, "size": 12}
    a, b, other = (load("grassy_digits", **small, seed=seed) for seed in (1, 1, 2))
    assert [split.fingerprint() for split in a] == [split.fingerprint() for split in b]
    assert len({split.fingerprint() for split in (*a, *other)}) == 4


def test_no_grass_is_repeated():
    train, test = load("grassy_digits", n_target=200, n_background=200, n_test=200, rho=1.0)
    images = np.concatenate([train.x, test.x])
    assert len({image.tobytes() for image in images}) == len(images)


def test_brightness_and_hue_match_the_images(splits):
    background = splits.test.background
    brightness, hue = background.factors.T
    red, green, blue = (background.x / 255).mean(axis=(2, 3)).T
    np.testing.assert_allclose(green, brightness, atol=0.002)
    measured = 120 + 60 * (blue - red) / (green - np.minimum(red, blue))
    assert np.abs(measured - hue).mean() < 3
    assert (background.x.max(axis=1) == background.x[:, 1]).all()


def test_factors_are_linearly_predictable_from_grass_and_independent_of_the_digit(splits):
    background, target = splits.test.background, splits.test.target
    for samples, least in ((background, 0.9), (target, 0.85)):
        for factor in samples.factors.T:
            assert r2_score(factor, cross_val_predict(Ridge(10.0), flat(samples), factor, cv=5)) > least
    for factor in target.factors.T:
        means = [factor[target.labels == label].mean() for label in range(10)]
        assert np.std(means) < 0.2 * factor.std()
    assert abs(np.corrcoef(background.factors.T)[0, 1]) < 0.15
    assert background.factors.min(axis=0) == pytest.approx([0.25, 70], rel=0.02)
    assert background.factors.max(axis=0) == pytest.approx([0.62, 150], rel=0.02)


def test_a_linear_probe_classifies_the_digits(splits):
    target = splits.test.target
    grey = target.x.mean(axis=1)[:, ::2, ::2].reshape(len(target), -1) / 255
    assert cross_val_score(LogisticRegression(max_iter=500), grey, target.labels, cv=3).mean() > 0.85


def test_textures_are_blades_not_noise():
    shades, hues = draw_textures(np.random.default_rng(0), 12, 28)
    centred = shades - shades.mean(axis=(1, 2), keepdims=True)

    def autocorrelation(axis, step):
        return (centred * np.roll(centred, step, axis)).mean() / (centred**2).mean()

    # Upright blades: vertical autocorrelation reaches further than horizontal, also across the seam.
    assert autocorrelation(1, 3) > 0.25
    assert autocorrelation(1, 3) > 2 * autocorrelation(2, 3)
    seam = np.abs(shades[:, 0] - shades[:, -1]).mean() / np.abs(np.diff(shades, axis=1)).mean()
    assert seam < 1.3
    assert shades.min() > 0.1
    assert np.abs(hues).max() <= 1


def test_colouring_gives_the_exact_hue_where_blades_do_not_differ():
    shades = np.ones((3, 8, 8), np.float32)
    images = colour(shades, np.zeros_like(shades), np.array([0.3, 0.4, 0.5]), np.array([90.0, 120.0, 150.0]))
    np.testing.assert_allclose(images[:, 1].mean(axis=(1, 2)), [0.3, 0.4, 0.5], rtol=1e-5)
    shares = images[:, :, 0, 0] / images[:, 1:2, 0, 0]
    np.testing.assert_allclose(shares, [[0.625, 1, 0.25], [0.25, 1, 0.25], [0.25, 1, 0.625]], rtol=1e-5)


@pytest.mark.parametrize("size", [8, 61, 128])
def test_every_size(size):
    train, test = load("grassy_digits", n_target=4, n_background=3, n_test=1, size=size)
    assert train.shape == test.shape == (3, size, size)
    assert (len(test.target), len(test.background)) == (1, 1)
    np.testing.assert_allclose(train.background.x[:, 1].mean(axis=(1, 2)) / 255, train.background.factors[:, 0], atol=0.004)
