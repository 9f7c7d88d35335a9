import numpy as np
import pytest
from celeba_files import NAMES, attributes, make_folder, make_packed

from untwine.data import load

HAT, GLASSES = NAMES.index("Wearing_Hat"), NAMES.index("Eyeglasses")


def rows_of(x):
    """Return the number that each face shows, read from its cheeks."""
    side = x.shape[-1]
    return np.round(np.median(x[:, 0, side * 5 // 8 : side * 6 // 8, side // 4 : side * 3 // 4], axis=(1, 2)) / 2).astype(int)


def wears(x):
    """Return which of the images show a hat and which eyeglasses."""
    side = x.shape[-1]
    top, middle = x[:, :, 1 : side // 16 + 1, side // 2], x[:, :, side // 2, side // 2]
    return (top[:, 0].mean(axis=1) > 200) & (top[:, 1].mean(axis=1) < 60), (middle[:, 1] > 200) & (middle[:, 0] < 60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("faces")
    make_folder(place / "celeba", 100)
    return place


def test_hats_and_eyeglasses_against_neither_and_never_both(folder):
    train, test = load("celeba_accessories", folder=folder)
    assert train.shape == (3, 64, 64)
    for part in (train, test):
        hat, glasses = wears(part.x)
        np.testing.assert_array_equal(part.labels, np.where(hat, 0, np.where(glasses, 1, -1)))
        np.testing.assert_array_equal(part.groups, (hat | glasses).astype(int))
        assert not (hat & glasses).any()
    assert train.label_names == ("hat", "eyeglasses")
    assert not set(rows_of(train.x)) & set(rows_of(test.x))
    either = np.flatnonzero(attributes(100)[:, [HAT, GLASSES]].sum(axis=1) == 1)
    np.testing.assert_array_equal(np.sort(rows_of(np.concatenate([train.target.x, test.target.x]))), either)


def test_the_test_part_is_balanced_and_the_background_at_most_four_times_the_target(folder):
    train, test = load("celeba_accessories", folder=folder, test=0.5)
    hats, glasses = np.bincount(test.target.labels)
    assert hats == glasses == len(test.background) // 2
    only = attributes(100)
    rarer = min(((only[:, HAT] == 1) & (only[:, GLASSES] == 0)).sum(), ((only[:, HAT] == 0) & (only[:, GLASSES] == 1)).sum())
    assert hats == round(0.5 * rarer)
    assert len(train.background) <= 4 * len(train.target)
    few = load("celeba_accessories", folder=folder, n_per_class=3, n_background=5).train
    np.testing.assert_array_equal(np.bincount(few.target.labels), [3, 3])
    assert len(few.background) == 5
    assert len(load("celeba_accessories", folder=folder, n_per_class=1).train.background) == 8


def test_factors_are_the_faces_own(folder):
    train, _ = load("celeba_accessories", folder=folder)
    rows, columns = rows_of(train.x), attributes(100)
    assert train.factor_names == ("Male", "Smiling", "Young", "Blond_Hair", "Pale_Skin", "lower face brightness")
    for i, name in enumerate(train.factor_names[:5]):
        np.testing.assert_array_equal(train.factors[:, i], columns[rows, NAMES.index(name)])
    np.testing.assert_allclose(train.factors[:, 5], 2 * rows / 255, atol=0.02)


def test_images_are_upright_central_squares(folder):
    train = load("celeba_accessories", folder=folder, size=32).train
    assert train.shape == (3, 32, 32)
    assert (train.x[:, 2, -2].mean(axis=1) > 200).all()  # the chin is blue and below
    assert (train.x[:, 0, -2].mean(axis=1) < 60).all()
    assert (train.background.x[:, :, 0].mean(axis=(1, 2)) < 215).all()  # the white above the square is cut off


@pytest.mark.parametrize(("table", "inner"), [("csv", ""), ("txt", "img_align_celeba")])
def test_every_public_layout_gives_the_same(folder, tmp_path, table, inner):
    make_folder(tmp_path, 100, table=table, inner=inner)
    expected, got = load("celeba_accessories", folder=folder), load("celeba_accessories", folder=tmp_path)
    assert [part.fingerprint() for part in got] == [part.fingerprint() for part in expected]


def test_the_releases_own_folders_are_found(tmp_path):
    make_folder(tmp_path / "celeba", 30, partition=[0] * 20 + [2] * 10)
    for inner, name in (("Anno", "list_attr_celeba.txt"), ("Eval", "list_eval_partition.txt"), ("Img", "img_align_celeba")):
        (tmp_path / "celeba" / inner).mkdir()
        (tmp_path / "celeba" / name).rename(tmp_path / "celeba" / inner / name)
    test = load("celeba_accessories", folder=tmp_path).test
    assert rows_of(test.x).min() >= 20


def test_a_packed_subset_shows_the_same_faces(folder, tmp_path):
    make_packed(tmp_path / "celeba_some.npz", 100)
    expected, got = load("celeba_accessories", folder=folder), load("celeba_accessories", folder=tmp_path)
    for part, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(part.labels, other.labels)
        np.testing.assert_array_equal(rows_of(part.x), rows_of(other.x))


@pytest.mark.parametrize("table", ["txt", "csv"])
def test_celebas_own_partition_decides_where_it_is_there(tmp_path, table):
    partition = [0] * 40 + [1] * 10 + [2] * 30
    make_folder(tmp_path, 80, table=table, partition=partition)
    train, test = load("celeba_accessories", folder=tmp_path, test=0.9)
    assert rows_of(train.x).max() < 50
    assert rows_of(train.x).max() >= 40
    assert rows_of(test.x).min() >= 50
    hats, glasses = np.bincount(test.target.labels)
    assert hats == glasses


def test_the_seed_decides(folder):
    a, b, other = (load("celeba_accessories", folder=folder, size=16, seed=seed) for seed in (0, 0, 1))
    assert [part.fingerprint() for part in a] == [part.fingerprint() for part in b]
    assert len({part.fingerprint() for part in (*a, *other)}) == 4


def lose_images(root):
    (root / "img_align_celeba").rename(root / "images")


def lose_one(root):
    for path in (root / "img_align_celeba").glob("00000*.jpg"):
        path.unlink()


def damage_some(root):
    for path in (root / "img_align_celeba").glob("*.jpg"):
        path.write_bytes(path.read_bytes()[:300])


def other_table(root):
    (root / "list_attr_celeba.txt").write_text("2\nBig_Nose Young\n000001.jpg 1 -1\n000002.jpg -1 1\n")


def ragged_table(root):
    lines = (root / "list_attr_celeba.txt").read_text().splitlines()
    lines[4] = lines[4][:20]
    (root / "list_attr_celeba.txt").write_text("\n".join(lines))


def words(root):
    text = (root / "list_attr_celeba.txt").read_text()
    (root / "list_attr_celeba.txt").write_text(text.replace("  -1", "  no"))


def no_hats(root):
    lines = (root / "list_attr_celeba.txt").read_text().splitlines()
    lines[2:] = [" ".join([row.split()[0], *["-1"] * 40]) for row in lines[2:]]
    (root / "list_attr_celeba.txt").write_text("\n".join(lines))


def empty_table(root):
    (root / "list_attr_celeba.txt").write_text("")


def nothing(root):
    (root / "list_attr_celeba.txt").unlink()


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (nothing, "CelebA was must be in .*celeba as img_align_celeba/ with .*, but neither is there; place .*UNTWINE_DATA"),
        (lose_images, "images were must be in .*img_align_celeba, but there is no such folder"),
        (lose_one, r"list_attr_celeba.txt names the image .*00000\d.jpg, but it is not there"),
        (damage_some, r"\d.jpg must be an image, but it cannot be read"),
        (other_table, "expected the attribute Wearing_Hat, but has Big_Nose, Young and so on"),
        (ragged_table, "expected a file's name and 40 numbers in every row, .*000003.jpg.* in row 3"),
        (words, "expected whole numbers after each file's name"),
        (no_hats, "expected faces of every kind for training, but has 0 with hat, 0 with eyeglasses"),
        (empty_table, "as CelebA has it, but has no rows"),
    ],
)
def test_missing_or_damaged_files_get_their_sentence(tmp_path, harm, sentence):
    make_folder(tmp_path, 30)
    harm(tmp_path)
    with pytest.raises(ValueError, match=sentence) as error:
        load("celeba_accessories", folder=tmp_path)
    assert "\n" not in str(error.value)


def test_a_packed_subset_that_lacks_something_is_told_what(tmp_path):
    path = tmp_path / "celeba_some.npz"
    make_packed(path, 30)
    arrays = dict(np.load(path))
    np.savez(path, **{name: array for name, array in arrays.items() if name != "offsets"})
    with pytest.raises(ValueError, match=r"expected the arrays jpeg, offsets, .*, but lacks offsets"):
        load("celeba_accessories", folder=tmp_path)
    np.savez(path, **arrays | {"offsets": arrays["offsets"][:-1]})
    with pytest.raises(ValueError, match=r"expected n filenames, n \+ 1 offsets .*\(30,\), \(30,\) and \(30, 40\)"):
        load("celeba_accessories", folder=tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match="damaged"):
        load("celeba_accessories", folder=tmp_path)
