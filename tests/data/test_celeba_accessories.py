import numpy as np
import pytest
from celeba_files import NAMES, attributes, make_folder, make_packed

from untwine.data import load

HAT, GLASSES = NAMES.index("Wearing_Hat"), NAMES.index("Eyeglasses")


def indices_of(x):
    """Return the index that each face encodes in its cheeks."""
    side = x.shape[-1]
    return np.round(np.median(x[:, 0, side * 5 // 8 : side * 6 // 8, side // 4 : side * 3 // 4], axis=(1, 2)) / 2).astype(int)


def wears(x):
    """Return which images show a hat and which eyeglasses."""
    side = x.shape[-1]
    top, middle = x[:, :, 1 : side // 16 + 1, side // 2], x[:, :, side // 2, side // 2]
    return (top[:, 0].mean(axis=1) > 200) & (top[:, 1].mean(axis=1) < 60), (middle[:, 1] > 200) & (middle[:, 0] < 60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("faces")
    make_folder(root / "celeba", 100)
    return root


def test_hats_and_eyeglasses_against_neither_and_never_both(folder):
    train, test = load("celeba_accessories", folder=folder)
    assert train.shape == (3, 64, 64)
    for split in (train, test):
        hat, glasses = wears(split.x)
        np.testing.assert_array_equal(split.labels, np.where(hat, 0, np.where(glasses, 1, -1)))
        np.testing.assert_array_equal(split.groups, (hat | glasses).astype(int))
        assert not (hat & glasses).any()
    assert train.label_names == ("hat", "eyeglasses")
    assert not set(indices_of(train.x)) & set(indices_of(test.x))
    either = np.flatnonzero(attributes(100)[:, [HAT, GLASSES]].sum(axis=1) == 1)
    np.testing.assert_array_equal(np.sort(indices_of(np.concatenate([train.target.x, test.target.x]))), either)


def test_the_test_split_is_balanced_and_the_background_at_most_four_times_the_target(folder):
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


def test_factors_match_the_faces(folder):
    train, _ = load("celeba_accessories", folder=folder)
    indices, columns = indices_of(train.x), attributes(100)
    assert train.factor_names == ("Male", "Smiling", "Young", "Blond_Hair", "Pale_Skin", "lower face brightness")
    for i, name in enumerate(train.factor_names[:5]):
        np.testing.assert_array_equal(train.factors[:, i], columns[indices, NAMES.index(name)])
    np.testing.assert_allclose(train.factors[:, 5], 2 * indices / 255, atol=0.02)


def test_images_are_upright_central_squares(folder):
    train = load("celeba_accessories", folder=folder, size=32).train
    assert train.shape == (3, 32, 32)
    assert (train.x[:, 2, -2].mean(axis=1) > 200).all()  # the chin is blue and at the bottom
    assert (train.x[:, 0, -2].mean(axis=1) < 60).all()
    assert (train.background.x[:, :, 0].mean(axis=(1, 2)) < 215).all()  # the white above the square is cropped


@pytest.mark.parametrize(("table", "inner"), [("csv", ""), ("txt", "img_align_celeba")])
def test_every_public_layout_gives_the_same_splits(folder, tmp_path, table, inner):
    make_folder(tmp_path, 100, table=table, inner=inner)
    expected, got = load("celeba_accessories", folder=folder), load("celeba_accessories", folder=tmp_path)
    assert [split.fingerprint() for split in got] == [split.fingerprint() for split in expected]


def test_the_folders_of_the_release_are_found(tmp_path):
    make_folder(tmp_path / "celeba", 30, partition=[0] * 20 + [2] * 10)
    for inner, name in (("Anno", "list_attr_celeba.txt"), ("Eval", "list_eval_partition.txt"), ("Img", "img_align_celeba")):
        (tmp_path / "celeba" / inner).mkdir()
        (tmp_path / "celeba" / name).rename(tmp_path / "celeba" / inner / name)
    test = load("celeba_accessories", folder=tmp_path).test
    assert indices_of(test.x).min() >= 20


def test_a_subset_in_an_npz_has_the_same_faces(folder, tmp_path):
    make_packed(tmp_path / "celeba_some.npz", 100)
    expected, got = load("celeba_accessories", folder=folder), load("celeba_accessories", folder=tmp_path)
    for split, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(split.labels, other.labels)
        np.testing.assert_array_equal(indices_of(split.x), indices_of(other.x))


@pytest.mark.parametrize("table", ["txt", "csv"])
def test_celebas_own_partition_takes_precedence(tmp_path, table):
    partition = [0] * 40 + [1] * 10 + [2] * 30
    make_folder(tmp_path, 80, table=table, partition=partition)
    train, test = load("celeba_accessories", folder=tmp_path, test=0.9)
    assert indices_of(train.x).max() < 50
    assert indices_of(train.x).max() >= 40
    assert indices_of(test.x).min() >= 50
    hats, glasses = np.bincount(test.target.labels)
    assert hats == glasses


def test_the_seed_determines_the_splits(folder):
    a, b, other = (load("celeba_accessories", folder=folder, size=16, seed=seed) for seed in (0, 0, 1))
    assert [split.fingerprint() for split in a] == [split.fingerprint() for split in b]
    assert len({split.fingerprint() for split in (*a, *other)}) == 4


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


def write_words(root):
    text = (root / "list_attr_celeba.txt").read_text()
    (root / "list_attr_celeba.txt").write_text(text.replace("  -1", "  no"))


def no_hats(root):
    lines = (root / "list_attr_celeba.txt").read_text().splitlines()
    lines[2:] = [" ".join([row.split()[0], *["-1"] * 40]) for row in lines[2:]]
    (root / "list_attr_celeba.txt").write_text("\n".join(lines))


def empty_table(root):
    (root / "list_attr_celeba.txt").write_text("")


def lose_table(root):
    (root / "list_attr_celeba.txt").unlink()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lose_table, "CelebA must be in .*celeba as img_align_celeba/ with .*; not found; place .*UNTWINE_DATA"),
        (lose_images, "images must be in .*img_align_celeba; there is no such folder"),
        (lose_one, r"list_attr_celeba.txt must list existing images; .*00000\d.jpg does not exist"),
        (damage_some, r"\d.jpg must be an image; it cannot be read"),
        (other_table, "must have the attribute Wearing_Hat; got Big_Nose, Young"),
        (ragged_table, "must have a file name and 40 numbers in every row; .*000003.jpg.* in row 3"),
        (write_words, "must have integers after each file name"),
        (no_hats, "must have training faces of every kind; got 0 with hat, 0 with eyeglasses"),
        (empty_table, "numbers in every row; got no rows"),
    ],
)
def test_missing_or_damaged_files_are_refused(tmp_path, damage, sentence):
    make_folder(tmp_path, 30)
    damage(tmp_path)
    with pytest.raises(ValueError, match=sentence) as error:
        load("celeba_accessories", folder=tmp_path)
    assert "\n" not in str(error.value)


def test_an_incomplete_npz_is_refused(tmp_path):
    path = tmp_path / "celeba_some.npz"
    make_packed(path, 30)
    arrays = dict(np.load(path))
    np.savez(path, **{name: array for name, array in arrays.items() if name != "offsets"})
    with pytest.raises(ValueError, match=r"must hold the arrays jpeg, offsets, .*; it lacks offsets"):
        load("celeba_accessories", folder=tmp_path)
    np.savez(path, **arrays | {"offsets": arrays["offsets"][:-1]})
    with pytest.raises(ValueError, match=r"must hold n filenames, n \+ 1 offsets .*\(30,\), \(30,\) and \(30, 40\)"):
        load("celeba_accessories", folder=tmp_path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match="damaged"):
        load("celeba_accessories", folder=tmp_path)


def test_n_test_faces_are_held_out_at_random_also_against_the_own_partition(folder, tmp_path):
    train, test = load("celeba_accessories", folder=folder, n_per_class=6, n_background=20, n_test=4)
    np.testing.assert_array_equal(np.bincount(train.target.labels), [6, 6])
    np.testing.assert_array_equal(np.bincount(test.target.labels), [4, 4])
    assert (len(train.background), len(test.background)) == (20, 8)
    assert not set(indices_of(train.x)) & set(indices_of(test.x))
    make_folder(tmp_path, 100, partition=np.where(np.arange(100) < 50, 0, 2))
    expected = load("celeba_accessories", folder=folder, n_test=4)
    assert [split.fingerprint() for split in load("celeba_accessories", folder=tmp_path, n_test=4)] == [
        split.fingerprint() for split in expected
    ]


def test_too_few_faces_for_n_test_reduce_all_numbers_with_a_sentence(folder):
    columns = attributes(100)
    rarer = min(
        ((columns[:, HAT] == 1) & (columns[:, GLASSES] == 0)).sum(), ((columns[:, HAT] == 0) & (columns[:, GLASSES] == 1)).sum()
    )
    with pytest.warns(UserWarning, match=rf"has {rarer} faces of the rarer label .* n_background=10000 and n_test=5000, so"):
        train, test = load("celeba_accessories", folder=folder, n_per_class=5000, n_background=10_000, n_test=5000)
    np.testing.assert_array_equal(np.bincount(test.target.labels), [rarer // 2] * 2)
    np.testing.assert_array_equal(np.bincount(train.target.labels), [rarer // 2] * 2)
    assert (len(test.background), len(train.background)) == (2 * (rarer // 2), rarer)
    with pytest.raises(ValueError, match="n_test must be"):
        load("celeba_accessories", folder=folder, n_test=0)
