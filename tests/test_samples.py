import numpy as np
import pytest

from untwine import Samples

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (6, 3, 9, 12), dtype=np.uint8)


def test_x_is_kept_as_single_precision_or_bytes_and_inputs_stay_unchanged():
    vectors = RNG.normal(size=(4, 3))
    before = vectors.copy()
    samples = Samples(vectors)
    assert samples.x.dtype == np.float32
    np.testing.assert_array_equal(samples.x, before.astype(np.float32))
    np.testing.assert_array_equal(vectors, before)
    assert not samples.is_image
    assert Samples(IMAGES).x.dtype == np.uint8
    assert Samples(IMAGES).is_image
    assert Samples(IMAGES / 255).x.dtype == np.float32
    assert Samples(IMAGES).shape == (3, 9, 12)
    np.testing.assert_array_equal(Samples([[True, False], [False, False]]).x, [[1, 0], [0, 0]])


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.zeros((0, 3)), "at least one sample of one feature"),
        (np.zeros((3, 0)), "at least one sample of one feature"),
        (np.zeros(3), "shape \\(3,\\); reshape it"),
        (np.zeros((3, 8, 8)), "add a channel axis"),
        ([[1.0, np.nan], [0.0, 1.0]], "1 of 2 samples hold NaN or infinity"),
        ([[1.0, np.inf], [-np.inf, 1.0]], "2 of 2 samples hold NaN or infinity"),
        ([[1.0], [1.0, 2.0]], "samples differ in length"),
        ([[1e31]], "rescale the features"),
        (np.zeros((2, 3, 7, 8), np.uint8), "sides from 8 to 128"),
        (np.zeros((2, 3, 8, 129), np.uint8), "resize them"),
        (np.zeros((2, 32, 32, 3), np.uint8), "np.moveaxis"),
        (np.zeros((2, 5, 8, 8), np.uint8), "1 to 4 channels"),
        (np.full((2, 1, 8, 8), 1.5), "floats in \\[0, 1\\]; got float64 from 1.5 to 1.5"),
        (np.full((2, 1, 8, 8), 200), "astype\\('uint8'\\)"),
        (np.full((2, 1, 8, 8), -0.1), "rescale"),
        (np.full((2, 1, 8, 8), 200, np.uint16), "astype\\('uint8'\\)"),
        (
            np.full((2, 1, 8, 8), 3000, np.int16),
            "as floats, \\(x - low\\) / \\(high - low\\), with the same low and high for all",
        ),
        (np.full((2, 1, 8, 8), -5, np.int16), "got int16 from -5 to -5; rescale them to \\[0, 1\\] as floats"),
        (np.full((2, 1, 8, 8), 70_000), "rescale them to \\[0, 1\\] as floats"),
    ],
)
def test_bad_observations_raise_an_error(x, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples(x)


def test_images_of_16_bits_are_divided_by_65535():
    x = np.arange(2 * 64, dtype=np.uint16).reshape(2, 1, 8, 8) * 500
    samples = Samples(x)
    assert samples.x.dtype == np.float32
    np.testing.assert_allclose(samples.x, x / 65535, atol=1e-7)


@pytest.mark.parametrize("x", [[["a", "b"]], np.array([[{}]]), np.array([[1j]]), np.array([["2020-01-01"]], "datetime64[D]")])
def test_what_is_not_a_number_is_refused(x):
    with pytest.raises(TypeError, match=r"x must be numbers; got an array of (strings|objects|complex numbers|dates)"):
        Samples(x)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"groups": [0, 1]}, "groups must be one value for each of the 3 samples"),
        ({"groups": [0, 1, -1]}, "groups must be numbers from 0 up; got -1"),
        ({"groups": [0, 1, 0.5]}, "groups must be integers"),
        ({"groups": [0, 1, np.nan]}, "groups must be integers"),
        ({"groups": ["a", "b", "c"]}, "groups must be integers"),
        ({"groups": [0, 1, 2_000_000]}, "counted from 0"),
        ({"groups": [0, 1, 2], "group_names": ("a", "b")}, "group_names must be 3 different names"),
        ({"groups": [0, 1, 1], "group_names": ("a", "a")}, "group_names must be 2 different names"),
        ({"labels": [0, -2, 1]}, "labels must be numbers from -1 up"),
        ({"labels": [-1, -1, -1]}, "every label is -1"),
        ({"labels": ["a", "b"]}, "labels must be one value for each of the 3 samples"),
        ({"labels": ["a", "b", "b"], "label_names": ("a", "b")}, "drop label_names"),
        ({"labels": np.array(["a", 1, None], object)}, "labels must be integers"),
        ({"factors": np.zeros((2, 1))}, "factors must have shape \\(3, k\\)"),
        ({"factors": np.zeros((3, 0))}, "factors must have shape \\(3, k\\)"),
        ({"factors": [0, 1, np.inf]}, "got infinities"),
        ({"factors": np.zeros((3, 2)), "factor_names": ("a",)}, "factor_names must be 2 different names"),
    ],
)
def test_bad_columns_raise_an_error(columns, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples(np.zeros((3, 2)), **columns)


def test_columns_of_the_wrong_type_raise_an_error():
    with pytest.raises(TypeError, match="factors must be numbers; got strings"):
        Samples(np.zeros((2, 2)), factors=["a", "b"])
    with pytest.raises(TypeError, match="wrap it in a tuple"):
        Samples(np.zeros((2, 2)), groups=[0, 1], group_names="ab")


@pytest.mark.parametrize("kind", [str, bytes, object])
def test_string_labels_name_themselves(kind):
    labels = np.array(["cat", "ant", "cat"]).astype("S" if kind is bytes else kind)
    samples = Samples(np.zeros((3, 2)), labels=labels)
    assert samples.label_names == ("ant", "cat")
    np.testing.assert_array_equal(samples.labels, [1, 0, 1])


def test_groups_may_be_truth_values():
    samples = Samples(np.zeros((3, 2)), groups=np.array([False, True, True]))
    np.testing.assert_array_equal(samples.groups, [0, 1, 1])
    assert len(samples.target) == 2


def test_one_factor_becomes_a_column_and_names_are_numbered():
    samples = Samples(np.zeros((3, 2)), factors=[1, 2, 3], groups=[0, 1, 2], labels=[0, 2, -1])
    assert samples.factors.shape == (3, 1)
    assert samples.factor_names == ("factor 0",)
    assert samples.group_names == ("background", "target 1", "target 2")
    assert samples.label_names == ("0", "1", "2")


def test_an_index_keeps_samples_and_columns_together():
    x = np.arange(12.0).reshape(6, 2)
    groups, factors = [0, 1, 1, 0, 1, 0], np.arange(6)
    samples = Samples(x, groups=groups, labels=[0, 1, 2, 0, 1, 2], factors=factors)
    for index in (slice(1, 4), [1, 2, 3], np.array([False, True, True, True, False, False])):
        some = samples[index]
        np.testing.assert_array_equal(some.x, x[1:4])
        np.testing.assert_array_equal(some.groups, [1, 1, 0])
        np.testing.assert_array_equal(some.labels, [1, 2, 0])
        np.testing.assert_array_equal(some.factors[:, 0], [1, 2, 3])
        assert some.label_names == samples.label_names
    np.testing.assert_array_equal(samples[-1].x, x[5:])
    np.testing.assert_array_equal(samples.target.factors[:, 0], [1, 2, 4])
    np.testing.assert_array_equal(samples.background.factors[:, 0], [0, 3, 5])
    with pytest.raises(ValueError, match="at least one of 6 samples; it chose none"):
        samples[[]]
    with pytest.raises(IndexError):
        samples[6]


def test_one_sided_or_missing_groups_raise_an_error():
    with pytest.raises(ValueError, match="have no groups"):
        _ = Samples(np.zeros((2, 2))).target
    with pytest.raises(ValueError, match="have no background: all 2 are"):
        _ = Samples(np.zeros((2, 2)), groups=[1, 1]).background
    with pytest.raises(ValueError, match="have no target: all 2 are"):
        _ = Samples(np.zeros((2, 2)), groups=[0, 0]).target


def test_contrast_puts_the_background_first_and_fills_what_is_unknown():
    target = Samples(np.ones((3, 2)), labels=["b", "a", "b"], factors=[[1], [2], [3]], factor_names=("age",))
    data = Samples.contrast(target=target, background=np.zeros((2, 2)))
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(data.labels, [-1, -1, 1, 0, 1])
    np.testing.assert_array_equal(data.factors[:, 0], [np.nan, np.nan, 1, 2, 3])
    assert (data.label_names, data.factor_names) == (("a", "b"), ("age",))
    np.testing.assert_array_equal(data.target.labels, [1, 0, 1])
    np.testing.assert_array_equal(data.background.labels, [-1, -1])
    assert data.background.label_names == ("a", "b")


def test_contrast_joins_labels_by_name():
    target = Samples(np.ones((2, 2)), labels=["x", "y"])
    background = Samples(np.zeros((2, 2)), labels=["y", "z"])
    data = Samples.contrast(target=target, background=background)
    assert [data.label_names[label] for label in data.labels] == ["y", "z", "x", "y"]


@pytest.mark.parametrize("many", [[np.ones((3, 2)), np.full((1, 2), 2.0)], {"a": np.ones((3, 2)), "b": np.full((1, 2), 2.0)}])
def test_several_targets_stay_apart(many):
    data = Samples.contrast(target=many, background=np.zeros((2, 2)))
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(data.x[:, 0], data.groups)
    assert len(data.target) == 4
    assert data.group_names[1:] == (tuple(many) if isinstance(many, dict) else ("target 1", "target 2"))


def test_a_target_given_as_nested_lists_is_one_target():
    data = Samples.contrast(target=[[1, 2], [3, 4]], background=[[0, 0]])
    assert data.group_names == ("background", "target")
    np.testing.assert_array_equal(data.x, [[0, 0], [1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("target", "background", "sentence"),
    [
        ({}, np.zeros((2, 2)), "at least one target"),
        ({"background": np.zeros((2, 2))}, np.zeros((2, 2)), "another name"),
        (np.zeros((2, 3)), np.zeros((2, 2)), "vectors of 2, 'target' has vectors of 3"),
        (IMAGES / 255, IMAGES, "uint8.*float32"),
        ([[[1, 2], [3]]], np.zeros((2, 2)), "^target 1: x must be one rectangular array"),
        ([[np.nan, 0]], np.zeros((2, 2)), "^target: x must be finite"),
        (np.zeros((2, 2)), np.zeros((0, 2)), "^background: x must hold at least one sample"),
        (
            Samples(np.zeros((1, 2)), factors=[[1]], factor_names=("a",)),
            Samples(np.zeros((1, 2)), factors=[[1]], factor_names=("b",)),
            "must have the same factors",
        ),
    ],
)
def test_bad_contrasts_raise_an_error(target, background, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples.contrast(target=target, background=background)


def test_the_fingerprint_follows_every_value_and_column():
    x = RNG.normal(size=(4, 3))
    base = Samples(x, groups=[0, 0, 1, 1])
    assert base.fingerprint() == Samples(x.copy(), groups=[0, 0, 1, 1]).fingerprint()
    changed = x.copy()
    changed[3, 2] += 1
    others = [
        Samples(changed, groups=[0, 0, 1, 1]),
        Samples(x, groups=[0, 1, 1, 1]),
        Samples(x),
        Samples(x, labels=[0, 0, 1, 1]),
    ]
    others += [Samples(x.reshape(2, 6)), base[::-1], Samples(x, groups=[0, 0, 1, 1], factors=x)]
    assert len({base.fingerprint(), *(other.fingerprint() for other in others)}) == 8


def test_repr_shows_what_is_there():
    text = repr(Samples(IMAGES, groups=[0, 0, 1, 1, 1, 2], labels=[0, 1, 2, 0, 1, 2], factors=np.zeros((6, 1))))
    assert text == ("Samples(6 images of 3x9x12 (uint8): background 2, target 1 3, target 2 1; 3 classes; factors factor 0)")


def test_masks_travel_with_their_samples():
    x, masks = np.zeros((4, 1, 8, 8), np.uint8), np.arange(4 * 64).reshape(4, 8, 8) % 3 == 0
    samples = Samples(x, masks=masks.astype(np.uint8))
    assert samples.masks.dtype == bool
    np.testing.assert_array_equal(samples[[2, 0]].masks, masks[[2, 0]])
    joined = Samples.contrast(target=samples, background=x[:2])
    np.testing.assert_array_equal(joined.target.masks, masks)
    assert not joined.background.masks.any()
    assert "masks" in repr(joined)
    # Nothing is fitted to masks: runs on the same images without masks stay valid.
    assert joined.fingerprint() == Samples.contrast(target=x, background=x[:2]).fingerprint()
    assert Samples.contrast(target=x, background=x).masks is None
    with pytest.raises(ValueError, match="every target must have masks where one has; 'b' has none"):
        Samples.contrast(target={"a": samples, "b": x}, background=x)


def test_masks_of_vectors_say_which_features_respond():
    masks = np.array([[True, False, False], [False, False, True]])
    samples = Samples(np.ones((2, 3)), masks=masks)
    joined = Samples.contrast(target=samples, background=np.zeros((4, 3)))
    assert joined.masks.shape == (6, 3)
    np.testing.assert_array_equal(joined.target.masks, masks)
    assert not joined.background.masks.any()


@pytest.mark.parametrize(
    ("x", "masks", "sentence"),
    [
        (np.zeros((2, 1, 8, 8)), np.zeros((2, 8, 9)), r"masks must have shape \(n, H, W\) of images"),
        (np.zeros((2, 3)), np.zeros((2, 4)), r"masks must have .* or \(n, d\) of vectors; got \(2, 4\) and x \(2, 3\)"),
        (np.zeros((2, 1, 8, 8)), np.full((2, 8, 8), 4), "masks must be 0 or 1 at every pixel"),
    ],
)
def test_masks_of_another_shape_or_with_other_values_are_refused(x, masks, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples(x, masks=masks)


def test_sources_travel_with_their_samples():
    samples = Samples(np.zeros((4, 2)), sources=["b", "a", "b", "c"])
    assert samples.sources.dtype == np.int64
    assert (samples.sources.tolist(), samples.source_names) == ([1, 0, 1, 2], ("a", "b", "c"))
    assert samples[[3, 0]].sources.tolist() == [2, 1]
    assert samples[[3, 0]].source_names == ("a", "b", "c")
    assert repr(samples) == "Samples(4 vectors of 2; 3 sources)"
    assert Samples(np.zeros((2, 2)), sources=[10**12, -3]).sources.tolist() == [10**12, -3]
    # Nothing is fitted to sources: runs from before there were any stay valid.
    assert samples.fingerprint() == Samples(np.zeros((4, 2))).fingerprint()


def test_the_same_source_in_target_and_background_is_one():
    x = np.zeros((3, 2))
    joined = Samples.contrast(
        target=Samples(x, sources=["anna", "bert", "anna"]), background=Samples(x, sources=["bert", "c", "c"])
    )
    names = [joined.source_names[i] for i in joined.sources]
    assert names == ["bert", "c", "c", "anna", "bert", "anna"]
    joined = Samples.contrast(target=Samples(x, sources=[7, 8, 8]), background=Samples(x, sources=[8, 1, 2]))
    assert joined.sources.tolist() == [8, 1, 2, 7, 8, 8]
    # Samples of a set without sources are a source each.
    joined = Samples.contrast(target={"a": Samples(x, sources=[7, 8, 8]), "b": x}, background=x)
    assert len(set(joined.sources)) == 2 + 3 + 3
    joined = Samples.contrast(target=Samples(x, sources=["p", "q", "q"]), background=x)
    assert len(set(joined.sources)) == 2 + 3
    assert Samples.contrast(target=x, background=x).sources is None


@pytest.mark.parametrize(
    ("sources", "names", "sentence"),
    [
        ([1, 2], (), r"sources must be one value for each of the 3 samples of x; got shape \(2,\)"),
        ([0.5, 1, 2], (), "sources must be integers or strings; got float64 with other values; number or name them"),
        ([0, 1, 2], ("a", "b"), "sources must be positions in source_names, from 0 to 1; got 0 to 2"),
        (["a", "b", "b"], ("a", "b"), "source_names goes with integer sources; the sources are strings; drop source_names"),
    ],
)
def test_sources_of_another_shape_or_type_are_refused(sources, names, sentence):
    with pytest.raises(ValueError, match=sentence):
        Samples(np.zeros((3, 2)), sources=sources, source_names=names)
