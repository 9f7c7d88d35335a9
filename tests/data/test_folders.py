import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from untwine.data import load, read_samples

RNG = np.random.default_rng(0)


def image(path, colour=(10, 20, 30), size=(12, 10), mode="RGB"):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path)


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return path


def test_npz_with_columns_and_names(tmp_path):
    x = RNG.integers(0, 256, (4, 1, 8, 8), dtype=np.uint8)
    np.savez(
        tmp_path / "a.npz", x=x, groups=[0, 0, 1, 1], labels=[-1, -1, 0, 1], factors=np.ones((4, 1)),
        label_names=np.array(["old", "new"]), factor_names=np.array(["age"]),
    )  # fmt: skip
    samples = read_samples(tmp_path / "a.npz")
    np.testing.assert_array_equal(samples.x, x)
    np.testing.assert_array_equal(samples.groups, [0, 0, 1, 1])
    np.testing.assert_array_equal(samples.labels, [-1, -1, 0, 1])
    assert (samples.label_names, samples.factor_names) == (("old", "new"), ("age",))


def test_npz_with_target_and_background(tmp_path):
    np.savez(tmp_path / "a.npz", target=np.ones((3, 2)), background=np.zeros((2, 2)))
    samples = read_samples(str(tmp_path / "a.npz"))
    np.testing.assert_array_equal(samples.groups, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(samples.x[:, 0], samples.groups)
    np.savez(tmp_path / "b.npz", target_drug=np.ones((3, 2)), target_heat=np.full((1, 2), 2.0), background=np.zeros((2, 2)))
    samples = read_samples(tmp_path / "b.npz")
    assert samples.group_names == ("background", "drug", "heat")
    np.testing.assert_array_equal(samples.x[:, 0], samples.groups)


def test_npy(tmp_path):
    x = RNG.normal(size=(5, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", x)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").x, x)


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"y": np.ones((2, 2))}, "arrays must be x, or background and target .*; got y"),
        ({"target": np.ones((2, 2))}, "got target;"),
        ({"target": np.ones((2, 2)), "background": np.ones((2, 2)), "other": [1]}, "got target, background, other"),
        ({"x": np.ones((2, 2)), "label": [0, 1]}, "arrays besides x must be among groups, labels.*; got label; drop"),
        ({"x": np.ones((2, 2)), "labels": [0, 1, 2]}, "a.npz: labels must .* 2 "),
        ({"x": np.array([{}, {}])}, "never unpickled"),
        ({"x": np.ones((2, 2)), "labels": np.array(["a", None])}, "never unpickled"),
        (
            {"target": np.ones((2, 3)), "background": np.ones((2, 2))},
            r"a\.npz: target and background must have one shape and type",
        ),
        ({}, "got none"),
    ],
)
def test_a_bad_npz_is_refused(tmp_path, arrays, sentence):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=sentence):
        read_samples(tmp_path / "a.npz")


def test_a_bad_npy_is_refused(tmp_path):
    np.save(tmp_path / "objects.npy", np.array([{}, {}]))
    with pytest.raises(ValueError, match=r"objects.npy must hold plain arrays; got Python objects"):
        read_samples(tmp_path / "objects.npy")
    np.save(tmp_path / "short.npy", np.ones((20, 20)))
    (tmp_path / "short.npy").write_bytes((tmp_path / "short.npy").read_bytes()[:-9])
    with pytest.raises(ValueError, match="must hold complete arrays; it is damaged"):
        read_samples(tmp_path / "short.npy")
    (tmp_path / "other.npy").write_bytes(b"\x80\x04K\x01.")
    with pytest.raises(ValueError, match=r"np.save or np.savez; its content is of another kind"):
        read_samples(tmp_path / "other.npy")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04abc")
    with pytest.raises(ValueError, match="damaged"):
        read_samples(tmp_path / "cut.npz")
    np.save(tmp_path / "words.npy", np.array([["a"]]))
    with pytest.raises(TypeError, match=r"words.npy: x must be numbers; got an array of strings"):
        read_samples(tmp_path / "words.npy")


def test_csv_with_and_without_header(tmp_path):
    samples = read_samples(text(tmp_path / "a.csv", "1,2\n3,4.5\n\n-1e3,0\n"))
    np.testing.assert_array_equal(samples.x, [[1, 2], [3, 4.5], [-1000, 0]])
    assert samples.groups is None
    samples = read_samples(text(tmp_path / "b.csv", "\ufeffa,Group,b,label\r\n1,0,2,7\r\n3,1,4,5\r\n"))
    np.testing.assert_array_equal(samples.x, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(samples.groups, [0, 1])
    np.testing.assert_array_equal(samples.labels, [7, 5])


def test_csv_with_names_of_groups_and_labels(tmp_path):
    samples = read_samples(text(tmp_path / "a.csv", 'group,label,a\ndrug,"b, c",1\nbackground,,2\nheat,a,3\n'))
    assert samples.group_names == ("background", "drug", "heat")
    np.testing.assert_array_equal(samples.groups, [1, 0, 2])
    assert samples.label_names == ("a", "b, c")
    np.testing.assert_array_equal(samples.labels, [1, -1, 0])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "a.csv must have rows of numbers; it is empty"),
        ("\n  \n", "is empty"),
        ("a,b\n", "at least one row of numbers below its header"),
        ("a,b\n1,2\n3\n", "must have 2 columns in every line, as in the first; got 1 in line 3"),
        ("1,2\n3,4,5\n", "got 3 in line 2"),
        ("a,b\n1,2\n3,x\n", "must have a number in line 3, column 'b'; got 'x'"),
        ("1,2\n3,\n", r"values are missing in number 2 \(1 of 2\); fill them in"),
        ("a,2\n3,4\n", "it mixes them \\(a, 2\\); name all columns"),
        (",a\n0,1\n0,2\n", "column 1 has none; name it, or leave it out"),
        ("a,,b\n0,1,2\n", "column 2 has none; name it, or leave it out"),
        ("group,label\n0,1\n", "besides group and label"),
        ("group,groups,a\n0,1,2\n", "one column of groups; got two"),
        ("group,a\nx,1\ny,2\n", "names of which one is 'background'; got 'x', 'y'"),
        ("group,a\n0.5,1\n1,2\n", "a.csv: groups must be integers"),
        ("a,b\nnan,1\n", r"a.csv must have a value in every cell; values are missing in 'a' \(1 of 1\)"),
        ('a,b\n"1,2\n', "cannot be read"),
    ],
)
def test_a_bad_csv_is_refused(tmp_path, content, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_samples(text(tmp_path / "a.csv", content))


def test_a_csv_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes("gr\u00f6\u00dfe\n1\n".encode("latin-1"))
    with pytest.raises(ValueError, match="text in UTF-8"):
        read_samples(tmp_path / "a.csv")


def test_a_plain_folder_has_no_groups_and_is_sorted_by_name(tmp_path):
    for name, value in (("b.png", 2), ("a.bmp", 1), ("c.PNG", 3)):
        image(tmp_path / name, value, mode="L")
    text(tmp_path / "notes.txt", "not an image")
    samples = read_samples(tmp_path)
    assert samples.groups is None
    assert samples.shape == (1, 10, 12)
    np.testing.assert_array_equal(samples.x[:, 0, 0, 0], [1, 2, 3])


def test_a_folder_of_background_and_targets(tmp_path):
    image(tmp_path / "background" / "a.png", (1, 2, 3))
    image(tmp_path / "background" / "b.png", 4, mode="L")
    image(tmp_path / "target" / "c.png", (5, 6, 7, 255), mode="RGBA")
    samples = read_samples(tmp_path)
    assert samples.group_names == ("background", "target")
    np.testing.assert_array_equal(samples.groups, [0, 0, 1])
    np.testing.assert_array_equal(samples.x[:, :, 0, 0], [[1, 2, 3], [4, 4, 4], [5, 6, 7]])
    (tmp_path / "target").rename(tmp_path / "target_hat")
    image(tmp_path / "target_glasses" / "d.png", (8, 8, 8))
    samples = read_samples(tmp_path)
    assert samples.group_names == ("background", "glasses", "hat")
    np.testing.assert_array_equal(samples.groups, [0, 0, 1, 2])
    assert samples.x[2, 0, 0, 0] == 8


def test_a_folder_for_each_class_gives_labels(tmp_path):
    for name, greys in (("edges", (10, 20)), ("shoes", (30, 40, 50))):
        (tmp_path / name).mkdir()
        for i, grey in enumerate(greys):
            Image.fromarray(np.full((16, 16), grey, np.uint8)).save(tmp_path / name / f"{i}.png")
    (tmp_path / ".cache").mkdir()
    (tmp_path / "about.txt").write_text("no image")
    data = read_samples(tmp_path)
    assert data.label_names == ("edges", "shoes")
    assert data.labels.tolist() == [0, 0, 1, 1, 1]
    assert data.x[:, 0, 8, 8].tolist() == [10, 20, 30, 40, 50]
    assert data.groups is None
    (tmp_path / "boots").mkdir()
    with pytest.raises(ValueError, match=r"boots has no images .*; a folder must contain images, or .* for each class"):
        read_samples(tmp_path)


def test_size_takes_the_central_square(tmp_path):
    wide = np.zeros((20, 60), np.uint8)
    wide[:, 20:40] = 200
    Image.fromarray(wide).save(tmp_path / "a.png")
    Image.fromarray(wide.T).save(tmp_path / "b.png")
    samples = read_samples(tmp_path, size=10)
    assert samples.shape == (1, 10, 10)
    assert (samples.x == 200).all()
    assert (read_samples(tmp_path / "a.png", size=16).x == 200).all()


def spoil_by_mode(folder):
    Image.fromarray(np.zeros((10, 12), np.uint16)).save(folder / "z.png")


def spoil_by_transparency(folder):
    image(folder / "z.png", (1, 2, 3, 100), mode="RGBA")


def spoil_by_cutting(folder):
    Image.fromarray(RNG.integers(0, 256, (10, 12, 3), dtype=np.uint8)).save(folder / "z.png")
    (folder / "z.png").write_bytes((folder / "z.png").read_bytes()[:120])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "z.png").write_bytes(b"no"), "z.png must be an image; it cannot be read"),
        (spoil_by_cutting, "z.png must be an image; it cannot be read"),
        (spoil_by_mode, "z.png must have 8 bits per channel"),
        (spoil_by_transparency, "z.png must be opaque; it is partly transparent"),
        (
            lambda folder: image(folder / "z.png", size=(13, 10)),
            "z.png is 13 x 10 and a.png is 12 x 10; pass size=64 .*--data-set size=64",
        ),
        (lambda folder: image(folder / "z.png", size=(300, 10)), "sides from 8 to 128 pixels; got 300 x 10; pass size"),
        (lambda folder: image(folder / "background" / "z.png"), "has background/ but no target/"),
        (lambda folder: image(folder / "target_x" / "z.png"), "has target_x/ but no background/"),
    ],
)
def test_a_bad_folder_is_refused(tmp_path, spoil, sentence):
    image(tmp_path / "a.png")
    spoil(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        read_samples(tmp_path)


def test_images_of_16_bits_are_divided_by_65535(tmp_path):
    values = RNG.integers(0, 65536, (3, 10, 12), dtype=np.uint16)
    for name, one in zip("abc", values, strict=True):
        Image.fromarray(one).save(tmp_path / f"{name}.{'tif' if name == 'c' else 'png'}")
    samples = read_samples(tmp_path)
    np.testing.assert_allclose(samples.x[:, 0], values / 65535, atol=1e-7)
    resized = read_samples(tmp_path, size=8).x
    assert resized.dtype == np.float32
    assert 0 <= resized.min() < resized.max() <= 1


def test_an_image_beyond_the_limit_of_pillow_is_named(tmp_path):
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    image(tmp_path / "a.png")
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 14_000, 14_000, 8, 0, 0, 0, 0))
    (tmp_path / "slide.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )
    with pytest.raises(
        ValueError, match=r"slide\.png must have at most 178,956,970 pixels, the limit of Pillow; it has more; resize"
    ):
        read_samples(tmp_path, size=16)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            "a;b;c\n1,5;2\n",
            r"must have commas between its columns; its first line has semicolons, but not all lines have as many",
        ),
        (";".join(f"gene{i}" for i in range(3000)) + "\n" + ";".join(["1"] * 2999) + "\n", "its first line has semicolons"),
        (
            "a,kind\n1,T cell\n3,B cell\n",
            r"got text in 'kind' \('T cell'\); give each a role .*, or leave it out by drop=\[...\]",
        ),
        ("a,b\n1,2\n3," + "x" * 15_000 + "\n", r"line 3, column 'b'; got 'x+\.\.\.'; correct it\.$"),
        ("n" * 9000 + ",2\n1,2\n", r"it mixes them \(n+\.\.\., 2\)|it mixes them \(n+\.\.\. and 1 more\)"),
    ],
)
def test_what_is_wrong_in_a_table_is_said_in_a_short_sentence(tmp_path, content, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        read_samples(text(tmp_path / "a.csv", content))
    assert len(str(error.value).removeprefix(str(tmp_path))) < 300


def test_the_names_and_ids_of_a_table_are_read(tmp_path):
    samples = read_samples(text(tmp_path / "a.csv", "ID,b,group,a\nx1,1,0,2\nx2,3,1,4\n"))
    assert samples.feature_names == ("b", "a")
    assert samples.ids.tolist() == ["x1", "x2"]
    assert read_samples(text(tmp_path / "b.csv", "1,2\n3,4\n")).feature_names == ()


def test_empty_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="has no images"):
        read_samples(tmp_path)
    (tmp_path / "background").mkdir()
    image(tmp_path / "target" / "a.png")
    with pytest.raises(ValueError, match="background has no images"):
        read_samples(tmp_path)
    image(tmp_path / "background" / "a.png")
    image(tmp_path / "target_target" / "a.png")
    with pytest.raises(ValueError, match="must have target folders of different names; got target, target_target"):
        read_samples(tmp_path)


def test_bad_paths_and_sizes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="nowhere does not exist"):
        read_samples(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"a file that ends in .npz, .npy, .csv, .*; got .*a.pkl"):
        read_samples(text(tmp_path / "a.pkl", "x"))
    with pytest.raises(ValueError, match="size applies to images"):
        read_samples(text(tmp_path / "a.csv", "1,2\n"), size=32)
    with pytest.raises(ValueError, match="size must be an integer from 8 to 128; got 4"):
        read_samples(tmp_path, size=4)
    with pytest.raises(TypeError, match="path must be a str or Path; got 3"):
        read_samples(3)


def test_an_npz_with_a_split_keeps_it(tmp_path):
    x, split = np.arange(24.0).reshape(12, 2), np.where(np.arange(12) % 4 == 1, "test", "train")
    np.savez(tmp_path / "own.npz", x=x, labels=np.arange(12) % 3, split=split)
    train, test = load(tmp_path / "own.npz")
    np.testing.assert_array_equal(test.x, x[[1, 5, 9]])
    np.testing.assert_array_equal(train.x, np.delete(x, [1, 5, 9], 0))
    assert test.labels.tolist() == [1, 2, 0]
    assert len(read_samples(tmp_path / "own.npz")) == 12
    for options in ({"test": 0.5}, {"seed": 1}):
        with pytest.raises(ValueError, match="has its own split; test and seed must be left out"):
            load(tmp_path / "own.npz", **options)


@pytest.mark.parametrize("split", [np.repeat("train", 4), np.array(["train", "test"]), np.array([0, 1, 0, 1])], ids=str)
def test_a_wrong_split_is_refused(tmp_path, split):
    np.savez(tmp_path / "own.npz", x=np.ones((4, 2)), split=split)
    with pytest.raises(ValueError, match="split must be 'train' or 'test' for each of the 4 samples, and both must occur"):
        load(tmp_path / "own.npz")
