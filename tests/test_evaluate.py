import json
import math

import numpy as np
import pytest

from untwine.evaluate import METRICS, Score, evaluate, gallery, save_gallery, write_scores
from untwine.latents import Latents
from untwine.samples import Samples

SIDE = 8


class Halves:
    """A fitted method that is right: the common part is the upper half of a picture, the salient part the lower half."""

    def __init__(self):
        self.encoded = 0

    def encode(self, x):
        self.encoded += 1
        grey = (x / 255.0 if x.dtype == np.uint8 else x)[:, 0, :, ::2]  # columns come in pairs of one grey
        return Latents({"common": grey[:, 0].astype(np.float32), "salient": grey[:, -1].astype(np.float32)})

    def decode(self, latents):
        upper, lower = (np.repeat(latents[part], 2, axis=1)[:, None, None] for part in ("common", "salient"))
        half = np.ones((1, 1, SIDE // 2, 1), dtype=np.float32)
        return np.concatenate([upper * half, lower * half], axis=2)


class Swapped(Halves):
    """A fitted method that is wrong: what it calls common is salient."""

    def encode(self, x):
        right = super().encode(x)
        return Latents({"common": right.salient, "salient": right.common})


class Whole:
    """A fitted method with one block, the vector itself."""

    def encode(self, x):
        return Latents({"z": x})

    def decode(self, latents):
        return latents["z"]


class Columns:
    """A fitted method of vectors: the first two columns are common, the last is salient."""

    def encode(self, x):
        return Latents({"common": x[:, :2], "salient": x[:, 2:]})

    def decode(self, latents):
        return latents.array()


def pictures(targets=200, backgrounds=120, seed=0, dtype=np.uint8):
    """Upper half: four random greys in both groups; lower half: a bright column that tells the class, in targets only."""
    rng = np.random.default_rng(seed)
    n = targets + backgrounds
    groups = np.repeat([1, 0], [targets, backgrounds])
    labels = np.where(groups == 1, np.arange(n) % 4, -1)
    upper = rng.uniform(0, 1, (n, 4))
    lower = np.where(groups[:, None] == 1, 0.8 * np.eye(4)[labels] + rng.uniform(0, 0.2, (n, 4)), 0.0)
    rows = np.concatenate([np.repeat(np.repeat(h, 2, 1)[:, None, None], SIDE // 2, 2) for h in (upper, lower)], axis=2)
    x = np.rint(rows * 255).astype(np.uint8) if dtype == np.uint8 else rows.astype(np.float32)
    return Samples(x, groups=groups, labels=labels, factors=upper[:, :2], factor_names=("left", "right"))


def vectors(n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(2 * n, 3))
    groups = np.repeat([0, 1], n)
    truth[:n, 2] = 0
    names = ("common 0", "common 1", "salient 0")
    return Samples(truth, groups=groups, factors=truth, factor_names=names)


@pytest.fixture(scope="module")
def scores():
    return evaluate(Halves(), pictures())


def test_every_block_is_scored_by_every_metric(scores):
    both = ("probe", "clustering", "clustering_random", "silhouette", "factors")
    assert set(scores) == {f"{metric}.{block}" for metric in both for block in ("common", "salient")} | {
        "w2.common",
        "w2_relative.common",
        "reconstruction.x",
    }


@pytest.mark.parametrize(
    "name, low, high, n, direction",
    [
        ("probe.salient", 0.99, 1.0, 200, "higher"),
        ("probe.common", 0.10, 0.40, 200, "lower"),
        ("clustering.salient", 0.99, 1.0, 200, "higher"),
        ("clustering.common", 0.25, 0.45, 200, "lower"),
        ("clustering_random.salient", 0.25, 0.40, 200, "info"),
        ("silhouette.salient", 0.7, 1.0, 200, "higher"),
        ("silhouette.common", -0.2, 0.1, 200, "lower"),
        ("factors.common", 0.99, 1.0, 200, "higher"),
        ("factors.salient", 0.0, 0.08, 200, "lower"),
        ("w2.common", 0.0, 0.1, 120, "lower"),
        ("w2_relative.common", 0.0, 0.08, 120, "lower"),
        ("reconstruction.x", 0.0, 1e-6, 320, "lower"),
    ],
)
def test_a_method_that_is_right_gets_the_scores_it_must(scores, name, low, high, n, direction):
    score = scores[name]
    assert low <= score.value <= high
    assert score.low <= score.value <= score.high
    assert math.isfinite(score.low)
    assert math.isfinite(score.high)
    assert (score.name, score.n, score.direction) == (name, n, direction)
    assert score.seconds >= 0


def test_a_method_that_is_wrong_is_found_out():
    scores = evaluate(Swapped(), pictures(), metrics=["probe", "factors", "w2"])
    assert scores["probe.common"].value > 0.99
    assert scores["probe.salient"].value < 0.45
    assert scores["factors.salient"].value > 0.99
    assert scores["w2_relative.common"].value > 0.5
    assert set(scores) == {
        *("probe.common", "probe.salient", "factors.common", "factors.salient"),
        *("w2.common", "w2_relative.common"),
    }


def test_the_samples_are_encoded_once():
    method = Halves()
    evaluate(method, pictures(60, 40), metrics=["probe", "w2", "reconstruction"])
    assert method.encoded == 1


def test_the_same_call_gives_the_same_scores(scores):
    again = evaluate(Halves(), pictures())
    assert {n: (s.value, s.low, s.high) for n, s in again.items()} == {n: (s.value, s.low, s.high) for n, s in scores.items()}


def test_salient_factors_are_scored_apart():
    scores = evaluate(Columns(), vectors())
    assert scores["factors.common"].value > 0.99
    assert scores["factors.salient"].value < 0.1
    assert scores["factors_salient.salient"].value > 0.99
    assert scores["factors_salient.common"].value < 0.1
    directions = {name: score.direction for name, score in scores.items() if name.startswith("factors")}
    assert directions == {
        "factors.common": "higher",
        "factors.salient": "lower",
        "factors_salient.common": "lower",
        "factors_salient.salient": "higher",
    }
    assert not any(name.startswith(("probe", "clustering")) for name in scores)


def test_a_method_of_one_block_without_groups():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    samples = Samples(np.eye(3)[labels] * 9 + rng.normal(size=(60, 3)), labels=labels)
    scores = evaluate(Whole(), samples)
    assert set(scores) == {"probe.z", "clustering.z", "clustering_random.z", "silhouette.z", "reconstruction.x"}
    assert scores["probe.z"].direction == scores["silhouette.z"].direction == "higher"
    assert scores["probe.z"].value > 0.95
    assert scores["reconstruction.x"].value == 0.0


def test_only_targets_with_known_labels_of_usual_classes_count():
    data = pictures(80, 40)
    labels = data.labels.copy()
    labels[:10] = -1
    labels[10:13] = 4  # a class too small for five folds
    labels[80:] = 0  # background that looks labelled
    changed = Samples(data.x, groups=data.groups, labels=labels)
    scores = evaluate(Halves(), changed, metrics=["probe"])
    assert scores["probe.salient"].n == 67
    assert scores["probe.salient"].value > 0.95


@pytest.mark.parametrize(
    "method, samples, metric, says",
    [
        (Whole(), Samples(np.eye(30)), "probe", "labels"),
        (Whole(), Samples(np.eye(30)), "clustering", "labels"),
        (Whole(), Samples(np.eye(30)), "factors", "factors"),
        (Whole(), vectors(), "w2", "'common', but the method has z"),
        (Columns(), Samples(np.ones((30, 3))), "w2", "Samples.contrast"),
        (Columns(), vectors(), "accuracy", "probe, clustering, factors, w2, reconstruction"),
    ],
)
def test_a_metric_that_cannot_be_had_says_why(method, samples, metric, says):
    with pytest.raises(ValueError, match=says) as caught:
        evaluate(method, samples, metrics=[metric])
    assert f"{metric!r}" in str(caught.value)
    assert str(caught.value).count(". ") == 0


def test_bad_arguments_say_why():
    with pytest.raises(TypeError, match="wrap it in a list"):
        evaluate(Columns(), vectors(), metrics="probe")
    with pytest.raises(ValueError, match="at least 2"):
        evaluate(Columns(), vectors(), seeds=1)


def test_every_metric_of_the_table_explains_itself():
    assert list(METRICS) == ["probe", "clustering", "factors", "w2", "reconstruction"]
    assert all(function.__doc__ for function in METRICS.values())


def test_progress_goes_to_the_error_stream_only(capsys):
    evaluate(Columns(), vectors(), metrics=["w2"], progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "scoring" in err


def test_scores_are_written_whole_and_read_back(tmp_path, scores):
    write_scores(tmp_path / "scores.json", scores)
    read = json.loads((tmp_path / "scores.json").read_text())
    assert list(read) == list(scores)
    assert set(read["w2.common"]) == {"value", "low", "high", "n", "seconds", "direction"}
    assert read["probe.salient"]["value"] == scores["probe.salient"].value
    assert Score("probe.salient", **read["probe.salient"]) == scores["probe.salient"]
    bad = {"x.y": Score("x.y", math.nan, 0, 1, 1, 0.0, "info")}
    with pytest.raises(ValueError):
        write_scores(tmp_path / "scores.json", bad)
    assert json.loads((tmp_path / "scores.json").read_text()) == read
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json"]


@pytest.fixture(scope="module")
def shown():
    data = pictures()
    return data, gallery(Halves(), data, pictures=6)


def test_gallery_shows_parts_apart(shown):
    _, g = shown
    assert all(g[name].dtype == np.uint8 for name in g if not name.startswith(("plane", "label", "group")))
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


def test_float_pictures_and_few_targets_are_shown_too():
    g = gallery(Halves(), pictures(3, 2, dtype=np.float32))
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
