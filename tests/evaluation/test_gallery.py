import numpy as np
import pytest
from known_methods import SIDE, ClassHalves, Columns, Halves, Whole, classes_in_contents, images, vectors

from untwine.evaluation.gallery import gallery, save_gallery
from untwine.latents import Latents
from untwine.samples import Samples

NUMBERS = ("plane", "label", "group", "spread", "told", "factor", "walk_values", "walk_latents", "walk_change")


@pytest.fixture(scope="module")
def shown():
    data = images()
    return data, gallery(Halves(), data, images=6)


def test_gallery_shows_parts_apart(shown):
    _, g = shown
    assert all(g[name].dtype == np.uint8 for name in g if not name.startswith(NUMBERS))
    assert np.array_equal(g["originals"], g["reconstructions"])
    assert np.array_equal(g["background_originals"], g["background_reconstructions"])
    assert not g["background_originals"][:, :, SIDE // 2 :].any()
    assert g["originals"].shape == g["only_common"].shape == (6, 1, SIDE, SIDE)
    upper, lower = np.s_[:, :, : SIDE // 2], np.s_[:, :, SIDE // 2 :]
    assert np.array_equal(g["only_common"][upper], g["originals"][upper])
    assert not g["only_common"][lower].any()
    assert np.array_equal(g["only_salient"][lower], g["originals"][lower])
    assert not g["only_salient"][upper].any()


def test_swaps_join_the_row_s_common_with_the_column_s_salient_part(shown):
    _, g = shown
    half = SIDE // 2
    assert g["swap_grid"].shape == (6, 6, 1, SIDE, SIDE)
    for i in range(6):
        for j in range(6):
            assert np.array_equal(g["swap_grid"][i, j, :, :half], g["swap_common"][i, :, :half])
            assert np.array_equal(g["swap_grid"][i, j, :, half:], g["swap_salient"][j, :, half:])
    classes = g["swap_salient"][:, 0, -1, ::2].argmax(axis=1)
    assert len(set(classes)) == 4


def test_interpolation_goes_between_four_classes_and_keeps_the_common_part(shown):
    _, g = shown
    grid, half = g["interpolation"], SIDE // 2
    assert grid.shape == (8, 8, 1, SIDE, SIDE)
    assert (grid[:, :, :, :half] == grid[0, 0, :, :half]).all()
    corners = [grid[0, 0], grid[0, -1], grid[-1, 0], grid[-1, -1]]
    assert {int(corner[0, -1, ::2].argmax()) for corner in corners} == {0, 1, 2, 3}
    low = grid[:, :, 0, -1].astype(float)
    middle = sum(corner[0, -1].astype(float) for corner in corners) / 4
    assert np.abs(low.mean(axis=(0, 1)) - middle).max() < 1  # bilinear: the grid's mean is that of its corners
    assert np.abs(low[:, 1:-1] - (low[:, :-2] + low[:, 2:]) / 2).max() <= 1  # straight along each row, up to rounding


def test_planes_hold_both_groups_and_part_the_classes(shown):
    data, g = shown
    assert g["plane_common"].shape == g["plane_salient"].shape == (320, 2)
    assert np.bincount(g["plane_groups"]).tolist() == [120, 200]
    assert set(g["plane_labels"][g["plane_groups"] == 0]) == {-1}
    assert g["label_names"].tolist() == list(data.label_names)
    assert g["group_names"].tolist() == ["background", "target"]
    target = g["plane_groups"] == 1
    distances = np.linalg.norm(g["plane_salient"][target][:, None] - g["plane_salient"][target][None], axis=2)
    nearest = (distances + np.where(np.eye(200), np.inf, 0)).argmin(axis=1)
    assert (g["plane_labels"][target][nearest] == g["plane_labels"][target]).mean() > 0.98


def test_gallery_follows_the_seed_and_survives_the_disk(tmp_path, shown):
    data, g = shown
    save_gallery(tmp_path / "gallery.npz", g)
    with np.load(tmp_path / "gallery.npz", allow_pickle=False) as read:
        assert set(read.files) == set(g)
        assert all(np.array_equal(read[name], g[name]) for name in g)
    assert [path.name for path in tmp_path.iterdir()] == ["gallery.npz"]
    assert not np.array_equal(gallery(Halves(), data[::4], seed=1)["originals"], gallery(Halves(), data[::4])["originals"])


def test_objects_are_never_written(tmp_path):
    with pytest.raises(ValueError, match=r"pickle|[Oo]bject"):
        save_gallery(tmp_path / "gallery.npz", {"bad": np.array([{}], dtype=object)})
    assert not list(tmp_path.iterdir())


def test_float_images_and_few_targets_are_shown_too():
    g = gallery(Halves(), images(3, 2, dtype=np.float32))
    assert g["originals"].dtype == np.uint8
    assert g["swap_grid"].shape[:2] == (3, 3)
    assert g["interpolation"].shape[:2] == (8, 8)
    assert len(g["background_originals"]) == 2
    assert g["originals"].max() > 200


def test_vectors_have_rows_and_planes_only():
    data = vectors(40)
    g = gallery(Columns(), data)
    assert set(g) == {
        *("originals", "reconstructions", "plane_common", "plane_salient"),
        *("plane_labels", "plane_groups", "label_names", "group_names"),
        *("spread_common", "spread_salient", "told_common", "told_salient", "factor_names"),
    }
    assert g["originals"].dtype == np.float32
    assert np.array_equal(g["originals"], g["reconstructions"])
    assert g["label_names"].size == 0
    assert (g["plane_labels"] == -1).all()


def test_one_block_without_groups_has_its_plane():
    g = gallery(Whole(), Samples(np.random.default_rng(0).normal(size=(30, 3)), labels=np.arange(30) % 2))
    assert g["plane_z"].shape == (30, 2)
    assert (g["plane_groups"] == 1).all()
    assert g["group_names"][1] == "target"


class Drawing(Halves):
    """A fitted method that draws codes as well."""

    def prior(self, n, generator):
        import torch

        return {part: torch.rand((n, SIDE // 2), generator=generator) for part in ("common", "salient")}


def test_backgrounds_get_the_salient_part_of_targets(shown):
    _, g = shown
    half = SIDE // 2
    assert np.array_equal(g["background_with_salient"][:, :, :half], g["background_originals"][:, :, :half])
    assert np.array_equal(g["background_with_salient"][:, :, half:], g["originals"][:, :, half:])


def test_made_images_have_one_common_part_a_row_and_begin_without_a_salient_one(shown):
    data, g = shown
    assert "made" not in g  # this method draws nothing
    made = gallery(Drawing(), data, images=6)["made"]
    half = SIDE // 2
    assert made.shape == (6, 7, 1, SIDE, SIDE)
    assert (made[:, :, :, :half] == made[:, :1, :, :half]).all()
    assert not made[:, 0, :, half:].any()
    assert (made[:, 1:, :, half:] == made[:1, 1:, :, half:]).all()
    assert len(np.unique(made[0, 1:, 0, -1], axis=0)) == 6


class Itself(ClassHalves):
    """A translator: the content is the image itself."""

    def encode(self, x):
        return Latents({"class": super().encode(x)["class"], "content": x.reshape(len(x), -1) / 255.0})

    def decode(self, latents):
        return latents["content"].reshape(-1, 1, SIDE, SIDE)


def test_a_part_that_is_the_image_itself_has_no_single_latents(monkeypatch):
    found = gallery(Itself(), classes_in_contents())
    assert {"spread_class", "walk_class", "told_class", "plane_content", "switch_grid", "near_content"} <= set(found)
    assert not {"spread_content", "walk_content", "told_content"} & set(found)
    monkeypatch.setattr("untwine.evaluation.gallery.WIDEST", 3)
    found = gallery(Itself(), classes_in_contents())
    assert not [name for name in found if name.startswith(("spread", "walk", "told"))]


class Unsure(ClassHalves):
    """A method whose contents are Gaussians, less sure of the second dimension."""

    def deviations(self, x):
        return {"content": np.tile([0.1, 0.9, 0.1, 0.1], (len(x), 1))}


def test_gaussian_codes_are_shown_with_their_size_and_deviation():
    data = classes_in_contents()
    found = gallery(Unsure(), data)
    mean, deviation = found["posterior_content"]
    np.testing.assert_allclose(mean, np.abs(ClassHalves().encode(data.x)["content"]).mean(0), rtol=1e-6)
    np.testing.assert_allclose(deviation, [0.1, 0.9, 0.1, 0.1])
    assert not [name for name in gallery(ClassHalves(), data) if name.startswith("posterior")]
