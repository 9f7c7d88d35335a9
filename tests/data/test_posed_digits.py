"""Every class in every pose, poses that match their factors, and test classes that are not in training."""

import numpy as np
import pytest

from untwine.data import grid, load, validation_split
from untwine.data.sets.posed_digits import Poser, posed_digits


def centre(x):
    """Return the centre of mass of an image, to the right and down, in sides from its middle."""
    light, side = x.astype(float), x.shape[-1]
    axis = (np.arange(side) + 0.5) / side - 0.5
    return np.array([(light.sum(0) * axis).sum(), (light.sum(1) * axis).sum()]) / light.sum()


def draw(*pose, image=None, size=48):
    image = np.pad(np.ones((4, 4)), 2) if image is None else image
    return Poser(image[None], np.array([pose]), size)(np.array([0]), np.array([0]))[0, 0]


def test_every_class_has_every_pose_and_test_classes_are_others():
    data = posed_digits(n_train=4, n_test=3)
    assert data.train.x.shape == (4 * 90, 1, 16, 16)
    assert data.train.x.dtype == np.uint8
    for split, classes in zip(data, ([0, 1, 2, 3], [4, 5, 6]), strict=True):
        assert np.unique(split.labels).tolist() == classes
        for label in classes:
            assert len(np.unique(split.factors[split.labels == label], axis=0)) == 90
    names = [data.train.label_names[label] for label in range(7)]
    assert len(set(names)) == 7
    assert data.train.label_names == data.test.label_names
    more = posed_digits(n_train=6, n_test=3)
    np.testing.assert_array_equal(more.test.x, data.test.x)
    np.testing.assert_array_equal(more.train.x[: len(data.train)], data.train.x)
    assert not np.array_equal(posed_digits(n_train=4, n_test=3, seed=1).train.x, data.train.x)


def test_images_of_the_training_classes_can_be_held_out():
    data, whole = posed_digits(held_out="images", n_train=6, n_poses=20), posed_digits(n_train=6, n_poses=20).train
    assert (len(data.train), len(data.test)) == (96, 24)
    assert data.train.label_names == data.test.label_names == whole.label_names[:6]
    keys = [{(one.labels[i], *one.factors[i]) for i in range(len(one))} for one in (*data, whole)]
    assert keys[0] | keys[1] == keys[2]
    assert not keys[0] & keys[1]
    assert np.unique(data.train.labels).tolist() == list(range(6))
    assert len(posed_digits(held_out="images", n_train=2, n_test=9, n_poses=10).test) == 9
    again = posed_digits(held_out="images", n_train=6, n_poses=20)
    np.testing.assert_array_equal(again.test.x, data.test.x)
    assert not np.array_equal(posed_digits(held_out="images", n_train=6, n_poses=20, seed=1).test.labels, data.test.labels)


def test_poses_rotate_scale_and_shift_a_digit():
    plain = draw(0.0, 1.0, 0.0, 0.0)
    np.testing.assert_allclose(centre(plain), 0, atol=1e-3)
    np.testing.assert_allclose(centre(draw(0.0, 1.0, 0.14, -0.1)), [0.14, -0.1], atol=2e-3)
    assert draw(0.0, 0.7, 0.0, 0.0).astype(float).sum() == pytest.approx(0.49 * plain.astype(float).sum(), rel=0.02)
    right = np.zeros((8, 8))
    right[3:5, 5:7] = 1  # light to the right of the middle
    for degrees, (across, down) in {0: (1, 0), 90: (0, -1), -90: (0, 1)}.items():  # anticlockwise from the right is up
        direction = centre(draw(float(degrees), 1.0, 0.0, 0.0, image=right))
        np.testing.assert_allclose(direction / np.hypot(*direction), [across, down], atol=0.02)


def test_a_subset_of_poses_is_the_same_for_all_classes():
    data = load("posed_digits", n_train=3, n_test=2, n_poses=7, size=16)
    assert data.train.x.shape == (21, 1, 16, 16)
    poses = data.train.factors.reshape(3, 7, 4)
    assert (poses == poses[0]).all()
    np.testing.assert_array_equal(data.test.factors[:7], poses[0])
    assert len(np.unique(poses[0], axis=0)) == 7


def test_the_grid_has_the_same_images():
    data, whole = posed_digits(n_train=2, n_test=1), grid("posed_digits")
    assert len(whole) == 1797 * 90
    index = int(data.train.label_names[1].split()[-1].rstrip(")"))
    expected = whole.samples(whole.indices([[index, 2, 1, 0, 2]]))
    same = (data.train.labels == 1) & (data.train.factors == expected.factors[0, 1:]).all(1)
    np.testing.assert_array_equal(data.train.x[same], expected.x)


def test_a_validation_split_can_hold_out_classes():
    data = posed_digits(n_train=10, n_test=2, n_poses=5, size=16)
    selection = validation_split(data, by="classes")
    assert [len(np.unique(split.labels)) for split in selection] == [8, 2]
    assert not set(selection.train.labels) & set(selection.test.labels)
    assert len(selection.train) + len(selection.test) == len(data.train)
    with pytest.raises(ValueError, match="by must be 'samples' or 'classes'; got 'poses'"):
        validation_split(data, by="poses")
    with pytest.raises(ValueError, match="must have at least 2 classes; got 0; pass by='samples'"):
        validation_split(load("toy_contrast", n_target=5, n_background=5), by="classes")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_train": 0}, "n_train must be an integer from 1 to 1796; got 0"),
        ({"held_out": "poses"}, "held_out must be 'classes' or 'images'; got 'poses'"),
        (
            {"held_out": "images", "n_train": 2, "n_poses": 10, "n_test": 11},
            "n_test must be an integer from 1 to 10; got 11",
        ),
        ({"n_train": 1700, "n_test": 98}, "n_test must be an integer from 1 to 97; got 98"),
        ({"n_poses": 91}, "n_poses must be an integer from 1 to 90; got 91"),
        ({"size": 4}, "size must be an integer from 8 to 128; got 4"),
    ],
)
def test_bad_options_are_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        posed_digits(**options)
