"""A DICOM series is the volume that its NIfTI would be, and several series are several volumes."""

import nibabel
import numpy as np
import pytest
from brains import affine, brain, reoriented, save
from dicom_files import save_series

from untwine.data.imaging.writing import write_images
from untwine.data.readers.roles import Roles
from untwine.data.readers.volumes import read_scans, read_volumes


def test_a_series_is_the_same_as_its_nifti(tmp_path):
    values, _ = brain(0)
    lps, _ = reoriented(values, affine(), "LPS")
    series = save_series(tmp_path / "dicom", lps)
    nifti = save(tmp_path / "a.nii.gz", values)
    for axis in ("axial", "sagittal"):
        a, b = (read_volumes(path, Roles(), axis=axis, slices="all", size=24).x for path in (series, nifti))
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_slope_and_intercept_are_applied(tmp_path):
    values, _ = brain(0)
    series = save_series(tmp_path, values, RescaleSlope=2, RescaleIntercept=-100)
    np.testing.assert_array_equal(read_scans(series, slices="all").scans[0].values(), values * 2.0 - 100)


def test_several_series_are_several_volumes_of_their_patients(tmp_path):
    for number, patient in enumerate("aab"):
        save_series(tmp_path / patient, brain(number)[0], patient=patient)
    data = read_volumes(tmp_path, Roles(), size=16)
    assert data.source_names == ("a", "b")
    np.testing.assert_array_equal(data.sources, [0, 0, 1])
    assert len(set(data.ids.tolist())) == 3


def test_a_series_comes_back_as_nifti_where_it_was(tmp_path):
    values, _ = brain(0)
    scans = read_scans(save_series(tmp_path / "dicom", values), slices="all", percentiles=(0, 100))
    (path,) = write_images(scans, scans.samples.x, tmp_path / "out")
    image = nibabel.load(path)
    np.testing.assert_allclose(image.affine, scans.scans[0].affine)
    np.testing.assert_allclose(image.get_fdata(), values, atol=0.1)


@pytest.mark.parametrize("missing", [3, 10])
def test_a_missing_slice_is_found_wherever_it_is(tmp_path, missing):
    with pytest.raises(ValueError, match=r"a slice is missing; restore it") as error:
        read_volumes(save_series(tmp_path, brain(0)[0], leave_out=(missing,)), Roles())
    assert f"{2 * (missing - 1):g} mm" in str(error.value)
