"""Likelihoods of counts: expected counts at library sizes, integers alone, and what the data teaches."""

import warnings

import numpy as np
import pytest
import torch
from small import small

import untwine as un
from untwine import Latents, Samples
from untwine.methods import METHODS
from untwine.methods.shared.gaussian_vae import GaussianVAE
from untwine.runs.compatibility import LIKELIHOODS_OF_COUNTS, to_former

VAES = tuple(name for name, method in METHODS.items() if issubclass(method, GaussianVAE))
KINDS = ("negative_binomial", "zero_inflated")


def counts(n=90, genes=12, seed=0, zeros=0.0, dispersion=5.0):
    """Cells of two types and of library sizes around 300; half are targets."""
    rng = np.random.default_rng(seed)
    profiles = np.exp(rng.normal(size=(2, genes)))
    kind, depth = np.arange(n) % 2, np.exp(rng.normal(np.log(300), 0.4, n))
    share = profiles[kind] / profiles[kind].sum(1, keepdims=True)
    x = rng.poisson(rng.gamma(dispersion, depth[:, None] * share / dispersion))
    x[rng.random(x.shape) < zeros] = 0
    return Samples(x.astype("float32"), groups=(np.arange(n) % 3 > 0).astype(int), factors=kind[:, None].astype(float))


def test_all_vaes_of_the_catalogue_are_listed_and_their_option_changes_nothing_that_was_saved():
    assert sorted(VAES) == sorted(LIKELIHOODS_OF_COUNTS)
    for name in VAES:
        assert "library" not in to_former(name, METHODS[name]().get_params())
        assert "library" in to_former(name, METHODS[name](library="learned").get_params())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", VAES)
def test_expected_counts_add_up_to_the_library_size(name, kind, tmp_path):
    data = counts()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # also no advice to take logarithms
        method = small(name, likelihood=kind).fit(data, out=tmp_path / "run")
    z = method.encode(data)
    totals = data.x.sum(1)
    np.testing.assert_array_equal(z.conditions["library_size"], totals)
    expected = method.decode(z)
    assert (expected >= 0).all()
    if kind == "negative_binomial":
        np.testing.assert_allclose(expected.sum(1), totals, rtol=1e-4)
        by_hand = Latents(dict(z))
        np.testing.assert_allclose(method.decode(by_hand).sum(1), np.median(totals), rtol=1e-4)
        np.testing.assert_allclose(method.decode(by_hand, library_size=1e4).sum(1), 1e4, rtol=1e-4)
        np.testing.assert_allclose(method.decode(z, library_size=totals + 1).sum(1), totals + 1, rtol=1e-4)
    else:
        assert (expected.sum(1) < totals).all()
    again = un.load_method(tmp_path / "run")
    np.testing.assert_array_equal(again.decode(again.encode(data)), expected)


def test_latents_keep_the_library_size_of_their_sample_whatever_is_done_with_the_codes():
    data = counts()
    method = small("mm_cvae", likelihood="negative_binomial").fit(data)
    a, b = method.encode(data[:5]), method.encode(data[5:10])
    totals = data.x[:5].sum(1)
    for changed in (a.swap(b, "salient"), a.remove("salient"), a.take(slice(5))):
        np.testing.assert_allclose(method.decode(changed).sum(1), totals, rtol=1e-4)
    np.testing.assert_allclose(method.decode(a.take([3, 3, 0])).sum(1), totals[[3, 3, 0]], rtol=1e-4)
    np.testing.assert_allclose(method.decode(a.take([1]).interpolate(b.take([2]), 4)).sum(1), totals[1], rtol=1e-4)
    np.testing.assert_allclose(method.decode(a.take([2]).traverse("salient", 0, [-1, 1])).sum(1), totals[2], rtol=1e-4)
    np.testing.assert_allclose(method.decode(a.cross(b, "salient")).sum(1), np.repeat(totals, 5), rtol=1e-4)


@pytest.mark.parametrize(
    ("x", "match"),
    [
        (counts().x + 0.5, r"needs x of non-negative integers; 1080 of 1080 values are not, such as [\d.]+; pass the raw"),
        (-counts().x - 1, "needs x of non-negative integers"),
        (np.zeros((20, 3, 8, 8), np.uint8), r"needs vectors \(n, d\); got images of shape"),
    ],
)
def test_what_is_no_count_is_refused_before_training(x, match):
    with pytest.raises(ValueError, match=match):
        small("vae", likelihood="negative_binomial").fit(x)


def test_encode_refuses_negative_numbers_and_decode_wrong_library_sizes():
    data = counts()
    method = small("vae", likelihood="negative_binomial").fit(data)
    with pytest.raises(ValueError, match="needs counts; got negative numbers"):
        method.encode(-data.x)
    z = method.encode(data)
    for wrong in (0, -2.0, np.nan, [1.0, 2.0]):
        with pytest.raises(ValueError, match="library_size must be a positive number, or one for each of the 90 samples"):
            method.decode(z, library_size=wrong)
    plain = small("vae").fit(np.log1p(data.x))
    with pytest.raises(ValueError, match="library_size is of counts"):
        plain.decode(plain.encode(np.log1p(data.x)), library_size=5)


def test_counts_without_a_likelihood_of_counts_get_the_advice():
    x = np.random.default_rng(0).poisson(np.random.default_rng(1).gamma(0.2, 20, size=(40, 6)))
    with pytest.warns(UserWarning, match="choose likelihood='negative_binomial' where the method has it") as caught:
        small("vae").fit(x)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small("vae", likelihood="negative_binomial").fit(x)


def test_the_dispersion_of_the_data_is_learned():
    """Counts of one mean profile: what is left for the dispersion is the one that they were drawn with."""
    rng = np.random.default_rng(2)
    share = rng.dirichlet(np.full(15, 5.0))
    learned = {}
    for r in (1.5, 12.0):
        x = rng.poisson(rng.gamma(r, 400 * share / r, size=(1500, 15)))
        method = un.VAE.fixed(likelihood="negative_binomial", n_latent=1, epochs=15, width=16, lr=3e-3, seed=0).fit(x)
        learned[r] = float(method.nets_["vae"].counts.log_dispersion.detach().exp().median())
    assert learned[1.5] == pytest.approx(1.5, rel=0.25)
    assert 6 < learned[12.0] < 20


def test_zero_inflation_is_learned():
    """With a third of the values set to 0, the probability of such zeros is found, and the likelihood is the better one."""
    data = counts(n=1200, zeros=0.33, dispersion=50.0, seed=3)
    fields = {"n_latent": 2, "epochs": 25, "width": 32, "lr": 3e-3, "seed": 0}
    plain, inflated = (un.VAE(likelihood=kind, **fields).fit(data) for kind in KINDS)
    last = lambda method: [row.value for row in method.history_ if row.term == "reconstruction"][-1]  # noqa: E731
    assert last(inflated) < last(plain) - 3
    z = inflated.encode(data)
    with torch.no_grad():
        _, logits = inflated.nets_["vae"].counts._split(inflated.nets_["vae"].output(torch.from_numpy(z.z)), torch.ones(1))
    assert float(torch.sigmoid(logits).median()) == pytest.approx(0.33, abs=0.07)


def test_learned_library_sizes_are_near_the_totals():
    data = counts(n=600, seed=4)
    method = un.VAE.fixed(likelihood="negative_binomial", library="learned", n_latent=3, epochs=25, lr=3e-3, seed=0).fit(data)
    sizes = method.encode(data).conditions["library_size"]
    assert np.corrcoef(np.log(sizes), np.log(data.x.sum(1)))[0, 1] > 0.9
    np.testing.assert_allclose(method.decode(method.encode(data)).sum(1), sizes, rtol=1e-4)
