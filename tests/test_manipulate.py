"""Manipulations on methods whose answer is known in closed form."""

import numpy as np
import pytest
import torch
from small import small, vectors

import untwine as un
from untwine import manipulate
from untwine.latents import Latents

RNG = np.random.default_rng(0)


class Columns:
    """A method whose blocks are the features themselves: the first two are the class, the others the content."""

    name, shape_ = "columns", (5,)
    blocks = {"class": 2, "content": 3}  # noqa: RUF012

    def encode(self, x):
        x = np.asarray(x, dtype=np.float32)
        return Latents({"class": x[:, :2], "content": x[:, 2:]}, {"class": [7.0, 8.0]})

    def decode(self, z):
        return np.hstack([z["class"], z["content"]])

    def neutral(self):
        return {"class": np.float32([7.0, 8.0])}

    def prior(self, n, generator):
        return {name: 100 + torch.randn((n, width), generator=generator) for name, width in self.blocks.items()}

    def block_prior(self, block, n, generator):
        return self.prior(n, generator)[block]


COLUMNS = Columns()
A, B = RNG.normal(size=(4, 5)).astype("float32"), RNG.normal(size=(3, 5)).astype("float32")


@pytest.fixture(scope="module")
def linear():
    """A linear method, and targets."""
    data = vectors()
    return small("contrastive_pca", n_common=2, n_salient=1).fit(data), data.target.x


# swap and grid


def test_swap_takes_one_block_and_leaves_the_others():
    swapped = manipulate.swap(COLUMNS, A[:3], B, "class")
    np.testing.assert_array_equal(swapped, np.hstack([B[:, :2], A[:3, 2:]]))
    np.testing.assert_array_equal(manipulate.swap(COLUMNS, A[:3], B, "content"), np.hstack([A[:3, :2], B[:, 2:]]))


@pytest.mark.parametrize(("a", "b"), [(A[:1], B), (A, B[:1])])
def test_a_single_sample_goes_with_every_sample_of_the_other(a, b):
    many = max(len(a), len(b))
    expected = np.hstack([np.broadcast_to(b, (many, 5))[:, :2], np.broadcast_to(a, (many, 5))[:, 2:]])
    np.testing.assert_array_equal(manipulate.swap(COLUMNS, a, b, "class"), expected)


def test_a_grid_has_the_other_block_by_row_and_the_block_by_column():
    grid = manipulate.swap_grid(COLUMNS, A, B, "class")
    assert grid.shape == (4, 3, 5)
    np.testing.assert_array_equal(grid[..., :2], np.broadcast_to(B[:, :2], (4, 3, 2)))
    np.testing.assert_array_equal(grid[..., 2:], np.broadcast_to(A[:, None, 2:], (4, 3, 3)))


def test_swapped_samples_of_a_linear_method_are_sums_of_both_projections(linear):
    method, x = linear
    salient = lambda rows: method.reconstruct(rows) - manipulate.remove(method, rows)  # noqa: E731
    swapped = manipulate.swap(method, x[:5], x[5:10])
    np.testing.assert_allclose(swapped, manipulate.remove(method, x[:5]) + salient(x[5:10]), atol=1e-4)
    z = method.encode(swapped)
    np.testing.assert_allclose(z.salient, method.encode(x[5:10]).salient, atol=1e-4)
    np.testing.assert_allclose(z.common, method.encode(x[:5]).common, atol=1e-4)


def test_images_come_out_as_images_and_samples_go_in():
    from small import images

    data = images(12, 12)
    method = small("contrastive_pca").fit(data)
    grid = manipulate.swap_grid(method, data.target[:2], data.target.x[2:5])
    assert grid.shape == (2, 3, 3, 9, 12)
    assert 0 <= grid.min() < grid.max() <= 1
    one = method.decode(method.encode(data.target.x[1:2]).swap(method.encode(data.target.x[4:5]), "salient"))
    np.testing.assert_allclose(grid[1, 2], one[0], atol=1e-5)


# remove


def test_remove_writes_the_neutral_value():
    removed = manipulate.remove(COLUMNS, A, "class")
    np.testing.assert_array_equal(removed[:, :2], np.tile([7.0, 8.0], (4, 1)))
    np.testing.assert_array_equal(removed[:, 2:], A[:, 2:])


def test_without_its_salient_block_a_target_has_only_its_common_codes(linear):
    method, x = linear
    z = method.encode(manipulate.remove(method, x))
    np.testing.assert_allclose(z.salient, 0, atol=1e-5)
    np.testing.assert_allclose(z.common, method.encode(x).common, atol=1e-4)


# sample


def test_sample_draws_the_prior_once_for_all_samples():
    sampled = manipulate.sample(COLUMNS, A, 6, "class", seed=3)
    drawn = COLUMNS.prior(6, torch.Generator().manual_seed(3))["class"].numpy()
    assert sampled.shape == (4, 6, 5)
    np.testing.assert_array_equal(sampled[..., :2], np.broadcast_to(drawn, (4, 6, 2)))
    np.testing.assert_array_equal(sampled[..., 2:], np.broadcast_to(A[:, None, 2:], (4, 6, 3)))
    np.testing.assert_array_equal(manipulate.sample(COLUMNS, A, 6, "class", seed=3), sampled)
    assert not np.array_equal(manipulate.sample(COLUMNS, A, 6, "class", seed=4), sampled)


@pytest.mark.parametrize(("rows", "n"), [(3, 5), (4, 2)])
def test_a_sample_grid_begins_without_the_block_and_all_rows_have_the_same_draws(rows, n):
    generated = manipulate.sample_grid(COLUMNS, rows, n, "class", seed=3)
    drawn = COLUMNS.prior(max(rows, n), torch.Generator().manual_seed(3))
    assert generated.shape == (rows, 1 + n, 5)
    np.testing.assert_array_equal(generated[..., 2:], np.broadcast_to(drawn["content"][:rows, None], (rows, 1 + n, 3)))
    np.testing.assert_array_equal(generated[:, 0, :2], np.broadcast_to([7.0, 8.0], (rows, 2)))
    np.testing.assert_array_equal(generated[:, 1:, :2], np.broadcast_to(drawn["class"][:n], (rows, n, 2)))


def test_traverse_goes_from_end_to_end_where_ends_are_given():
    result = manipulate.traverse(COLUMNS, A[:1], block="class", steps=4, ends=(-1.5, 1.5))
    np.testing.assert_allclose(result.values, np.broadcast_to([-1.5, -0.5, 0.5, 1.5], (2, 4)))
    for latent, rows, values in zip(result.latents, result.samples, result.values, strict=True):
        np.testing.assert_allclose(rows[:, latent], values)
        others = [i for i in range(5) if i != latent]
        np.testing.assert_array_equal(rows[:, others], np.broadcast_to(A[0, others], (4, 4)))


def test_sample_near_samples_has_their_mean_and_covariance_but_not_their_codes():
    rows = np.hstack([RNG.normal(size=(400, 2)) @ [[3.0, 1.0], [0.0, 0.5]] + [5, -9], np.zeros((400, 3))]).astype("float32")
    drawn = manipulate.sample(COLUMNS, A[:1], 20_000, "class", from_samples=rows)[0, :, :2]
    np.testing.assert_allclose(drawn.mean(0), rows[:, :2].mean(0), atol=0.1)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(rows[:, :2].T), rtol=0.06, atol=0.1)
    assert len(np.unique(drawn, axis=0)) == len(drawn)


def test_sample_near_samples_keeps_to_their_clusters():
    rows = np.zeros((1000, 5), dtype="float32")
    rows[:, 0] = np.where(np.arange(1000) % 2, 10, -10) + 0.1 * RNG.normal(size=1000)
    rows[:, 1] = RNG.normal(size=1000)
    drawn = manipulate.sample(COLUMNS, A[:1], 500, "class", from_samples=rows)[0, :, 0]
    assert np.mean(np.abs(drawn) < 3) < 0.06  # a normal distribution with their variance has a quarter there
    assert 0.4 < np.mean(drawn > 0) < 0.6


def test_sample_near_a_single_sample_is_that_sample():
    drawn = manipulate.sample(COLUMNS, A[:1], 3, "class", from_samples=B[:1])
    np.testing.assert_allclose(drawn[0, :, :2], np.tile(B[:1, :2], (3, 1)))


# interpolate


def test_interpolate_goes_from_one_to_the_other_in_equal_steps():
    way = manipulate.interpolate(COLUMNS, A[:3], B, "class", steps=5)
    assert way.shape == (3, 5, 5)
    np.testing.assert_array_equal(way[:, 0], A[:3])
    np.testing.assert_array_equal(way[:, -1], np.hstack([B[:, :2], A[:3, 2:]]))
    np.testing.assert_allclose(np.diff(way, 2, axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(manipulate.interpolate(COLUMNS, A[:3], B, None, steps=3)[:, 1], (A[:3] + B) / 2, atol=1e-6)


def test_interpolate_takes_one_sample_to_many():
    way = manipulate.interpolate(COLUMNS, A[:1], B, "content", steps=2)
    np.testing.assert_array_equal(way[:, 0], np.repeat(A[:1], 3, axis=0))
    np.testing.assert_array_equal(way[:, 1, 2:], B[:, 2:])


def test_a_grid_between_four_is_bilinear_and_keeps_the_other_blocks_of_the_first():
    corners, way = A[:4], manipulate.interpolate_four(COLUMNS, A[:4], None, steps=3)
    assert way.shape == (3, 3, *A.shape[1:])
    for (i, j), corner in zip([(0, 0), (0, 2), (2, 0), (2, 2)], corners, strict=True):
        np.testing.assert_allclose(way[i, j], corner, atol=1e-6)
    np.testing.assert_allclose(way[0, 1], (corners[0] + corners[1]) / 2, atol=1e-6)
    np.testing.assert_allclose(way[1, 1], corners.mean(0), atol=1e-6)
    one, z = manipulate.interpolate_four(COLUMNS, corners, "class", steps=2), COLUMNS.encode(corners)
    decoded = COLUMNS.encode(one.reshape(4, -1))
    np.testing.assert_allclose(decoded["class"], z["class"], atol=1e-6)
    np.testing.assert_allclose(decoded["content"], z["content"][[0, 0, 0, 0]], atol=1e-6)
    with pytest.raises(ValueError, match="corners must be four samples; got 3"):
        manipulate.interpolate_four(COLUMNS, A[:3], None)


def test_interpolate_works_on_a_method_with_one_block():
    x = vectors().x
    method = un.PCA(n_latent=3).fit(x)
    way = manipulate.interpolate(method, x[:2], x[2:4], "z", steps=3)
    np.testing.assert_allclose(way[:, 1], (method.reconstruct(x[:2]) + method.reconstruct(x[2:4])) / 2, atol=1e-4)


# Bad input


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda m: manipulate.swap(m, A, A, "style"), "block must be 'class' or 'content'; got 'style'"),
        (lambda m: manipulate.swap_grid(m, A, A, "salient"), "; got 'salient'"),
        (lambda m: manipulate.remove(m, A, "z"), "; got 'z'"),
        (lambda m: manipulate.interpolate(m, A, A), "; got 'salient'"),
        (lambda m: manipulate.swap(m, A, B, "class"), "as many samples, or a single one; got 4 and 3"),
        (lambda m: manipulate.interpolate(m, A, B, "class"), "; got 4 and 3"),
        (lambda m: manipulate.interpolate(m, A, A, "class", steps=1), "steps must be an integer of at least 2; got 1"),
        (lambda m: manipulate.sample(m, A, 0, "class"), "n must be an integer of at least 1; got 0"),
        (lambda m: manipulate.sample(m, A, 2.5, "class"), "n must be an integer of at least 1; got 2.5"),
        (lambda m: manipulate.sample(m, A, 2, "class", seed=-1), "seed must be"),
        (lambda m: manipulate.sample_grid(m, 0, block="class"), "rows must be an integer of at least 1; got 0"),
        (lambda m: manipulate.sample_grid(m, block="salient"), "; got 'salient'"),
        (lambda m: manipulate.traverse(m, A[:1], block="class"), "from_samples or ends; got both or neither; pass one"),
        (lambda m: manipulate.traverse(m, A[:1], A, "class", ends=(0, 1)), "from_samples or ends; got both or neither"),
        (
            lambda m: manipulate.traverse(m, A[:1], block="class", ends=(2, 1)),
            r"ends must be two numbers, .* got \(2, 1\)",
        ),
        (
            lambda m: manipulate.remove(m, A[0], "class"),
            r"x must be samples \(n, ...\); got a single one of shape \(5,\); pass x\[None\]",
        ),
        (lambda m: manipulate.swap(m, A, A[0], "class"), r"pass b\[None\]"),
    ],
)
def test_bad_input_raises_an_error(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(COLUMNS)


@pytest.mark.parametrize(
    "task",
    [
        manipulate.swap,
        manipulate.swap_grid,
        lambda m, x, _: manipulate.remove(m, x, "z"),
        lambda m, x, _: manipulate.sample(m, x),
    ],
)
def test_what_changes_a_block_refuses_a_method_with_one_block(task):
    x = vectors().x
    with pytest.raises(ValueError, match="the method must have several blocks, so that one can change; pca has only z"):
        task(un.PCA(n_latent=3).fit(x), x[:2], x[2:4])


def test_an_unfitted_method_and_samples_of_another_width_are_refused(linear):
    with pytest.raises(ValueError, match="is not fitted; call fit"):
        manipulate.swap(un.PrincipledVAE(), A, A)
    with pytest.raises(ValueError, match="expecting 6 features"):
        manipulate.remove(linear[0], A)
