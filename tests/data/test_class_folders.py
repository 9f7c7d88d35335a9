"""KTH, RaFD and Edges2Shoes: labels and factors from file names and folders."""

import numpy as np
import pytest
from PIL import Image

from untwine.data import load


def save(path, *greys, size=(160, 120)):
    """Write an image with vertical bands of these grey values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = size
    bands = [np.full((height, width // len(greys), 3), grey, np.uint8) for grey in greys]
    Image.fromarray(np.concatenate(bands, axis=1)).save(path)


@pytest.fixture
def videos(tmp_path):
    for person in (1, 2, 13):
        for action, name in ((0, "boxing"), (5, "walking")):
            video = tmp_path / "kth" / name / f"person{person:02d}_{name}_d{1 + person % 4}_uncomp"
            for frame in range(10):
                save(video / f"image-{frame:03d}.png", 10 * person + 4 * action + frame)
    return tmp_path


def test_kth_holds_out_frames_of_all_people(videos):
    train, test = load("kth", folder=videos, size=16)
    assert (len(train), len(test)) == (54, 6)
    assert train.x.shape == (54, 1, 16, 16)
    assert train.label_names == ("person 1", "person 2", "person 13")
    frames = [tuple(row) for split in (train, test) for row in np.c_[split.labels, split.factors]]
    assert len(set(frames)) == 60
    for split in (train, test):
        person = np.array([1, 2, 13])[split.labels]
        action, setting, frame = split.factors.T
        np.testing.assert_array_equal(split.x[:, 0, 8, 8], 10 * person + 4 * action + frame)
        np.testing.assert_array_equal(setting, 1 + person % 4)
    assert len(load("kth", folder=videos, size=16, every=3).train) == 22  # frames 0, 3, 6 and 9 of six videos, less 2


def test_kth_without_frames_is_refused(tmp_path):
    (tmp_path / "kth" / "person01_boxing_d1").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"folders like person01_boxing_d1 .*; got 1 such folders with 0 images"):
        load("kth", folder=tmp_path)


def test_rafd_takes_expression_and_factors_from_file_names(tmp_path):
    root, greys = tmp_path / "rafd", {}
    for angle in (0, 45, 90, 135, 180):
        for person in (1, 23):
            for expression in ("angry", "happy", "surprised"):
                for gaze in ("left", "frontal", "right"):
                    grey = 5 + len(greys)
                    save(root / f"Rafd{angle:03d}_{person:02d}_Caucasian_male_{expression}_{gaze}.png", grey, size=(68, 102))
                    greys[person, angle, ("left", "frontal", "right").index(gaze), expression] = grey
    (root / "readme.txt").write_text("not an image")
    train, test = load("rafd", folder=tmp_path, size=32)
    assert (len(train), len(test)) == (49, 5)  # full profiles are left out
    for split in (train, test):
        for x, label, factors in zip(split.x, split.labels, split.factors, strict=True):
            assert x[0, 16, 16] == greys[(*factors.astype(int), split.label_names[label])]
    assert len(train.label_names) == 8
    for path in root.glob("*.png"):
        path.unlink()
    with pytest.raises(ValueError, match=r"files like Rafd090_01_Caucasian_female_happy_frontal.jpg .*; got 0;"):
        load("rafd", folder=tmp_path)


def test_edges_and_shoes_of_a_pair_have_the_same_factor(tmp_path):
    for name, greys in (("train", range(7)), ("val", range(7, 10))):
        for grey in greys:
            save(tmp_path / "edges2shoes" / name / f"{grey:02d}_AB.png", 10 * grey, 100 + 10 * grey, size=(128, 64))
    train, test = load("edges2shoes", folder=tmp_path, size=16)
    assert (len(train), len(test)) == (14, 6)
    for data in (train, test):
        assert data.label_names == ("edges", "shoes")
        np.testing.assert_array_equal(data.x[:, 0].min((1, 2)), 100 * data.labels + 10 * data.factors[:, 0])
        np.testing.assert_array_equal(data.x[:, 0].max((1, 2)), 100 * data.labels + 10 * data.factors[:, 0])
    few = load("edges2shoes", folder=tmp_path, size=16, n_train=2, n_test=1)
    assert (len(few.train), len(few.test)) == (4, 2)
    assert set(few.train.factors[:, 0]) <= set(range(7))
    for path in (tmp_path / "edges2shoes" / "val").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match=r"as train/ and val/ with an image for each pair; got 7 and 0 images"):
        load("edges2shoes", folder=tmp_path)


def test_a_damaged_image_is_refused(tmp_path):
    path = tmp_path / "edges2shoes" / "train" / "a.jpg"
    save(path, 1, 2)
    save(tmp_path / "edges2shoes" / "val" / "a.jpg", 1, 2)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a.jpg must be an image; it cannot be read .*; replace or remove it"):
        load("edges2shoes", folder=tmp_path)
