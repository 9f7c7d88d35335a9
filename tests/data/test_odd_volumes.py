"""Odd volumes: each is handled and said, or refused in one sentence that names the file."""

import gzip
import struct
import warnings

import nibabel
import numpy as np
import pytest
from brains import affine, bids, brain, save
from dicom_files import save_series

from untwine.data.imaging.writing import write_images
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_scans, read_volumes

GROUP = Roles(group="group", background=("control",))


def truncated(root):
    path = save(root / "t.nii.gz", np.random.default_rng(0).integers(0, 999, (24, 28, 20)).astype(np.int16))
    path.write_bytes(path.read_bytes()[:-2000])


def shorter(root):
    path = save(root / "t.nii", brain(0)[0])
    path.write_bytes(path.read_bytes()[:-10])


def text(root):
    (root / "t.nii").write_text("not a volume " * 100)


def huge(root):
    path = save(root / "h.nii.gz", brain(0)[0])
    header = bytearray(gzip.decompress(path.read_bytes()))
    struct.pack_into("<4h", header, 40, 3, 32767, 32767, 32767)
    path.write_bytes(gzip.compress(bytes(header)))


def colours(root):
    rgb = np.zeros((12, 12, 12), np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")]))
    nibabel.Nifti1Image(rgb, np.eye(4)).to_filename(root / "rgb.nii.gz")


def flat_affine(root):
    image = nibabel.Nifti1Image(brain(0)[0], affine())
    image.header["srow_x"] = 0
    image.header["sform_code"] = 1
    path = root / "f.nii"
    image.to_filename(path)
    content = bytearray(path.read_bytes())
    struct.pack_into("<4f", content, 280, 0, 0, 0, 0)
    path.write_bytes(content)


def table(root, change):
    bids(root, 2, 2)
    path = root / "participants.tsv"
    path.write_text(change(path.read_text()))


def mask_of_other_size(root):
    bids(root, 2, 2)
    save(next((root / "derivatives").rglob("*lesion.nii.gz")), np.zeros((24, 28, 21), np.uint8))


def no_mask(root):
    bids(root, 2, 2)
    next((root / "derivatives").rglob("*lesion.nii.gz")).unlink()


def two_sizes_of_dicom(root):
    series = "1.2.3.4567890"
    save_series(root, brain(0)[0][:, :, :10], series=series)
    save_series(root, brain(0)[0][:20, :, :10], series=series, leave_out=range(5))


def mixed_fov(root):
    save(root / "a.nii.gz", brain(0)[0])
    save(root / "b.nii.gz", brain(1)[0], affine((4.0, 4.0, 4.0)))


def mixed_shapes(root):
    save(root / "a.nii.gz", brain(0)[0])
    save(root / "b.nii.gz", brain(0, shape=(20, 20, 20))[0])


REFUSED = {
    "truncated .nii.gz": (truncated, {}, r"t.nii.gz must hold 24 x 28 x 20 voxels; it is truncated or damaged"),
    "truncated .nii": (shorter, {}, r"t.nii must hold 24 x 28 x 20 voxels; it is truncated or damaged"),
    "text": (text, {}, r"t.nii must be a NIfTI volume .* cannot be read"),
    "huge header": (huge, {}, r"h.nii.gz must have at most 134,217,728 voxels; its header says \(32767, 32767, 32767\)"),
    "RGB": (colours, {}, r"rgb.nii.gz must hold one plain number in every voxel; it holds colours"),
    "complex": (
        lambda root: save(root / "c.nii.gz", np.ones((12, 12, 12), np.complex64)),
        {},
        r"c.nii.gz .* it holds complex numbers",
    ),
    "4-D": (
        lambda root: save(root / "f.nii.gz", np.ones((12, 12, 12, 5), np.int16)),
        {},
        r"f.nii.gz must be one volume \(x, y, z\); got the shape \(12, 12, 12, 5\)",
    ),
    "2-D": (lambda root: save(root / "f.nii.gz", np.ones((12, 12), np.int16), np.eye(4)), {}, r"f.nii.gz must be one volume"),
    "empty volume": (
        lambda root: save(root / "e.nii.gz", np.zeros((12, 12, 12), np.int16)),
        {},
        r"e.nii.gz must have voxels other than 0; all 1,728 are 0",
    ),
    "all NaN": (
        lambda root: save(root / "n.nii.gz", np.full((12, 12, 12), np.nan, np.float32)),
        {"warn": True},
        r"n.nii.gz must have voxels other than 0",
    ),
    "an affine without inverse": (flat_affine, {}, r"f.nii must have an affine that can be inverted"),
    "slices out of range": (
        lambda root: save(root / "a.nii.gz", brain(0)[0]),
        {"slices": (10, 40)},
        r"a.nii.gz must have the slices 10 to 40; along the axial axis it has 20",
    ),
    "different fields of view": (mixed_fov, {"size": 16}, r"a.nii.gz covers 56 mm and .*b.nii.gz 112 mm; pass fov=112"),
    "different sizes": (mixed_shapes, {}, r"equal sides from 8 to 128; those of .*b.nii.gz have \(20, 20\).*; pass size"),
    "a participants.tsv without the column": (
        lambda root: table(root, lambda t: t.replace("group", "gruppe")),
        {"roles": GROUP},
        r"participants.tsv must have the column 'group'; it has 'participant_id', 'gruppe', 'age'",
    ),
    "no participants.tsv": (
        lambda root: save(root / "a.nii.gz", brain(0)[0]),
        {"roles": GROUP},
        r"participants.tsv must have the columns 'group'; there is no such file",
    ),
    "a file without a participant": (
        lambda root: table(root, lambda t: "".join(t.splitlines(True)[:-1])),
        {"roles": GROUP},
        r"must have a row for every scan; sub-03/anat/sub-03_T1w.nii.gz is of 'sub-03', which has none",
    ),
    "a participant twice": (
        lambda root: table(root, lambda t: t + "sub-00\tpatient\t30\n"),
        {"roles": GROUP},
        r"participants.tsv must have one row for each participant; line 6 has 'sub-00' again",
    ),
    "another background": (
        lambda root: bids(root, 2, 2),
        {"roles": Roles(group="group", background=("healthy",))},
        r"participants.tsv must have the background 'healthy' in the column 'group'; got 'control', 'patient'",
    ),
    "a mask of another size": (mask_of_other_size, {"masks": "lesion"}, r"lesion.nii.gz must have the voxels of sub-0"),
    "a patient without a mask": (
        no_mask,
        {"roles": GROUP, "masks": "lesion"},
        r"sub-00_T1w.nii.gz must have a mask, a file of its name that ends in lesion.nii.gz",
    ),
    "DICOM of two sizes": (two_sizes_of_dicom, {}, r"must have slices of equal sizes; got 28, 2[04] in .* and 28, 2[04] in"),
    "DICOM in colours": (
        lambda root: save_series(root, brain(0)[0], SamplesPerPixel=3),
        {},
        r"_0\d\d.dcm must be one grey slice; it has colours",
    ),
    "DICOM without positions": (
        lambda root: save_series(root, brain(0)[0], ImagePositionPatient=None, PixelSpacing=None),
        {},
        r"must say where its slice lies; it has no ",
    ),
    "DICOM that is text": (
        lambda root: (root / "a.dcm").write_text("no"),
        {},
        r"a.dcm must be a DICOM file; it cannot be read",
    ),
    "nothing": (lambda root: (root / "a.txt").write_text("no"), {}, r"must be or hold NIfTI files .* or DICOM; it has none"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_it_is_refused_in_one_sentence_that_names_it(tmp_path, kind):
    make, options, sentence = REFUSED[kind]
    options = dict(options)
    roles, warn = options.pop("roles", Roles()), options.pop("warn", False)
    make(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if warn else "error")
        with pytest.raises(ValueError, match=sentence) as error:
            read_volumes(tmp_path, roles, **options)
    assert str(tmp_path) in str(error.value)
    assert "\n" not in str(error.value)


def test_nan_voxels_are_0_and_said(tmp_path):
    values = brain(0)[0].astype(np.float32)
    clean = read_volumes(save(tmp_path / "a" / "s.nii.gz", values), Roles(), slices="all")
    values[values == 0] = np.nan
    values[0, 0, 0] = np.inf
    path = save(tmp_path / "b" / "s.nii.gz", values)
    with pytest.warns(
        UserWarning, match=rf"s.nii.gz has {np.count_nonzero(~np.isfinite(values)):,} voxels with NaN or infinity"
    ):
        read = read_scans(path, slices="all")
    np.testing.assert_array_equal(read.samples.x, clean.x)
    (out,) = write_images(read, read.samples.x, tmp_path / "out")
    np.testing.assert_array_equal(np.isnan(nibabel.load(out).get_fdata()), np.isnan(values))


def test_negative_values_are_values(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.integers(-1024, 3000, (16, 16, 16)).astype(np.int16)
    read = read_scans(save(tmp_path / "ct.nii.gz", values), slices="all", percentiles=(0, 100))
    expected = (values.astype(float) - values.min()) / (float(values.max()) - values.min())
    np.testing.assert_allclose(read.samples.x[:, 0], expected.transpose(2, 1, 0)[:, ::-1], atol=1e-6)
    (out,) = write_images(read, read.samples.x, tmp_path / "out")
    assert np.abs(nibabel.load(out).get_fdata() - values).max() <= 1


def test_a_participant_without_a_file_is_left_out_and_said(tmp_path):
    table(tmp_path, lambda t: t + "sub-99\tpatient\t30\n")
    with pytest.warns(UserWarning, match=r"participants.tsv has 1 participants without a scan, .*: sub-99"):
        assert len(read_volumes(tmp_path, GROUP)) == 4


def test_a_file_without_orientation_is_read_by_the_rule_of_nifti_and_said(tmp_path):
    path = save(tmp_path / "a.nii.gz", brain(0)[0], sform_code=0, qform_code=0)
    content = bytearray(gzip.decompress(path.read_bytes()))
    struct.pack_into("<2h", content, 252, 0, 0)
    path.write_bytes(gzip.compress(bytes(content)))
    with pytest.warns(UserWarning, match=r"a.nii.gz does not say how its axes lie"):
        read = read_scans(path, slices="all")
    flipped = read_scans(save(tmp_path / "b" / "a.nii.gz", brain(0)[0]), slices="all")
    np.testing.assert_allclose(read.samples.x, flipped.samples.x[..., ::-1], atol=1e-6)


def test_a_fourth_axis_of_one_and_a_constant_brain_are_read(tmp_path):
    values = brain(0)[0]
    scans = read_scans(save(tmp_path / "a.nii.gz", values[..., None]), slices="all")
    (out,) = write_images(scans, scans.samples.x, tmp_path / "out")
    assert nibabel.load(out).shape == (*values.shape, 1)
    assert set(np.unique(read_volumes(save(tmp_path / "m" / "m.nii.gz", (values > 0).astype(np.uint8)), Roles()).x)) == {0, 1}


def test_unicode_paths_and_mixed_orientations(tmp_path):
    folder = tmp_path / "Gehirne ü 脳"
    for name, turn in (("äß", 1), ("脳 2", -1)):
        save(folder / f"{name}.nii.gz", brain(0)[0][::turn], np.diag([turn, 1, 1, 1.0]) @ affine())
    data = read_volumes(folder, Roles(), size=24)
    assert sorted(data.source_names) == sorted(("äß", "脳 2"))
    np.testing.assert_allclose(data.x[0], data.x[1], atol=1e-6)


def test_a_read_only_folder_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    import os

    scans = read_scans(save(tmp_path / "a.nii.gz", brain(0)[0]))
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: "out" not in str(path))  # root may write everywhere
    with pytest.raises(ValueError, match=r"out must be a folder that can be written; it cannot \(permission denied\)"):
        write_images(scans, scans.samples.x, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"axis": "axail"}, "axis must be 'axial', 'coronal' or 'sagittal'; got 'axail'; did you mean 'axial'"),
        ({"slices": "half"}, "slices must be 'middle', 'all', or a range"),
        ({"slices": (5,)}, "slices must be two numbers"),
        ({"slices": (0.6, 0.4)}, "slices must be fractions of the volume from 0 to 1, the lower first"),
        ({"every": 0}, "every must be an integer of at least 1"),
        ({"size": 200}, "size must be an integer from 8 to 128"),
        ({"size": 65, "volumes": True}, "size must be an integer from 8 to 64"),
        ({"fov": 200}, "got fov without size"),
        ({"percentiles": (99, 1)}, "percentiles must be two numbers from 0 to 100, the lower first"),
        ({"groups_by_mask": True}, "groups_by_mask takes the groups from masks"),
        ({"volumes": 1}, "volumes must be True or False"),
        ({"suffix": "T2w"}, "must have files with suffix='T2w'; none of 4 has"),
    ],
)
def test_wrong_options(tmp_path, options, sentence):
    bids(tmp_path, 2, 2)
    with pytest.raises((ValueError, TypeError), match=sentence):
        read_volumes(tmp_path, Roles(), **options)
