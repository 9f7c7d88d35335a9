import numpy as np
import pytest
from affectnet_files import make_affectnet as make

from untwine.data import load

NAMES = ("happiness", "sadness", "surprise", "fear", "disgust", "anger", "contempt")
SMALL = {"size": 48, "n_per_class": 6, "n_background": 8, "n_test": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    (root / "affectnet").mkdir()
    make(root / "affectnet")
    return root


def numbers(x):
    """Return the number of each face, decoded from its chin."""
    side = x.shape[-1]
    return np.round(
        np.median(x[:, 0, side * 84 // 100 : side * 88 // 100, side * 46 // 100 : side * 54 // 100], axis=(1, 2)) / 2
    )


def expressions(x):
    side = x.shape[-1]
    chin = x[:, 1, side * 84 // 100 : side * 88 // 100, side * 46 // 100 : side * 54 // 100]
    return np.round(np.median(chin, axis=(1, 2)) / 25).astype(int)


def test_seven_expressions_against_neutral(folder):
    train, test = load("affectnet", folder=folder, **SMALL)
    assert [len(group) for group in (train.background, train.target, test.background, test.target)] == [8, 42, 2, 28]
    assert train.label_names == NAMES
    for split in (train, test):
        # None, uncertain and no face (8 to 10) are left out.
        np.testing.assert_array_equal(expressions(split.x), split.labels + 1)
    np.testing.assert_array_equal(np.bincount(train.target.labels), np.full(7, 6))


def test_training_and_the_halves_of_the_test_split_are_disjoint(folder):
    train, test = load("affectnet", folder=folder, **SMALL)
    halves = test.target[:14], test.target[14:]
    for half in halves:
        np.testing.assert_array_equal(np.bincount(half.labels), np.full(7, 2))
    # Faces are numbered modulo 120, and those of the validation list begin at 132.
    validation = set(range(12, 45))
    assert set(numbers(halves[1].x)) | set(numbers(test.background.x)) <= validation
    faces = [tuple(face.ravel()) for face in np.concatenate([train.x, test.x])]
    assert len(set(faces)) == len(faces)


def test_without_a_validation_list_both_halves_are_from_the_training_list(tmp_path):
    make(tmp_path, lists=[("training.csv", 9)], inner="")
    train, test = load("affectnet", folder=tmp_path, **SMALL)
    np.testing.assert_array_equal(np.bincount(train.target.labels), np.full(7, 5))
    assert len(test.target) == 28
    assert not set(numbers(train.x)) & set(numbers(test.x))


def test_faces_are_aligned_upright_and_not_distorted(folder):
    train, _ = load("affectnet", folder=folder, **SMALL | {"size": 96})
    rows, columns = np.mgrid[:96, :96] + 0.5
    white = (train.x > 150).all(axis=1)
    blue = (train.x[:, 2] > 150) & (train.x[:, 0] < 100)
    left, right = white & (columns < 48), white & (columns > 48)
    centres = [
        np.array([[(w * axis).sum() / w.sum() for axis in (columns, rows)] for w in masks]) for masks in (left, right, blue)
    ]
    for centre in centres:
        assert centre.std(axis=0).max() < 0.6  # unaligned faces differ by tens of pixels
    left_eye, right_eye, mouth = (centre.mean(axis=0) for centre in centres)
    assert abs(left_eye[1] - right_eye[1]) < 1.5
    assert mouth[1] > left_eye[1] + 10
    # The drawing has its eyes 0.8 apart and its mouth 0.9 below them.
    assert (mouth[1] - left_eye[1]) / (right_eye[0] - left_eye[0]) == pytest.approx(0.9 / 0.8, abs=0.06)


def test_factors_are_valence_arousal_and_brightness(folder):
    train, _ = load("affectnet", folder=folder, **SMALL)
    assert train.factor_names == ("brightness", "salient valence", "salient arousal")
    known = ~np.isnan(train.factors[:, 1])
    assert 0 < (~known).mean() < 0.5
    np.testing.assert_allclose(train.factors[known, 1], 0.1 * (train.labels[known] + 1))
    np.testing.assert_allclose(train.factors[known, 2], -0.05 * (train.labels[known] + 1))
    np.testing.assert_allclose(train.factors[:, 0], train.x.mean(axis=(1, 2, 3)) / 255)


def test_the_seed_determines_the_splits(folder):
    a, b, other = (load("affectnet", folder=folder, seed=seed, **SMALL) for seed in (0, 0, 1))
    assert [split.fingerprint() for split in a] == [split.fingerprint() for split in b]
    assert len({split.fingerprint() for split in (*a, *other)}) == 4


def lose_list(root):
    (root / "training.csv").unlink()


def rename_column(root):
    text = (root / "training.csv").read_text()
    (root / "training.csv").write_text(text.replace("facial_landmarks", "landmarks", 1))


def lose_landmarks(root):
    lines = (root / "training.csv").read_text().splitlines()
    lines[1:] = [",".join([*line.split(",")[:5], "1;2;3", *line.split(",")[6:]]) for line in lines[1:]]
    (root / "training.csv").write_text("\n".join(lines))


def write_words(root):
    lines = (root / "training.csv").read_text().splitlines()
    lines[3] = ",".join([*lines[3].split(",")[:6], "happy", "0", "0"])
    (root / "training.csv").write_text("\n".join(lines))


def lose_images(root):
    (root / "Manually_Annotated_Images").rename(root / "elsewhere")


def damage_images(root):
    for path in root.rglob("*.png"):
        path.write_bytes(path.read_bytes()[:60])


def write_binary(root):
    (root / "training.csv").write_bytes(b"\xff\xfe\x00\x80" * 40)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lose_list, "AffectNet must be in .* as the list training.csv; not found; place .*UNTWINE_DATA"),
        (rename_column, "training.csv must have AffectNet's columns .*; it lacks facial_landmarks"),
        (lose_landmarks, r"training.csv, line \d+ must have 68 landmarks as x;y;x;y...; got '1;2;3'; remove the line"),
        (write_words, "training.csv, line 4 must have a number as expression; got 'happy'"),
        (lose_images, r"line \d+ must name an existing image; .*face\d+.png does not exist"),
        (damage_images, r"face\d+.png must be an image; it cannot be read"),
        (write_binary, "training.csv must be comma-separated text; it cannot be read"),
    ],
)
def test_missing_or_damaged_files_are_refused(tmp_path, damage, sentence):
    make(tmp_path, lists=[("training.csv", 6)])
    damage(tmp_path)
    with pytest.raises(ValueError, match=sentence) as error:
        load("affectnet", folder=tmp_path, **SMALL)
    assert "\n" not in str(error.value)


def test_too_few_faces_are_refused_with_their_counts(folder):
    with pytest.raises(ValueError, match="at least 5 faces of neutral for training and 4 for validation; got 12 and 3; lower"):
        load("affectnet", folder=folder, **SMALL | {"n_test": 4})
