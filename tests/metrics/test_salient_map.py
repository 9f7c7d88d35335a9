"""Maps whose AUC and Dice are known, thresholds that only train samples decide, and pixels outside that never count."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from untwine.evaluation.scoring import evaluate
from untwine.latents import Latents
from untwine.metrics import best_threshold, map_auc, map_dice
from untwine.metrics.trivial_maps import baseline_maps
from untwine.samples import Samples

SIDE = 16


def masks_and_inside(n=12, seed=0):
    """Brains of different sizes within an empty margin, each with a tumour of a few pixels."""
    rng = np.random.default_rng(seed)
    masks, inside = np.zeros((2, n, SIDE, SIDE), bool)
    for mask, brain in zip(masks, inside, strict=True):
        edge = rng.integers(2, 4)
        brain[edge:-edge, edge:-edge] = True
        i, j = rng.integers(4, 9, 2)
        mask[i : i + 3, j : j + 3] = True
    return masks, inside


class Healer:
    """A fitted method whose salient block is the darkness of the tumour at each pixel, and whose common block is the rest."""

    def __init__(self, blocks=("common", "salient")):
        self.blocks = blocks

    def encode(self, x):
        x = x.reshape(len(x), -1)
        dark = np.where((x > 0.05) & (x < 0.4), 0.6 - x, 0).astype(np.float32)
        return Latents({"common": x + dark, "salient": dark} if len(self.blocks) == 2 else {"z": x})

    def decode(self, latents):
        x = latents["common"] - latents["salient"] if "common" in latents else latents["z"]
        return x.reshape(-1, 1, SIDE, SIDE)


def brains(n=12, seed=0, tumour=0.3):
    """Brains of grey 0.6 with noise; a third has no tumour."""
    masks, inside = masks_and_inside(n, seed)
    groups = np.arange(n) % 3 > 0
    masks &= groups[:, None, None]
    noise = np.random.default_rng(seed).uniform(-0.02, 0.02, masks.shape)
    x = np.where(inside, np.where(masks, tumour, 0.6) + noise, 0.0)[:, None]
    return Samples(x.astype(np.float32), groups=groups.astype(int), masks=masks)


def test_perfect_constant_and_inverted_maps():
    masks, inside = masks_and_inside()
    assert map_auc(masks.astype(float), masks, inside) == 1.0
    assert map_auc(np.ones(masks.shape), masks, inside) == 0.5
    assert map_auc(-masks.astype(float), masks, inside) == 0.0
    assert map_dice(masks.astype(float), masks, inside, best_threshold(masks.astype(float), masks, inside)) == 1.0
    assert map_dice(-masks.astype(float), masks, inside, 0.5) == 0.0


def test_auc_and_dice_are_scikit_learns_and_do_not_depend_on_the_scale():
    masks, inside = masks_and_inside()
    maps = np.round(np.random.default_rng(1).normal(size=masks.shape) + masks, 1)  # with ties
    assert map_auc(maps, masks, inside) == pytest.approx(roc_auc_score(masks[inside], maps[inside]))
    assert map_auc(np.exp(maps), masks, inside) == pytest.approx(map_auc(maps, masks, inside))
    assert map_dice(maps, masks, inside, 0.7) == pytest.approx(f1_score(masks[inside], maps[inside] >= 0.7))


def test_random_maps_are_at_chance():
    masks, inside = masks_and_inside(200)
    n, m = masks[inside].sum(), (~masks[inside]).sum()
    auc = map_auc(np.random.default_rng(0).normal(size=masks.shape), masks, inside)
    assert abs(auc - 0.5) < 3 * np.sqrt((n + m + 1) / (12 * n * m))  # the standard error of the Mann-Whitney statistic


def test_pixels_outside_the_brain_do_not_count():
    masks, inside = masks_and_inside()
    maps = np.random.default_rng(0).normal(size=masks.shape)
    for outside in (-100.0, 100.0):
        moved = np.where(inside, maps, outside)
        assert map_auc(moved, masks, inside) == map_auc(maps, masks, inside)
        assert best_threshold(moved, masks, inside) == best_threshold(maps, masks, inside)
        assert map_dice(moved, masks, inside, 0.5) == map_dice(maps, masks, inside, 0.5)
    # Where they do count, a map of where the brain is looks good.
    assert map_auc(inside.astype(float), masks, np.ones_like(inside)) > 0.7
    assert map_auc(inside.astype(float), masks, inside) == 0.5


def test_the_best_threshold_is_the_best_of_all():
    masks, inside = masks_and_inside()
    maps = np.round(np.random.default_rng(2).normal(size=masks.shape) + 2 * masks, 1)
    each = {value: map_dice(maps, masks, inside, value) for value in np.unique(maps[inside])}
    assert map_dice(maps, masks, inside, best_threshold(maps, masks, inside)) == pytest.approx(max(each.values()))


def test_what_cannot_be_scored_is_refused():
    masks, inside = masks_and_inside()
    with pytest.raises(ValueError, match="pixels of both kinds inside; got 0 of"):
        map_auc(np.ones(masks.shape), np.zeros_like(masks), inside)
    with pytest.raises(ValueError, match="one shape"):
        map_auc(np.ones((2, 3, 3)), masks, inside)


def test_a_method_that_removes_the_tumour_has_the_perfect_map():
    scores = evaluate(Healer(), brains(), ["salient_map"], train=brains(seed=1))
    assert {name: round(one.value, 6) for name, one in scores.items()} == {
        f"map_{score}{kind}.x": 1.0 for kind in ("", "_absolute", "_decoded") for score in ("auc", "dice")
    }
    assert {one.n for one in scores.values()} == {8}  # the targets
    brighter = evaluate(Healer(), brains(tumour=0.9), ["salient_map"])
    assert brighter["map_auc.x"].value == pytest.approx(0.5)  # it heals the dark only
    assert "map_dice.x" not in brighter  # nothing to choose a threshold on


def test_a_method_without_salient_block_has_its_residual():
    scores = evaluate(Healer(("z",)), brains(), ["salient_map"], train=brains(seed=1))
    assert list(scores) == ["map_auc.x", "map_dice.x", "map_auc_absolute.x", "map_dice_absolute.x"]
    assert scores["map_auc.x"].value == 0.5  # perfectly reconstructed, nothing is left to see


def test_the_threshold_and_the_trivial_maps_learn_from_train_samples_only():
    test = brains()
    # Fainter tumours of train samples give another threshold; those of scored samples give the same one.
    both = {train: evaluate(Healer(), test, ["trivial_maps"], train=brains(seed=1, tumour=train)) for train in (0.3, 0.9)}
    assert both[0.3]["map_dice_mean_minus_image.x"].value > 0.9
    assert both[0.9]["map_dice_mean_minus_image.x"].value < 0.5
    one = evaluate(Healer(), test[: len(test) // 2], ["trivial_maps"], train=brains(seed=1))
    other = evaluate(Healer(), test[len(test) // 2 :], ["trivial_maps"], train=brains(seed=1))
    whole = both[0.3]["map_auc_brightness.x"].value
    assert min(one["map_auc_brightness.x"].value, other["map_auc_brightness.x"].value) <= whole <= 0.1


def test_the_whole_brain_has_its_closed_form():
    test = brains()
    scores = evaluate(Healer(), test, ["trivial_maps"], train=brains(seed=1))
    inside, masks = test.target.x[:, 0] > 0.05, test.target.masks
    share = masks[inside].mean()
    assert scores["map_dice_brain.x"].value == pytest.approx(2 * share / (1 + share))
    assert scores["map_auc_brain.x"].value == 0.5
    assert scores["map_auc_mean_minus_image.x"].value == 1.0
    assert {one.direction for one in scores.values()} == {"info"}


def test_trivial_maps_by_hand():
    rng = np.random.default_rng(0)
    target, background = rng.uniform(size=(3, 8, 8)), rng.uniform(size=(5, 8, 8))
    maps = baseline_maps(target, background)
    np.testing.assert_allclose(maps["mean_minus_image"], background.mean(0) - target)
    np.testing.assert_allclose(maps["mean_distance"], abs(maps["mean_minus_image"]))
    # What the principal components of the background span is no residual.
    assert np.abs(baseline_maps(background, background)["pca"]).max() < 1e-9
    np.testing.assert_allclose(maps["pca"], abs(maps["pca_minus_image"]))


def test_samples_without_masks_are_refused():
    data = brains()
    bare = Samples(data.x, groups=data.groups)
    with pytest.raises(ValueError, match="the metric 'salient_map' needs images with masks"):
        evaluate(Healer(), bare, ["salient_map"])
    with pytest.raises(ValueError, match="the metric 'trivial_maps' needs samples to learn from"):
        evaluate(Healer(), data, ["trivial_maps"])
