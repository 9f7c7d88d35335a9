"""Brains with lesions, from NIfTI to maps: the difference to the counterpart is where the lesion is.

On patients that were held out, contrastive PCA reaches a Dice coefficient of 0.83; the mean background minus the image has 0.80
here, where all brains lie alike, and brightness 0.05, which is that of the whole brain.
"""

import nibabel
import numpy as np
import pytest
from brains import bids, brain

import untwine as un
from untwine.data.imaging.writing import write_maps
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_scans
from untwine.data.splits import hold_out
from untwine.method.difference import foreground, one_sided, threshold
from untwine.metrics import best_threshold, map_auc, map_dice
from untwine.metrics.trivial_maps import baseline_maps


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = bids(tmp_path_factory.mktemp("brains"), 24, 24)
    options = {"masks": "lesion", "slices": (0.35, 0.65), "every": 2, "size": 24}
    samples = read_scans(folder, Roles(group="group", background=("control",)), **options).samples
    splits = hold_out(samples)
    return un.ContrastivePCA(n_common=16, n_salient=16).fit(splits.train), splits, folder


def darker(method, samples):
    return one_sided(un.manipulate.difference(method, samples), "darker")


def test_the_map_is_where_the_lesion_is_and_trivial_maps_are_not(fitted):
    method, (train, test), _ = fitted
    assert not set(train.sources) & set(test.sources)
    train, unseen, background = train.target, test.target, train.background.x[:, 0]
    inside = foreground(unseen.x)
    limit = best_threshold(darker(method, train), train.masks, foreground(train.x))
    dice = map_dice(darker(method, unseen), unseen.masks, inside, limit)
    assert dice > 0.75
    assert map_auc(darker(method, unseen), unseen.masks, inside) > 0.95
    learned, maps = (baseline_maps(one.x[:, 0], background) for one in (train, unseen))
    trivial = {
        name: map_dice(maps[name], unseen.masks, inside, best_threshold(learned[name], train.masks, foreground(train.x)))
        for name in ("brightness", "mean_minus_image", "mean_distance", "brain")
    }
    assert dice > max(trivial.values())
    assert trivial["brightness"] < 0.15
    assert trivial["brain"] < 0.15 < 0.6 < trivial["mean_minus_image"]


def test_a_threshold_from_held_out_background_finds_it_too_and_little_in_controls(fitted):
    method, (_, test), _ = fitted
    maps = un.manipulate.difference(method, test.background)
    inside = foreground(test.background.x)
    limit = threshold(maps, inside, 1.0, "darker")
    assert (one_sided(maps, "darker")[inside] >= limit).mean() == pytest.approx(0.01, abs=0.003)
    unseen = test.target
    assert map_dice(darker(method, unseen), unseen.masks, foreground(unseen.x), limit) > 0.55


def test_the_mask_that_is_written_is_the_lesion_in_the_patients_own_voxels(fitted, tmp_path):
    method, (_, test), folder = fitted
    patient = sorted({test.source_names[i] for i in test.target.sources})[0]
    path = folder / patient / "anat" / f"{patient}_T1w.nii.gz"
    scans = read_scans(path, slices=(0.35, 0.65), size=24, fov=56)
    (mask,) = write_maps(scans, darker(method, scans.samples), tmp_path, "mask", at_least=0.25)
    found = np.asarray(nibabel.load(mask).dataobj) > 0
    truth = brain(int(patient[-2:]), lesion=True)[1]
    truth[:, :, [k for k in range(20) if k not in scans.index]] = False
    assert 2 * (found & truth).sum() / (found.sum() + truth.sum()) > 0.6
