import numpy as np
import pytest
from celeba_files import indices_of, make_folder, make_packed

from untwine.data import load
from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents

N = 60
PEOPLE = 100 + np.arange(N) % 12  # five faces of each of twelve people


def make_lists(root, landmarks=False, missing=()):
    names = [f"{i + 1:06d}.jpg" for i in range(N)]
    lines = [f"{name} {person}" for name, person in zip(names, PEOPLE, strict=True) if name not in missing]
    (root / "identity_CelebA.txt").write_text("\n".join(lines) + "\n")
    if landmarks:
        lines = [str(N), "lefteye_x lefteye_y ", *(f"{name}  {i}   {2 * i}" for i, name in enumerate(names))]
        (root / "list_landmarks_align_celeba.txt").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("form", ["folder", "npz"])
def test_whole_people_are_held_out_and_labels_are_people(tmp_path, form):
    if form == "folder":
        make_folder(tmp_path, N)
    else:
        make_packed(tmp_path / "celeba_some.npz", N)
    make_lists(tmp_path)
    train, test = load("celeba_identity", folder=tmp_path, n_test=3, size=32)
    assert (len(train), len(test)) == (45, 15)
    assert train.label_names == test.label_names
    assert len(train.label_names) == 12
    for split in (train, test):
        people = np.array([int(split.label_names[label]) for label in split.labels])
        np.testing.assert_array_equal(people, PEOPLE[indices_of(split.x)])
        assert split.factors is None
    assert set(train.labels) == set(range(9))
    assert set(test.labels) == {9, 10, 11}
    few = load("celeba_identity", folder=tmp_path, n_test=3, n_train=2, size=32)
    assert (len(few.train), len(few.test)) == (10, 15)


def test_landmarks_are_factors_if_available(tmp_path):
    make_folder(tmp_path, N)
    make_lists(tmp_path, landmarks=True)
    train, _ = load("celeba_identity", folder=tmp_path, n_test=3, size=32)
    assert train.factor_names == ("landmark lefteye_x", "landmark lefteye_y")
    indices = indices_of(train.x)
    np.testing.assert_array_equal(train.factors, np.c_[indices, 2 * indices])


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_landmarks_between_pixels_are_read_as_they_are(tmp_path, ending):
    make_folder(tmp_path, N)
    make_lists(tmp_path)
    separator, head = (",", "image_id,") if ending == "csv" else (" ", f"{N}\n")
    values = np.round(np.random.default_rng(0).uniform(-3, 180, (N, 4)), 3)
    names = ("lefteye_x", "lefteye_y", "nose_x", "nose_y")
    lines = [separator.join((f"{i + 1:06d}.jpg", *map(str, row))) for i, row in enumerate(values)]
    path = tmp_path / f"list_landmarks_align_celeba.{ending}"
    path.write_text("\n".join([head + separator.join(names), *lines]) + "\n")
    train, test = load("celeba_identity", folder=tmp_path, n_test=3, size=32)
    for split in (train, test):
        np.testing.assert_allclose(split.factors, values[indices_of(split.x)], rtol=1e-6)
    path.write_text(path.read_text().replace(str(values[5, 2]), "inf"))
    with pytest.raises(ValueError, match=r"must have finite numbers after each file name"):
        load("celeba_identity", folder=tmp_path, n_test=3, size=32)


def test_people_and_attributes_are_integers(tmp_path):
    make_folder(tmp_path, N)
    make_lists(tmp_path)
    path = tmp_path / "identity_CelebA.txt"
    path.write_text(path.read_text().replace(" 100\n", " 100.5\n", 1))
    with pytest.raises(ValueError, match=r"identity_CelebA.txt must have integers after each file name"):
        load("celeba_identity", folder=tmp_path, n_test=3, size=32)


def test_transfer_and_landmark_metrics_apply(tmp_path):
    """The metrics find landmarks by name; the identity method transfers nothing."""
    make_folder(tmp_path, N)
    make_lists(tmp_path, landmarks=True)
    train, _ = load("celeba_identity", folder=tmp_path, n_test=3, size=8)

    class Identity:
        def encode(self, x):
            flat = x.reshape(len(x), -1) / 255.0
            return Latents({"class": flat.astype(np.float32), "content": flat[:, :2].astype(np.float32)})

        def decode(self, latents):
            return latents["class"].reshape(-1, 3, 8, 8)

    scores = evaluate(Identity(), train, ["transfer", "reading", "landmarks"])
    assert scores["transfer.x"].value == pytest.approx(scores["transfer_unmoved.x"].value)
    assert scores["transfer.x"].n == 45
    assert {"landmarks.class", "landmarks.content", "class_read.content"} <= set(scores)


def test_faces_without_identity_and_people_with_few_faces_are_left_out(tmp_path):
    make_folder(tmp_path, N)
    make_lists(tmp_path, missing=("000001.jpg", "000013.jpg"))  # two of the five faces of person 100
    train, test = load("celeba_identity", folder=tmp_path, n_test=1, least=4, size=32)
    assert len(train) + len(test) == 55
    assert "100" not in train.label_names
    whole = load("celeba_identity", folder=tmp_path, n_test=1, size=32)
    assert len(whole.train) + len(whole.test) == 58


def test_missing_identities_and_too_few_people_are_refused(tmp_path):
    make_folder(tmp_path, N)
    with pytest.raises(ValueError, match=r"identities must be beside .* as identity_CelebA.txt; not found"):
        load("celeba_identity", folder=tmp_path)
    make_lists(tmp_path)
    with pytest.raises(ValueError, match="n_test must be below the number of people with at least 1 faces, 12; got 1000"):
        load("celeba_identity", folder=tmp_path)
