"""The gallery of methods that are right by construction, and on its way to the disk and back."""

import numpy as np
import pytest
from known_methods import SIDE, ClassHalves, Columns, Halves, Whole, classes_in_contents, images, vectors

from untwine.evaluation.gallery import gallery
from untwine.latents import Latents
from untwine.runs import files
from untwine.runs.gallery import read_gallery, write_gallery
from untwine.runs.names import GALLERY
from untwine.samples import Samples


@pytest.fixture(scope="module")
def shown():
    data = images()
    return data, gallery(Halves(), data, images=6)


def test_each_block_alone_shows_its_half_of_the_image(shown):
    _, g = shown
    targets, background, single = g.targets, g.background, g.single_blocks
    arrays = (targets.originals, background.originals, single.common, single.salient, g.background_with_salient)
    arrays += (g.swaps.common, g.swaps.salient, g.swaps.grid, g.interpolation, *(t.images for t in g.traversals.values()))
    assert all(array.dtype == np.uint8 for array in arrays)
    assert np.array_equal(targets.originals, targets.reconstructions)
    assert np.array_equal(background.originals, background.reconstructions)
    assert not background.originals[:, :, SIDE // 2 :].any()
    assert targets.originals.shape == single.common.shape == (6, 1, SIDE, SIDE)
    upper, lower = np.s_[:, :, : SIDE // 2], np.s_[:, :, SIDE // 2 :]
    assert np.array_equal(single.common[upper], targets.originals[upper])
    assert not single.common[lower].any()
    assert np.array_equal(single.salient[lower], targets.originals[lower])
    assert not single.salient[upper].any()


def test_swaps_combine_the_row_s_common_with_the_column_s_salient_block(shown):
    _, g = shown
    half = SIDE // 2
    swaps = g.swaps
    assert swaps.grid.shape == (6, 6, 1, SIDE, SIDE)
    for i in range(6):
        for j in range(6):
            assert np.array_equal(swaps.grid[i, j, :, :half], swaps.common[i, :, :half])
            assert np.array_equal(swaps.grid[i, j, :, half:], swaps.salient[j, :, half:])
    classes = swaps.salient[:, 0, -1, ::2].argmax(axis=1)
    assert len(set(classes)) == 4


def test_interpolation_goes_between_four_classes_and_keeps_the_common_block(shown):
    _, g = shown
    grid, half = g.interpolation, SIDE // 2
    assert grid.shape == (8, 8, 1, SIDE, SIDE)
    assert (grid[:, :, :, :half] == grid[0, 0, :, :half]).all()
    corners = [grid[0, 0], grid[0, -1], grid[-1, 0], grid[-1, -1]]
    assert {int(corner[0, -1, ::2].argmax()) for corner in corners} == {0, 1, 2, 3}
    low = grid[:, :, 0, -1].astype(float)
    middle = sum(corner[0, -1].astype(float) for corner in corners) / 4
    assert np.abs(low.mean(axis=(0, 1)) - middle).max() < 1  # bilinear: the grid's mean is that of its corners
    assert np.abs(low[:, 1:-1] - (low[:, :-2] + low[:, 2:]) / 2).max() <= 1  # straight along each row, up to rounding


def test_planes_hold_both_groups_and_separate_the_classes(shown):
    data, g = shown
    planes = g.planes
    assert planes.points["common"].shape == planes.points["salient"].shape == (320, 2)
    assert np.bincount(planes.groups).tolist() == [120, 200]
    assert set(planes.labels[planes.groups == 0]) == {-1}
    assert planes.label_names == data.label_names
    assert planes.group_names == ("background", "target")
    target = planes.groups == 1
    salient = planes.points["salient"][target]
    distances = np.linalg.norm(salient[:, None] - salient[None], axis=2)
    nearest = (distances + np.where(np.eye(200), np.inf, 0)).argmin(axis=1)
    assert (planes.labels[target][nearest] == planes.labels[target]).mean() > 0.98


def flat(entry):
    """Return all arrays and names of a gallery by their path of attributes."""
    if entry is None or isinstance(entry, np.ndarray | tuple | bool):
        return {"": entry}
    inside = entry if isinstance(entry, dict) else vars(entry)
    return {f"{name}.{path}": array for name, one in inside.items() for path, array in flat(one).items()}


def assert_equal(one, other):
    one, other = flat(one), flat(other)
    assert set(one) == set(other)
    for path, array in one.items():
        assert type(array) is type(other[path]), path
        np.testing.assert_array_equal(array, other[path], err_msg=path)


def test_gallery_follows_the_seed(shown):
    data, _ = shown
    a, b = (gallery(Halves(), data[::4], seed=seed).targets.originals for seed in (0, 1))
    assert not np.array_equal(a, b)


@pytest.mark.parametrize(
    "build",
    [
        lambda: gallery(Drawing(), images(60, 40)),
        lambda: gallery(Columns(), vectors(40)),
        lambda: gallery(Uncertain(), classes_in_contents()),
    ],
    ids=["contrastive", "vectors", "classes"],
)
def test_a_gallery_is_read_back_as_it_was_written(tmp_path, build):
    g = build()
    write_gallery(tmp_path, g)
    assert [path.name for path in tmp_path.iterdir()] == [GALLERY]
    assert_equal(read_gallery(tmp_path), g)


def test_the_file_keeps_the_names_of_the_first_version(tmp_path):
    names = set()
    for g in (gallery(Drawing(), images(60, 40)), gallery(Uncertain(), classes_in_contents())):
        write_gallery(tmp_path, g)
        names |= set(files.read_arrays(tmp_path / GALLERY))
    per_block = ("plane", "spread", "told", "walk", "walk_latents", "walk_values", "walk_change")
    assert names == {
        *("originals", "reconstructions", "background_originals", "background_reconstructions", "background_with_salient"),
        *("only_common", "only_salient", "swap_common", "swap_salient", "swap_grid", "interpolation", "made"),
        *("switch_sources", "switch_grid", "near_sources", "near_class", "near_content", "posterior_content"),
        *("plane_labels", "plane_groups", "label_names", "group_names", "factor_names"),
        *(f"{name}_{block}" for name in per_block for block in ("common", "salient", "class", "content")),
    }


def test_without_a_file_there_is_no_gallery(tmp_path):
    assert read_gallery(tmp_path) is None


def test_an_entry_of_which_an_array_is_missing_is_left_out(tmp_path):
    write_gallery(tmp_path, gallery(Halves(), images(30, 10)))
    arrays = files.read_arrays(tmp_path / GALLERY)
    for name in ("swap_grid", "walk_latents_common", "reconstructions"):
        del arrays[name]
    files.write_arrays(tmp_path / GALLERY, arrays)
    g = read_gallery(tmp_path)
    assert g.swaps is None
    assert g.targets is None
    assert list(g.traversals) == ["salient"]
    assert g.interpolation is not None


def test_statistics_of_another_shape_are_refused(tmp_path):
    files.write_arrays(tmp_path / GALLERY, {"spread_common": np.zeros((3, 4))})
    with pytest.raises(ValueError, match=r"gallery\.npz must hold plain arrays.*spread_common must have the shape \(2, dimen"):
        read_gallery(tmp_path)


def test_objects_are_never_written(tmp_path):
    with pytest.raises(ValueError, match=r"pickle|[Oo]bject"):
        files.write_arrays(tmp_path / GALLERY, {"bad": np.array([{}], dtype=object)})
    assert not list(tmp_path.iterdir())


def test_float_images_and_few_targets_are_shown_too():
    g = gallery(Halves(), images(3, 2, dtype=np.float32))
    assert g.targets.originals.dtype == np.uint8
    assert g.swaps.grid.shape[:2] == (3, 3)
    assert g.interpolation.shape[:2] == (8, 8)
    assert len(g.background.originals) == 2
    assert g.targets.originals.max() > 200


def test_vectors_have_reconstructions_planes_and_statistics_only():
    g = gallery(Columns(), vectors(40))
    empty = {name for name, entry in vars(g).items() if entry is None or entry is False or entry == {}}
    assert set(vars(g)) - empty == {"targets", "latents", "factor_names", "planes"}
    assert set(g.planes.points) == set(g.latents) == {"common", "salient"}
    assert all(block.information is not None for block in g.latents.values())
    assert g.targets.originals.dtype == np.float32
    assert np.array_equal(g.targets.originals, g.targets.reconstructions)
    assert g.planes.label_names == ()
    assert (g.planes.labels == -1).all()


def test_one_block_without_groups_has_its_plane():
    g = gallery(Whole(), Samples(np.random.default_rng(0).normal(size=(30, 3)), labels=np.arange(30) % 2))
    assert g.planes.points["z"].shape == (30, 2)
    assert (g.planes.groups == 1).all()
    assert g.planes.group_names[1] == "target"


class Drawing(Halves):
    """A fitted method with a prior."""

    def prior(self, n, generator):
        import torch

        return {block: torch.rand((n, SIDE // 2), generator=generator) for block in ("common", "salient")}


def test_backgrounds_get_the_salient_block_of_targets(shown):
    _, g = shown
    half = SIDE // 2
    assert np.array_equal(g.background_with_salient[:, :, :half], g.background.originals[:, :, :half])
    assert np.array_equal(g.background_with_salient[:, :, half:], g.targets.originals[:, :, half:])


def test_generated_images_have_one_common_code_a_row_and_begin_without_a_salient_one(shown):
    data, g = shown
    assert g.generated is None  # this method has no prior
    generated = gallery(Drawing(), data, images=6).generated
    half = SIDE // 2
    assert generated.shape == (6, 7, 1, SIDE, SIDE)
    assert (generated[:, :, :, :half] == generated[:, :1, :, :half]).all()
    assert not generated[:, 0, :, half:].any()
    assert (generated[:, 1:, :, half:] == generated[:1, 1:, :, half:]).all()
    assert len(np.unique(generated[0, 1:, 0, -1], axis=0)) == 6


class Itself(ClassHalves):
    """A translator: the content is the image itself."""

    def encode(self, x):
        return Latents({"class": super().encode(x)["class"], "content": x.reshape(len(x), -1) / 255.0})

    def decode(self, latents):
        return latents["content"].reshape(-1, 1, SIDE, SIDE)


def test_a_block_that_is_the_image_itself_has_no_single_latents(monkeypatch):
    g = gallery(Itself(), classes_in_contents())
    assert set(g.latents) == set(g.traversals) == {"class"}
    assert g.latents["class"].information is not None
    assert set(g.planes.points) == set(g.neighbours.nearest) == {"class", "content"}
    assert g.class_swaps is not None
    monkeypatch.setattr("untwine.evaluation.gallery.WIDEST", 3)
    g = gallery(Itself(), classes_in_contents())
    assert g.latents == g.traversals == {}


class Uncertain(ClassHalves):
    """A method whose contents have Gaussian posteriors, with a larger std in the second dimension."""

    def posterior_std(self, x):
        return {"content": np.tile([0.1, 0.9, 0.1, 0.1], (len(x), 1))}


def test_gaussian_posteriors_are_shown_with_the_size_of_the_mean_and_the_std():
    data = classes_in_contents()
    posterior = gallery(Uncertain(), data).posteriors["content"]
    np.testing.assert_allclose(posterior.mean_size, np.abs(ClassHalves().encode(data.x)["content"]).mean(0), rtol=1e-6)
    np.testing.assert_allclose(posterior.std, [0.1, 0.9, 0.1, 0.1])
    assert gallery(ClassHalves(), data).posteriors == {}
