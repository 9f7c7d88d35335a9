import numpy as np
import pytest
from PIL import Image
from scipy.spatial import procrustes

from untwine.data.images.procrustes import frame, mean_shape, similarity, warp


def shapes(n, noise=0.0, seed=0):
    """Return n random similarity transforms of one random shape of 12 points, and the shape itself."""
    rng = np.random.default_rng(seed)
    shape = rng.normal(size=12) + 1j * rng.normal(size=12)
    a = rng.uniform(0.5, 3, (n, 1)) * np.exp(1j * rng.uniform(-0.6, 0.6, (n, 1)))
    transformed = a * shape + rng.normal(size=(n, 1)) * 20
    return transformed + noise * (rng.normal(size=(n, 12)) + 1j * rng.normal(size=(n, 12))), shape


def test_a_similarity_is_recovered_and_never_reflects():
    (s,), t = shapes(1)
    a, b = similarity(s, t)
    np.testing.assert_allclose(a * s + b, t, atol=1e-12)
    a, b = similarity(s, t.conj())
    assert np.abs(a * s + b - t.conj()).max() > 0.1


def test_the_residual_distance_equals_scipys():
    (s, t), _ = shapes(2, noise=0.3)
    a, b = similarity(s, t)
    residual = (np.abs(a * s + b - t) ** 2).sum() / (np.abs(t - t.mean()) ** 2).sum()
    _, _, expected = procrustes(*(np.column_stack([z.real, z.imag]) for z in (t, s)))
    assert residual == pytest.approx(expected, rel=1e-9)


def test_a_batch_equals_single_shapes():
    many, t = shapes(5, noise=0.2)
    a, b = similarity(many, t)
    for i in range(5):
        np.testing.assert_allclose([a[i], b[i]], similarity(many[i], t), rtol=1e-12)


def test_the_mean_recovers_the_shape_in_its_average_orientation():
    many, shape = shapes(400)
    mean = mean_shape(many)
    a, b = similarity(shape, mean)
    np.testing.assert_allclose(a * shape + b, mean, atol=1e-9)
    assert np.linalg.norm(mean) == pytest.approx(1)
    assert abs(np.angle(a)) < 0.05  # rotations are symmetric around 0
    noisy, shape = shapes(400, noise=0.4)
    mean = mean_shape(noisy)
    a, b = similarity(shape, mean)
    assert np.abs(a * shape + b - mean).max() < 0.02


def test_the_frame_has_the_given_width_and_position():
    framed = frame(shapes(1)[1], 96)
    assert np.ptp(framed.real) == pytest.approx(0.7 * 96)
    assert (framed.real.min() + framed.real.max()) / 2 == pytest.approx(48)
    assert framed.imag.max() == pytest.approx(0.93 * 96)


@pytest.mark.parametrize("scale", [0.1, 0.3, 1.0, 1.6])
def test_images_are_warped_like_their_shapes(scale):
    # The centre of a white disc must be mapped by the similarity, for every scale.
    rows, columns = np.mgrid[:300, :400]
    middle, radius = 230 + 140j, 40
    disc = np.where(np.abs(columns + 0.5 + 1j * (rows + 0.5) - middle) < radius, 255, 0).astype(np.uint8)
    a = scale * np.exp(0.5j)
    b = 48 + 40j - a * middle
    warped = np.asarray(warp(Image.fromarray(disc), a, b, 96)).astype(float)
    if scale < 0.9:
        rows, columns = np.mgrid[:96, :96] + 0.5
        centre = ((columns + 1j * rows) * warped).sum() / warped.sum()
        assert abs(centre - (48 + 40j)) < 0.1
        assert warped.sum() / 255 == pytest.approx(np.pi * (radius * scale) ** 2, rel=0.05)
    else:
        assert warped[40, 48] == 255
