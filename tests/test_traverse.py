"""Traversals of single latents of methods whose answer is known."""

import numpy as np
import pytest
from known_methods import SIDE, Halves, Whole, images

import untwine as un
from untwine import manipulate
from untwine.evaluation.gallery import gallery
from untwine.latents import Latents
from untwine.manipulate import traverse_codes
from untwine.samples import Samples

RNG = np.random.default_rng(0)


class Weighted:
    """A method of vectors whose decoder weights the codes: the second counts most, the third not at all."""

    name, shape_ = "weighted", (3,)
    blocks = {"z": 3}  # noqa: RUF012
    weights = np.array([1.0, 5.0, 0.0])

    def encode(self, x):
        return Latents({"z": np.asarray(x, dtype=np.float64)})

    def decode(self, latents):
        return latents["z"] * self.weights


CODES = RNG.uniform(-1, 1, size=(500, 3))


def test_each_latent_goes_through_its_own_range_and_all_else_stays():
    codes = CODES * [1, 10, 100] + [0, 3, 0]
    start = Latents({"z": [[0.1, 0.2, 0.3]], "rest": [[7.0]]})
    result = traverse_codes(lambda z: z.array(), start, codes, "z", 5)
    assert result.latents.tolist() == [2, 1, 0]  # by how far each goes
    for row, values, i in zip(result.samples, result.values, result.latents, strict=True):
        np.testing.assert_allclose(values, np.linspace(*np.quantile(codes[:, i], [0.01, 0.99]), 5))
        np.testing.assert_array_equal(row[:, i], values)
        others = [j for j in range(4) if j != i]
        np.testing.assert_array_equal(row[:, others], np.tile([[0.1, 0.2, 0.3, 7.0]], (5, 1))[:, others])


def test_what_changes_most_comes_first_whatever_the_scale_of_the_codes():
    result = manipulate.traverse(Weighted(), CODES[:1], CODES, steps=4)
    assert result.latents.tolist() == [1, 0, 2]
    np.testing.assert_allclose(result.change, [np.var(row, axis=0).mean() for row in result.samples])
    assert result.change[2] == 0
    assert manipulate.traverse(Weighted(), CODES[:1], CODES, "z", most=1).latents.tolist() == [1]


def test_chosen_latents_come_in_the_order_given():
    every = manipulate.traverse(Weighted(), CODES[:1], CODES, steps=4)
    chosen = manipulate.traverse(Weighted(), CODES[:1], CODES, steps=4, latents=[2, 1])
    assert chosen.latents.tolist() == [2, 1]
    for name in ("samples", "values", "change"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(every, name)[[2, 0]])
    between = manipulate.traverse(Weighted(), CODES[:1], steps=3, ends=(-2, 2), latents=[0])
    np.testing.assert_array_equal(between.values, [[-2, 0, 2]])
    assert between.latents.tolist() == [0]


def test_a_traversal_of_a_fitted_method_begins_from_its_sample():
    data = un.load("toy_contrast", n_target=60, n_background=60).train
    method = un.ContrastivePCA(n_common=3, n_salient=2).fit(data)
    x = data.target.x
    result = manipulate.traverse(method, x[:1], x, steps=3)  # the salient block where there are two
    assert result.samples.shape == (2, 3, 20)
    again = method.encode(result.samples[0])
    np.testing.assert_allclose(again.common, np.repeat(method.encode(x[:1]).common, 3, axis=0), atol=1e-4)
    np.testing.assert_allclose(again.salient[:, result.latents[0]], result.values[0], atol=1e-4)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: manipulate.traverse(m, CODES[:2], CODES), r"x must be one sample to start from; got 2; pass x\[:1\]"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, "salient"), "block must be 'z'; got 'salient'"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, steps=1), "steps must be an integer of at least 2"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, most=0), "most must be an integer of at least 1"),
        (lambda m: manipulate.traverse(m, CODES[0], CODES), r"pass x\[None\]"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, latents=[3]), r"must be different numbers from 0 to 2; got \[3\]"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, latents=[1, 1]), r"different numbers from 0 to 2; got \[1, 1\]"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, latents=[]), r"different numbers from 0 to 2; got \[\]"),
        (lambda m: manipulate.traverse(m, CODES[:1], CODES, most=1, latents=[1]), "takes most or latents; got both"),
    ],
)
def test_bad_input_raises_an_error(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(Weighted())


# in the gallery


def test_the_gallery_traverses_each_latent_of_each_block():
    g = gallery(Halves(), images())
    half = SIDE // 2
    for block, moving, still in (("common", np.s_[:half], np.s_[half:]), ("salient", np.s_[half:], np.s_[:half])):
        grid = g.traversals[block].images
        assert grid.dtype == np.uint8
        assert grid.shape == (4, 8, 1, SIDE, SIDE)
        for row, i in zip(grid, g.traversals[block].latents, strict=True):
            assert (row[:, 0, still] == row[0, 0, still]).all()
            column = row[:, 0, moving][:, 0].astype(int)
            changed = np.ptp(column, axis=0) > 0
            assert np.flatnonzero(changed).tolist() == [2 * i, 2 * i + 1]
            assert (np.diff(column[:, 2 * i]) > 0).all()


def test_the_gallery_has_mean_std_and_information_of_each_latent():
    data = images(2_000, 50)
    g = gallery(Halves(), data)
    codes = Halves().encode(data.target.x)
    common = g.latents["common"]
    np.testing.assert_allclose([common.mean, common.std], [codes.common.mean(0), codes.common.std(0)], atol=1e-6)
    assert g.factor_names == ("left", "right")
    information = common.information
    assert min(information[0, 0], information[1, 1]) > 0.8
    others = (information[0, 1], information[1, 0], information[2:].max(), g.latents["salient"].information.max())
    assert max(others) < 0.1


def test_unknown_and_constant_factors_are_left_out_of_the_gallery():
    x = RNG.normal(size=(80, 2))
    factors = np.column_stack([x[:, 0], np.full(80, np.nan), np.ones(80)])
    factors[:10, 0] = np.nan
    g = gallery(Whole(), Samples(x, factors=factors, factor_names=("a", "unknown", "constant")))
    assert g.factor_names == ("a",)
    assert g.latents["z"].information.shape == (2, 1)
    assert g.traversals == {}
    alone = gallery(Whole(), Samples(x, factors=factors[:, 1:], factor_names=("unknown", "constant")))
    assert alone.latents["z"].information is None
