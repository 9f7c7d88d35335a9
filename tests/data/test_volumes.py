"""Scans become samples: whose they are, which slices, at which size, with which intensities, however they are stored."""

import json
import shutil

import nibabel
import numpy as np
import pytest
from brains import SHAPE, affine, bids, brain, reoriented, save

from untwine.data.imaging.layout import holds_volumes
from untwine.data.imaging.scan import scaling_of
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_scans, read_volumes
from untwine.data.sources import source_folds
from untwine.data.splits import hold_out

CONTROLS = Roles(group="group", background=("control",), covariates=("age",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return bids(tmp_path_factory.mktemp("bids"), patients=5, controls=5)


def test_participants_give_groups_covariates_and_sources(folder):
    data = read_volumes(folder, CONTROLS, slices=(8, 12), size=24, masks="lesion", suffix="T1w")
    assert data.x.shape == (40, 1, 24, 24)
    assert data.group_names == ("control", "patient")
    np.testing.assert_array_equal(data.groups, np.repeat([1, 0], 20))
    assert data.covariates.names == ("age",)
    np.testing.assert_array_equal(data.covariates.values[:, 0], np.repeat(30 + np.arange(10), 4))
    assert data.source_names == tuple(f"sub-{i:02d}" for i in range(10))
    assert data.ids[5] == "sub-01/anat/sub-01_T1w.nii.gz axial 9"
    assert data.masks[data.groups == 1].any()
    assert not data.masks[data.groups == 0].any()


def test_no_subject_is_on_both_sides_of_a_split_or_fold(folder):
    data = read_volumes(folder, CONTROLS, slices="all", size=16)
    for seed in range(5):
        splits = hold_out(data, seed=seed)
        assert not set(splits.train.sources) & set(splits.test.sources)
        assert set(splits.test.groups) == {0, 1}
    for test in source_folds(data.sources, data.groups, 5, 0):
        inside = set(data.sources[test])
        assert not inside & set(np.delete(data.sources, test))


def test_slices_are_the_voxels_that_they_say(tmp_path):
    values, _ = brain(0)
    path = save(tmp_path / "a.nii", values)
    unit = scaling_of(values.astype(np.float32), (1, 99.5), path).to_unit(values.astype(np.float32))
    one = {axis: read_volumes(path, Roles(), axis=axis, slices=(9, 10)).x[0, 0] for axis in ("axial", "coronal", "sagittal")}
    np.testing.assert_allclose(one["axial"], unit[:, ::-1, 9].T)  # anterior above, left at the left
    np.testing.assert_allclose(one["coronal"], unit[:, 9, ::-1].T)  # superior above
    np.testing.assert_allclose(one["sagittal"], unit[9, :, ::-1].T)
    whole = read_volumes(path, Roles(), volumes=True).x[0, 0]
    np.testing.assert_allclose(whole[9], one["axial"])
    assert read_volumes(path, Roles()).ids.tolist() == ["a.nii axial 10"]
    assert [i.split()[-1] for i in read_volumes(path, Roles(), slices=(0.25, 0.75), every=4).ids] == ["5", "9", "13"]


def test_intensities_are_scaled_by_percentiles_of_voxels_that_are_not_0(tmp_path):
    values, _ = brain(1)
    path = save(tmp_path / "a.nii.gz", values)
    low, high = np.percentile(values[values != 0], (5, 90))
    read = read_scans(path, percentiles=(5, 90), slices="all")
    assert read.scalings[0] == pytest.approx((low, high))
    expected = np.clip((values - low) / (high - low), 0, 1)
    np.testing.assert_allclose(read.samples.x[:, 0], expected.transpose(2, 1, 0)[:, ::-1], atol=1e-5)


@pytest.mark.parametrize("axes", ["RAS", "LPS", "PIR", "ASL"])
def test_the_same_brain_gives_the_same_samples_however_its_axes_are_stored(tmp_path, axes):
    values, _mask = brain(2, lesion=True)
    as_ras = save(tmp_path / "ras" / "a.nii.gz", values)
    turned, matrix = reoriented(values, affine(), axes)
    other = save(tmp_path / "other" / "a.nii.gz", turned, matrix)
    options = {"slices": (0.3, 0.7), "size": 24}
    for axis in ("axial", "coronal", "sagittal"):
        a, b = (read_volumes(path, Roles(), axis=axis, **options).x for path in (as_ras, other))
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_an_oblique_affine_changes_nothing_but_where_the_brain_lies(tmp_path):
    values, _ = brain(3)
    angle = np.deg2rad(12)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    matrix = affine()
    matrix[:3, :3] = turn @ matrix[:3, :3]
    a, b = save(tmp_path / "a" / "s.nii.gz", values), save(tmp_path / "b" / "s.nii.gz", values, matrix)
    np.testing.assert_allclose(*(read_volumes(p, Roles(), slices="all", size=32).x for p in (a, b)), atol=1e-5)


def test_voxels_of_other_sizes_show_the_same_brain(tmp_path):
    fine, _ = brain(4, shape=(48, 56, 40))
    coarse = fine.reshape(24, 2, 28, 2, 20, 2).mean(axis=(1, 3, 5)).astype(np.float32)
    a = save(tmp_path / "a.nii.gz", fine.astype(np.float32), affine((1.0, 1.0, 1.0), fine.shape))
    b = save(tmp_path / "b.nii.gz", coarse)
    flat = save(tmp_path / "c.nii.gz", fine.reshape(48, 56, 20, 2).mean(axis=3), affine((1.0, 1.0, 2.0), (48, 56, 20)))
    xs = [read_volumes(p, Roles(), volumes=True, size=16, percentiles=(0, 100)).x for p in (a, b, flat)]
    for other in xs[1:]:
        assert np.abs(other - xs[0]).mean() < 0.03
        assert np.corrcoef(xs[0].ravel(), other.ravel())[0, 1] > 0.99


def test_background_and_target_folders_are_groups(tmp_path):
    for name, side in (("c1", "background"), ("c2", "background"), ("p1", "target_ms"), ("p2", "target_tumour")):
        save(tmp_path / side / f"{name}.nii.gz", brain(len(name))[0])
    data = read_volumes(tmp_path, Roles(), size=16)
    assert data.group_names == ("background", "ms", "tumour")
    np.testing.assert_array_equal(data.groups, [0, 0, 1, 2])
    assert data.source_names == ("c1", "c2", "p1", "p2")


def test_folders_of_patients_are_grouped_by_their_masks_and_visits_are_one_source(tmp_path):
    for name in ("BraTS-GLI-00001-000", "BraTS-GLI-00001-001", "BraTS-GLI-00002-000"):
        values, mask = brain(int(name[-7]) + int(name[-1]), lesion=True)
        for ending in ("t1n", "t2w"):
            save(tmp_path / name / f"{name}-{ending}.nii.gz", values)
        save(tmp_path / name / f"{name}-seg.nii.gz", mask.astype(np.uint8))
    options = {"suffix": "t1n", "masks": "seg", "slices": "all", "size": 24, "session": "all"}
    data = read_volumes(tmp_path, Roles(), groups_by_mask=True, **options)
    assert len(data) == 3 * SHAPE[2]
    np.testing.assert_array_equal(data.groups == 1, data.masks.any(axis=(1, 2)))
    assert data.source_names == ("BraTS-GLI-00001", "BraTS-GLI-00002")


def test_sessions_and_runs_are_chosen_or_all_taken_as_one_source(tmp_path):
    for session in "12":
        for run in "12":
            save(tmp_path / "sub-a" / f"ses-{session}" / "anat" / f"sub-a_ses-{session}_run-{run}_T1w.nii.gz", brain(1)[0])
    with pytest.raises(ValueError, match=r"must have one scan of sub-a; got .*session='1'"):
        read_volumes(tmp_path, Roles(), size=16)
    assert len(read_volumes(tmp_path, Roles(), size=16, session="1", run="2")) == 1
    every = read_volumes(tmp_path, Roles(), size=16, session="all", run="all")
    assert len(every) == 4
    assert every.source_names == ("sub-a",)
    assert len(read_volumes(tmp_path, Roles(), size=16, pattern="*run-1*", session="all")) == 2


def test_one_file_one_folder_and_which_paths_hold_volumes(tmp_path, folder):
    one = folder / "sub-03" / "anat" / "sub-03_T1w.nii.gz"
    assert read_volumes(one, Roles(), size=16).ids.tolist() == ["sub-03_T1w.nii.gz axial 10"]
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.csv").write_text("1")
    assert holds_volumes(one)
    assert holds_volumes(folder)
    assert not holds_volumes(tmp_path / "text")
    assert not holds_volumes(tmp_path / "absent")


def test_options_are_what_json_can_hold(folder):
    import inspect

    options = {p.name: p.default for p in inspect.signature(read_volumes).parameters.values() if p.kind is p.KEYWORD_ONLY}
    stored = json.loads(json.dumps(options))
    data = read_volumes(folder, CONTROLS, **{**stored, "size": 16})
    assert data.fingerprint() == read_volumes(folder, CONTROLS, size=16).fingerprint()


def test_big_endian_and_nifti_2_are_read(tmp_path):
    values, _ = brain(5)
    small = read_volumes(save(tmp_path / "a.nii.gz", values), Roles(), slices="all").x
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(np.dtype(">i2"))
    nibabel.Nifti1Image(values.astype(">i2"), affine(), header).to_filename(tmp_path / "b.nii")
    nibabel.Nifti2Image(values, affine()).to_filename(tmp_path / "c.nii.gz")
    for name in ("b.nii", "c.nii.gz"):
        np.testing.assert_allclose(read_volumes(tmp_path / name, Roles(), slices="all").x, small, atol=1e-6)
    shutil.rmtree(tmp_path)
