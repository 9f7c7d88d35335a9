"""The numbers about codes, on codes whose numbers are known."""

import json

import numpy as np
import pytest

import untwine as un
from untwine import Latents, Samples
from untwine.evaluation.diagnostics import SAMPLES, code_statistics, diagnose, effect, moments, with_mean


class Halves:
    """Common is the first half of the columns, salient the second, shifted; decoding joins them."""

    def encode(self, x):
        rows = x.reshape(len(x), -1).astype(np.float64)
        w = rows.shape[1] // 2
        return Latents({"common": rows[:, :w], "salient": rows[:, w:] + 3}, {"salient": np.full(w, 3.0)})

    def decode(self, latents):
        return np.hstack([latents.common, latents.salient - 3])


class Whole:
    def encode(self, x):
        return Latents({"z": x})

    def decode(self, latents):
        return latents.z


def data(n=400, groups=True):
    """Two common columns of variance 4 and two salient ones, of variance 9 and mean 1 in the target and 0 in the background."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 4)) * [2, 2, 3, 3] + [0, 0, 1, 1]
    x[::2, 2:] = 0
    return Samples(x, groups=np.arange(n) % 2 if groups else None)


def test_each_number_is_what_it_says():
    statistics = code_statistics(Halves(), data())
    assert statistics["rows"] == {"target": 200, "background": 200}
    target, background = statistics["salient"]["target"], statistics["salient"]["background"]
    np.testing.assert_allclose(target["variance"], [9, 9], rtol=0.25)
    # About the neutral value 3, not about 0: variance 9 and mean 1 in each of two dimensions.
    assert target["energy"] == pytest.approx(2 * (9 + 1), rel=0.2)
    assert (background["variance"], background["energy"], background["effect"]) == ([0, 0], 0, 0)
    # Half of the columns, each brought to variance 1, come from either block, whatever their units.
    assert target["effect"] == pytest.approx(0.5)
    assert statistics["common"]["target"]["effect"] == pytest.approx(0.5)
    assert statistics["common"]["background"]["effect"] == pytest.approx(1)
    assert statistics["common"]["background"]["varies"] is True


def test_all_samples_are_targets_where_there_are_no_groups():
    statistics = code_statistics(Halves(), data(groups=False))
    assert statistics["rows"] == {"target": 400}
    assert set(statistics["salient"]) == {"target"}


def test_at_most_so_many_samples_of_each_group_are_used():
    statistics = code_statistics(Halves(), data(2 * SAMPLES + 600))
    assert statistics["rows"] == {"target": SAMPLES, "background": SAMPLES}


def test_moments_by_hand():
    result = moments(np.array([[0.0, 2], [2, 2]]), np.array([[0.0, 0], [0, 0]]))
    assert result == {"variance": [1.0, 0.0], "energy": 6.0}


def test_one_block_is_replaced_by_its_mean():
    codes = Latents({"common": np.array([[1.0], [3.0]]), "salient": np.array([[5.0], [7.0]])})
    assert with_mean(codes, "salient") == Latents({"common": np.array([[1.0], [3.0]]), "salient": np.array([[6.0], [6.0]])})


def test_effect_of_images_is_over_all_pixels_and_does_not_depend_on_bytes():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 255, size=(50, 1, 4, 4), dtype=np.uint8)
    shown = x / 255
    mean = np.repeat(shown.mean(0, keepdims=True), 50, axis=0)
    assert effect(x, shown, mean) == pytest.approx(1)
    assert effect(shown.astype(np.float32), shown, mean) == pytest.approx(1, abs=1e-5)
    assert effect(x, shown, shown) == 0


def test_a_column_of_rounding_error_is_ignored():
    x = np.random.default_rng(0).normal(size=(40, 3))
    x[:, 2] = 1 + 1e-9 * x[:, 2]
    changed = x + np.array([0, 0, 1])
    assert effect(x, x, changed) == 0
    assert effect(np.ones((4, 2)), np.ones((4, 2)), np.zeros((4, 2))) == 0


def test_both_files_are_written_for_contrastive_methods_only(tmp_path):
    diagnose(tmp_path, Halves(), data(), data(100))
    contrast = json.loads((tmp_path / "contrast.json").read_text())
    codes = json.loads((tmp_path / "codes.json").read_text())
    # The contrast test is of the training split, the statistics of the codes are of the test split.
    assert (contrast["target"], contrast["background"]) == (200, 200)
    assert contrast["p_value"] == un.contrast_test(data()).p_value
    assert codes["rows"] == {"target": 50, "background": 50}
    diagnose(tmp_path / "plain", Whole(), data(), data(100))
    assert not (tmp_path / "plain").exists()


def test_without_two_groups_there_is_no_contrast_and_no_old_one_stays(tmp_path):
    diagnose(tmp_path, Halves(), data(), data(100))
    diagnose(tmp_path, Halves(), data(groups=False), data(100, groups=False))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["codes.json"]
