import copy

import numpy as np
import pytest

from untwine import Latents

RNG = np.random.default_rng(0)


def codes(n=4, common=3, salient=2, dtype=np.float32):
    return Latents(
        {"common": RNG.normal(size=(n, common)).astype(dtype), "salient": RNG.normal(size=(n, salient)).astype(dtype)}
    )


def test_blocks_by_name_and_attribute():
    z = Latents({"class": [[1.0], [2.0]], "content": [[3.0, 4.0], [5.0, 6.0]]})
    assert z["class"] is z.class_
    assert list(z) == ["class", "content"]
    assert (len(z), z.n_samples) == (2, 2)
    np.testing.assert_array_equal(z.array(), [[1, 3, 4], [2, 5, 6]])
    assert repr(z) == "Latents(2 samples: class 1, content 2)"
    with pytest.raises(AttributeError, match="class, content, but not 'salient'"):
        _ = z.salient
    with pytest.raises(KeyError, match="but not 'salient'"):
        z["salient"]


def test_latents_do_not_follow_the_array_they_were_created_from():
    array = np.zeros((2, 2))
    z = Latents({"z": array})
    array[:] = 1
    assert (z["z"] == 0).all()


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ({}, "at least one block"),
        ({"a": [1.0, 2.0]}, "'a' must be numbers of shape \\(n, width\\)"),
        ({"a": [["x"]]}, "'a' must be numbers"),
        ({"a": [[1.0], [1.0, 2.0]]}, "'a' must be one rectangular array"),
        ({"a": [[np.nan]]}, "'a' must be finite codes"),
        ({"a": [[1.0]], "b": [[1.0], [2.0]]}, "as many samples in every block; got {'a': 1, 'b': 2}"),
    ],
)
def test_bad_blocks_raise_an_error(blocks, sentence):
    with pytest.raises(ValueError, match=sentence):
        Latents(blocks)


def test_cross_gives_every_sample_every_block_of_the_other():
    a, b = codes(n=2), codes(n=3)
    crossed = a.cross(b, "salient")
    np.testing.assert_array_equal(crossed.common.reshape(2, 3, 3), np.repeat(a.common[:, None], 3, axis=1))
    np.testing.assert_array_equal(crossed.salient.reshape(2, 3, 2), np.repeat(b.salient[None], 2, axis=0))


def test_take_keeps_blocks_together():
    z = codes()
    for index in ([2, 0], np.array([2, 0])):
        np.testing.assert_array_equal(z.take(index).array(), z.array()[[2, 0]])
    np.testing.assert_array_equal(z.take(slice(1, 3)).array(), z.array()[1:3])
    assert z.take(-1).n_samples == 1
    np.testing.assert_array_equal(z.take(-1).common, z.common[3:])


def test_swap_moves_one_block_only_and_twice_is_nothing():
    a, b = codes(), codes()
    swapped = a.swap(b, "salient")
    np.testing.assert_array_equal(swapped.salient, b.salient)
    np.testing.assert_array_equal(swapped.common, a.common)
    assert swapped.swap(a, "salient") == a
    assert swapped != a
    np.testing.assert_array_equal(a.swap(b.take([1]), "salient").salient, np.repeat(b.salient[1:2], 4, axis=0))


def test_remove_writes_the_neutral_value():
    z = Latents({"common": np.ones((2, 3)), "salient": np.ones((2, 2))}, neutral={"salient": [5.0, 7.0]})
    np.testing.assert_array_equal(z.remove("salient").salient, [[5, 7], [5, 7]])
    np.testing.assert_array_equal(z.remove("common").common, np.zeros((2, 3)))
    np.testing.assert_array_equal(z.remove("salient").common, z.common)
    np.testing.assert_array_equal(z.take([0]).swap(z.take([1]), "common").remove("salient").salient, [[5, 7]])
    np.testing.assert_array_equal(Latents({"s": np.ones((2, 2))}, neutral={"s": 3}).remove("s")["s"], np.full((2, 2), 3))


@pytest.mark.parametrize("neutral", [{"s": [1.0, 2.0, 3.0]}, {"s": np.nan}, {"other": 0}])
def test_bad_neutral_values_raise_an_error(neutral):
    with pytest.raises(ValueError, match=r"neutral value of 's' must be a finite number, or 2|but not 'other'"):
        Latents({"s": np.ones((1, 2))}, neutral=neutral)


def test_traverse_changes_one_dimension_of_one_block():
    z = codes(n=1)
    traversed = z.traverse("salient", -1, [-1, 0, 2])
    np.testing.assert_array_equal(traversed.salient[:, 1], [-1, 0, 2])
    np.testing.assert_array_equal(traversed.salient[:, 0], np.repeat(z.salient[:, 0], 3))
    np.testing.assert_array_equal(traversed.common, np.repeat(z.common, 3, axis=0))


def test_interpolate_is_the_straight_line_and_can_hold_a_block():
    a, b = codes(n=1), codes(n=1)
    line = a.interpolate(b, 5)
    assert line.take([0]) == a
    assert line.take([4]) == b
    np.testing.assert_allclose(line.array()[2], (a.array() + b.array())[0] / 2, rtol=1e-6)
    np.testing.assert_allclose(np.diff(line.array(), n=2, axis=0), 0, atol=1e-6)
    half = a.interpolate(b, 3, block="salient")
    np.testing.assert_array_equal(half.common, np.repeat(a.common, 3, axis=0))
    np.testing.assert_array_equal(half.salient[-1:], b.salient)
    assert half.common.dtype == np.float32


@pytest.mark.parametrize(
    ("action", "sentence"),
    [
        (lambda z: z.swap(codes(), "class"), "but not 'class'"),
        (lambda z: z.swap(Latents({"common": np.ones((4, 3))}), "salient"), "blocks common, but not 'salient'"),
        (lambda z: z.swap(codes(n=3), "salient"), "swap needs 'salient' codes of shape \\(4, 2\\), or of a single sample"),
        (lambda z: z.swap(codes(salient=1), "salient"), "swap needs 'salient'"),
        (lambda z: z.remove("class"), "but not 'class'"),
        (lambda z: z.traverse("common", 0, [1]), "traverse needs the codes of one sample; got 4"),
        (lambda z: z.take([0]).traverse("common", 3, [1]), "traverse needs a dimension of 'common' below 3"),
        (lambda z: z.take([0]).traverse("none", 0, [1]), "but not 'none'"),
        (lambda z: z.interpolate(z, 3), "interpolate needs one sample on each side; got 4 and 4"),
        (lambda z: z.take([0]).interpolate(z.take([1]), 1), "at least 2 steps"),
        (lambda z: z.take([0]).interpolate(codes(n=1, salient=1), 3), "interpolate needs 'salient' codes of one width"),
        (lambda z: z.take([0]).interpolate(Latents({"common": np.ones((1, 3))}), 3), "but not 'salient'"),
        (lambda z: z.take([0]).interpolate(z.take([1]), 3, block="none"), "but not 'none'"),
    ],
)
def test_what_cannot_be_done_raises_an_error(action, sentence):
    with pytest.raises(ValueError, match=sentence):
        action(codes())


def test_actions_leave_the_latents_alone_and_copies_are_equal():
    z = codes(n=1)
    before = copy.deepcopy(z)
    z.remove("salient").salient[:] = 9
    z.traverse("common", 0, [9])
    z.swap(codes(n=1), "common")
    z.interpolate(codes(n=1), 2)
    assert z == before
    assert z != Latents({"common": z.common})
    assert z != "codes"


def several(n=3, start=0.0):
    """Codes of a method with a salient block for each of two targets."""
    codes = start + np.arange(6.0 * n).reshape(n, 6)
    return Latents({"common": codes[:, :1], "salient_a": codes[:, 1:3], "salient_b": codes[:, 3:]}, {"salient_b": [7, 8, 9]})


def test_salient_stands_for_the_blocks_of_all_targets():
    z = several()
    np.testing.assert_array_equal(z["salient"], np.hstack([z.salient_a, z.salient_b]))
    np.testing.assert_array_equal(z.salient, z["salient"])
    assert "salient" in z
    assert list(z) == ["common", "salient_a", "salient_b"]
    without = z.remove("salient")
    np.testing.assert_array_equal(without.salient, np.tile([0, 0, 7, 8, 9], (3, 1)))
    np.testing.assert_array_equal(without.common, z.common)
    np.testing.assert_array_equal(z.remove("salient_a").salient_b, z.salient_b)
    assert (z.remove("salient_a").salient_a == 0).all()


def test_all_salient_blocks_are_swapped_traversed_and_interpolated_together():
    z, w = several(), several(start=100.0)
    swapped = z.swap(w, "salient")
    assert swapped == z.swap(w, "salient_a").swap(w, "salient_b")
    assert z.swap(Latents({"salient": w.salient}), "salient") == swapped
    np.testing.assert_array_equal(z.cross(w, "salient").salient[:3], w.salient)
    path = z.take([0]).traverse("salient", 3, [-1.0, 1.0])
    np.testing.assert_array_equal(path.salient_b[:, 1], [-1, 1])
    np.testing.assert_array_equal(path.salient_a, np.repeat(z.salient_a[:1], 2, axis=0))
    between = z.take([0]).interpolate(w.take([0]), 3, "salient")
    np.testing.assert_allclose(between.salient[1], (z.salient[0] + w.salient[0]) / 2)
    np.testing.assert_array_equal(between.common, np.repeat(z.common[:1], 3, axis=0))
    with pytest.raises(ValueError, match="have the blocks common, salient_a, salient_b, salient, but not 'class'"):
        z.remove("class")
