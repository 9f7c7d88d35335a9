"""NIfTI in, NIfTI out: the header and the affine of the input, slices in their place, intensities in the file's units."""

import nibabel
import numpy as np
import pytest
from brains import affine, brain, reoriented, save

from untwine.data.imaging.writing import OF_VALUES, header_of, write_images, write_maps
from untwine.data.readers.volumes import read_scans


def oblique():
    angle = np.deg2rad(15)
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    matrix = affine()
    matrix[:3, :3] = turn @ matrix[:3, :3]
    return matrix


STORED = {
    "RAS": lambda values: (values, affine()),
    "LPS": lambda values: reoriented(values, affine(), "LPS"),
    "PIR": lambda values: reoriented(values, affine(), "PIR"),
    "oblique": lambda values: (values, oblique()),
}


def stored(path, values, matrix, dtype=np.int16, kind=nibabel.Nifti1Image, slope=None):
    """Write a file whose header has all that a scanner leaves there."""
    image = kind(values.astype(dtype), matrix)
    image.set_sform(matrix, 1)
    image.set_qform(matrix, 2)
    image.header["descrip"], image.header["aux_file"], image.header["cal_max"] = b"3T scanner", b"none", 1500
    image.header.set_xyzt_units("mm", "sec")
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"from the clinic"))
    if slope:
        image.header.set_slope_inter(*slope)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.to_filename(path)
    return path


def fields(path):
    """Return the header as it is stored, field by field, and its extensions."""
    kind = type(nibabel.load(path).header)
    with nibabel.openers.ImageOpener(path) as file:
        header = kind.from_fileobj(file, check=False)
    return {name: header[name].tobytes() for name in header}, [one.get_content() for one in header.extensions]


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
@pytest.mark.parametrize("layout", STORED)
def test_header_and_affine_are_those_of_the_input_field_by_field(tmp_path, layout, name):
    values, _ = brain(0)
    path = stored(tmp_path / "in" / name, *STORED[layout](values))
    scans = read_scans(path, slices="all", size=32)
    (image,) = write_images(scans, scans.samples.x, tmp_path / "images")
    (maps,) = write_maps(scans, scans.samples.x[:, 0] - 0.5, tmp_path / "maps")
    (masks,) = write_maps(scans, scans.samples.x[:, 0], tmp_path / "maps", "mask", at_least=0.3)
    assert fields(image) == fields(path)
    for out, dtype in ((maps, np.float32), (masks, np.uint8)):
        own, given = fields(out), fields(path)
        assert own[1] == given[1]
        assert {key for key in own[0] if own[0][key] != given[0][key]} <= set(OF_VALUES)
        assert nibabel.load(out).get_data_dtype() == dtype
    for out in (image, maps, masks):
        np.testing.assert_array_equal(nibabel.load(out).affine, nibabel.load(path).affine)
        assert out.name == {image: name, maps: f"a_difference{name[1:]}", masks: f"a_mask{name[1:]}"}[out]


@pytest.mark.parametrize("layout", STORED)
@pytest.mark.parametrize("axis", ["axial", "coronal", "sagittal"])
def test_samples_that_are_not_changed_come_back_in_their_own_orientation(tmp_path, layout, axis):
    values, _ = brain(1)
    path = stored(tmp_path / "a.nii.gz", *STORED[layout](values))
    scans = read_scans(path, slices="all", axis=axis, percentiles=(0, 100))
    (out,) = write_images(scans, scans.samples.x, tmp_path / "out")
    np.testing.assert_array_equal(nibabel.load(out).dataobj, nibabel.load(path).dataobj)


@pytest.mark.parametrize("layout", STORED)
def test_a_change_lands_where_it_was_made_and_nowhere_else(tmp_path, layout):
    values, _ = brain(2)
    path = stored(tmp_path / "a.nii.gz", *STORED[layout](values))
    scans = read_scans(path, slices=(9, 11), percentiles=(0, 100))
    x = scans.samples.x.copy()
    x[0, 0, 5:8, 10:14] = 1.0  # slice 9, rows from anterior, columns from left
    (out,) = write_images(scans, x, tmp_path / "out")
    changed = np.zeros(values.shape, bool)
    changed[10:14, 28 - 8 : 28 - 5, 9] = values[10:14, 28 - 8 : 28 - 5, 9] > 0
    before = nibabel.as_closest_canonical(nibabel.load(path)).get_fdata()
    after = nibabel.as_closest_canonical(nibabel.load(out)).get_fdata()
    np.testing.assert_array_equal(after[~changed], before[~changed])
    np.testing.assert_array_equal(after[changed], values.max())


@pytest.mark.parametrize("options", [{"slices": (0.4, 0.6), "size": 40}, {"volumes": True, "size": 32}])
def test_resampled_samples_come_back_nearly_and_other_slices_exactly(tmp_path, options):
    values, _ = brain(3)
    path = stored(tmp_path / "a.nii.gz", values, affine())
    scans = read_scans(path, percentiles=(0, 100), **options)
    (out,) = write_images(scans, scans.samples.x, tmp_path / "out")
    back = np.asarray(nibabel.load(out).dataobj).astype(float)
    assert np.corrcoef(back.ravel(), values.ravel())[0, 1] > 0.97
    np.testing.assert_array_equal(back == 0, values == 0)  # outside of the brain stays outside
    if "slices" in options:
        np.testing.assert_array_equal(back[:, :, [*range(8), *range(12, 20)]], values[:, :, [*range(8), *range(12, 20)]])


@pytest.mark.parametrize(
    ("dtype", "slope"), [(np.int16, (0.5, -100)), (np.uint8, (4, 0)), (np.float32, None), (np.float64, None)]
)
def test_intensities_are_in_the_units_and_the_type_of_the_file(tmp_path, dtype, slope):
    values, _ = brain(4)
    path = stored(tmp_path / "a.nii.gz", values / 8, affine(), dtype, slope=slope)
    scans = read_scans(path, slices=(8, 12), percentiles=(0, 100))
    units = nibabel.load(path).get_fdata()
    (out,) = write_images(scans, np.full_like(scans.samples.x, 0.5), tmp_path / "out")
    image = nibabel.load(out)
    assert image.get_data_dtype() == dtype
    keep = units[:, :, 8:12] == 0 if scans.scalings[0].low >= 0 else np.zeros((24, 28, 4), bool)
    expected = np.where(keep, 0, sum(scans.scalings[0]) / 2)
    step = abs(slope[0]) if slope else 1e-3
    np.testing.assert_allclose(image.get_fdata()[:, :, 8:12], expected, atol=step)
    np.testing.assert_array_equal(image.get_fdata()[:, :, :8], units[:, :, :8])


def test_maps_are_0_outside_of_what_was_read_and_masks_are_what_maps_exceed(tmp_path):
    values, _ = brain(5)
    path = stored(tmp_path / "a.nii.gz", values, affine())
    scans = read_scans(path, slices=(8, 12), size=16)
    maps = np.random.default_rng(0).uniform(0.1, 1, (4, 16, 16)).astype(np.float32)
    (out,) = write_maps(scans, maps, tmp_path / "out")
    (mask,) = write_maps(scans, maps, tmp_path / "out", "mask", at_least=0.5)
    volume = nibabel.load(out).get_fdata()
    assert (volume[:, :, 8:12] >= 0.1 - 1e-6).all()
    assert not volume[:, :, :8].any()
    assert not volume[:, :, 12:].any()
    np.testing.assert_array_equal(np.asarray(nibabel.load(mask).dataobj), (volume >= 0.5).astype(np.uint8))


def test_nifti_2_and_the_other_byte_order_keep_their_headers(tmp_path):
    values, _ = brain(6)
    second = stored(tmp_path / "in" / "b.nii.gz", values, affine(), kind=nibabel.Nifti2Image)
    header = nibabel.Nifti1Header(endianness=">")
    header.set_data_dtype(np.dtype(">i2"))
    big = tmp_path / "in" / "c.nii"
    nibabel.Nifti1Image(values.astype(">i2"), affine(), header).to_filename(big)
    for path in (second, big):
        scans = read_scans(path, slices="all", percentiles=(0, 100))
        (out,) = write_images(scans, scans.samples.x, tmp_path / "out")
        assert fields(out) == fields(path)
        np.testing.assert_array_equal(nibabel.load(out).dataobj, values)
        assert header_of(scans.scans[0]).endianness == nibabel.load(path).header.endianness


def test_inputs_are_never_written_over(tmp_path):
    path = save(tmp_path / "a.nii.gz", brain(0)[0])
    before = path.read_bytes()
    scans = read_scans(path)
    with pytest.raises(ValueError, match="out must be another folder than that of the scans"):
        write_images(scans, scans.samples.x, tmp_path, overwrite=True)
    write_images(scans, scans.samples.x, tmp_path / "out")
    with pytest.raises(ValueError, match=r"out must not hold .*a.nii.gz yet; it exists"):
        write_images(scans, scans.samples.x, tmp_path / "out")
    write_images(scans, scans.samples.x, tmp_path / "out", overwrite=True)
    with pytest.raises(ValueError, match="one sample for each of the scans' samples"):
        write_images(scans, scans.samples.x[:, :, 1:], tmp_path / "other")
    assert path.read_bytes() == before
