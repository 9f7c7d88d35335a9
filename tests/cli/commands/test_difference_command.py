"""`untwine difference` and `untwine remove` on scans and image files, compared with the same calls in Python."""

import json
from pathlib import Path

import nibabel
import numpy as np
import pytest
from brains import bids, brain, save
from command_line import exit_code, run
from images_on_disk import arrays, pixels
from PIL import Image

import untwine as un
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_scans
from untwine.method.difference import foreground, one_sided, threshold

SCAN = Path("brains/sub-00/anat/sub-00_T1w.nii.gz")
READ = {"slices": [0.4, 0.6], "size": 24, "axis": "coronal"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with scans, and runs on slices and on whole volumes of them, whose data are arrays."""
    place = tmp_path_factory.mktemp("difference")
    folder = bids(place / "brains", 6, 6)
    for name, options in (("run", READ), ("whole", {"volumes": True, "size": 12})):
        samples = read_scans(folder, Roles(group="group", background=("control",)), **options).samples
        split = np.where(np.isin(samples.sources, [0, 1, 6, 7]), "test", "train")
        np.savez(place / f"{name}.npz", x=samples.x, groups=samples.groups, split=split)
        train = un.data.load(place / f"{name}.npz").train
        method = un.ContrastivePCA(n_common=6, n_salient=3).fit(
            train, origin={"name": str(place / f"{name}.npz"), "options": {}}
        )
        method.save(place / name)
    return place


@pytest.fixture
def inside(place, monkeypatch, tmp_path):
    monkeypatch.chdir(place)
    return tmp_path


WORDS = ("--data-set", "slices=[0.4,0.6]", "--data-set", "axis=coronal")


def test_maps_and_masks_of_scans_have_their_header_and_the_threshold_of_held_out_background(inside, capsys):
    out = inside / "maps"
    run("difference", "run", SCAN, *WORDS, "--threshold", "auto", "--above", 2, "--side", "darker", "--out", out, "--json")
    printed = json.loads(capsys.readouterr().out)
    method, scans = un.load_method("run"), read_scans(SCAN, **READ)
    background = un.data.load("run.npz").test.background
    limit = threshold(un.manipulate.difference(method, background), foreground(background.x), 2, "darker")
    assert printed["threshold"] == pytest.approx(limit)
    assert [Path(one).name for one in printed["files"]] == ["sub-00_T1w_difference.nii.gz", "sub-00_T1w_mask.nii.gz"]
    image, mask, given = (nibabel.load(one) for one in (*printed["files"], SCAN))
    np.testing.assert_array_equal(image.affine, given.affine)
    assert image.shape == mask.shape == given.shape
    np.testing.assert_array_equal(np.asarray(mask.dataobj) > 0, -image.get_fdata() >= limit)
    maps = un.manipulate.difference(method, scans.samples)
    assert np.abs(image.get_fdata()).sum(axis=(0, 2)).nonzero()[0].tolist() == sorted(scans.index)
    assert np.abs(maps).max() >= np.abs(image.get_fdata()).max()  # interpolation adds nothing


def test_maps_in_one_file(inside, capsys):
    run("difference", "run", SCAN, *WORDS, "--threshold", 0.2, "--out", inside / "maps.npz")
    assert "masks from 0.2 on (as given)" in capsys.readouterr().out
    written, method, scans = arrays(inside / "maps.npz"), un.load_method("run"), read_scans(SCAN, **READ)
    np.testing.assert_allclose(written["maps"], un.manipulate.difference(method, scans.samples), atol=1e-6)
    np.testing.assert_array_equal(written["masks"], one_sided(written["maps"], "either") >= 0.2)
    assert written["ids"][0] == f"{SCAN.name} coronal {scans.index[0]}"
    run("difference", "run", SCAN, *WORDS, "--out", inside / "maps.npy")
    np.testing.assert_array_equal(np.load(inside / "maps.npy"), written["maps"])
    run("difference", "run", "--samples", 3, "--threshold", "auto", "--out", inside / "maps.png")
    assert pixels(inside / "maps.png").shape[0] > 5 * 100


def test_whole_volumes(inside):
    run("difference", "whole", SCAN, "--threshold", 0.2, "--out", inside / "maps")
    assert nibabel.load(inside / "maps" / "sub-00_T1w_difference.nii.gz").shape == nibabel.load(SCAN).shape
    run("difference", "whole", SCAN, "--out", inside / "maps.png")
    run("remove", "whole", SCAN, "--out", inside / "out.png")
    run("remove", "whole", SCAN, "--out", inside / "out.png", "--plain", "--overwrite")
    assert pixels(inside / "out.png").shape[:2] == (12, 12)
    run("remove", "whole", SCAN, "--out", inside / "out.npz")
    assert arrays(inside / "out.npz")["removed"].shape == (1, 1, 12, 12, 12)


def test_counterparts_of_scans_are_volumes_with_their_names_and_headers(inside):
    folder = inside / "two"
    for number in (0, 3):
        save(folder / f"p{number}" / "t1.nii.gz", brain(number, lesion=True)[0])
    run("remove", "run", folder, *WORDS, "--out", inside / "healthy")
    for number in (0, 3):
        image, given = (nibabel.load(one / f"p{number}" / "t1.nii.gz") for one in (inside / "healthy", folder))
        assert image.header == given.header
        changed = np.asarray(image.dataobj) != np.asarray(given.dataobj)
        assert 0.02 < changed.mean() < 0.3
    assert exit_code("remove", "run", folder, *WORDS, "--out", inside / "healthy") == 2


def test_image_files_become_images_of_their_names(inside):
    (inside / "in").mkdir()
    x = un.data.load("run.npz").test.x[:3]
    for name, image in zip(("a.png", "b.tif", "c.png"), x, strict=True):
        Image.fromarray(np.rint(image[0] * 255).astype(np.uint8)).save(inside / "in" / name)
    run("remove", "run", inside / "in", "--out", inside / "out")
    method, given = un.load_method("run"), un.data.read_samples(inside / "in")
    removed = un.manipulate.remove(method, given)
    assert sorted(one.name for one in (inside / "out").iterdir()) == ["a.png", "b.png", "c.png"]
    np.testing.assert_array_equal(pixels(inside / "out" / "b.png"), np.rint(255 * removed[1, 0]))
    run("difference", "run", inside / "in", "--threshold", 0.1, "--out", inside / "maps")
    assert sorted(one.name for one in (inside / "maps").iterdir()) == sorted(
        f"{i}{end}.png" for i in "abc" for end in ("", "_mask")
    )
    maps = un.manipulate.difference(method, given)
    np.testing.assert_array_equal(pixels(inside / "maps" / "c_mask.png") == 255, np.abs(maps[2]) >= 0.1)
    colours = pixels(inside / "maps" / "a.png").astype(int)
    low = np.unravel_index(maps[0].argmin(), maps[0].shape)
    assert colours[low][0] > colours[low][2]  # red where the image is darker


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--threshold", "2"), "--threshold must be a number from 0 to 1, or auto; got '2'"),
        (("--threshold", "most"), "--threshold must be a number from 0 to 1, or auto; got 'most'"),
        (("--threshold", "auto", "--above", "80"), "above must be a number from"),
        (("--out", "new"), "--out new is a folder, for files of the names of your own; got no file or folder to read"),
        (("--out", "a.txt"), "--out must end in .png, .npz or .npy"),
        ((SCAN, *WORDS, "--data-set", "slice=all"), "scans have no option 'slice' of reading; did you mean"),
        ((SCAN, "--data-set", "volumes=true"), "the run has samples of shape (1, 24, 24)"),
        (("--block", "commn"), "block must be 'common' or 'salient'"),
    ],
)
def test_what_cannot_be_is_one_sentence(inside, capsys, words, sentence):
    out = () if "--out" in words else ("--out", inside / "out.npz")
    assert exit_code("difference", "run", *words, *out) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (inside / "out.npz").exists()
    assert not Path("new").exists()
