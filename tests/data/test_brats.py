"""NIfTI volumes written byte by byte, slices grouped by the segmentation, and patients that are never in both splits."""

import gzip
import struct

import numpy as np
import pytest

from untwine.data import load
from untwine.data.imaging.scan import read_values
from untwine.data.sets.brats import extract_slices

CODES = {"u1": 2, "i2": 4, "f4": 16, "f8": 64, "u2": 512}


def nifti(volume, order="<", slope=1.0, intercept=0.0, magic=b"n+1\0"):
    """Return a volume as the bytes of a NIfTI-1 file."""
    header = bytearray(352)
    struct.pack_into(f"{order}i", header, 0, 348)
    struct.pack_into(f"{order}8h", header, 40, volume.ndim, *volume.shape, *[1] * (7 - volume.ndim))
    struct.pack_into(f"{order}2h", header, 70, CODES[volume.dtype.str[1:]], 8 * volume.dtype.itemsize)
    struct.pack_into(f"{order}3f", header, 108, 352.0, slope, intercept)
    header[344:348] = magic
    return bytes(header) + volume.astype(volume.dtype.newbyteorder(order)).tobytes(order="F")


def brain(number, with_tumour=(3, 4)):
    """A volume (12, 10, 8): a disc as bright as the patient's number, and a tumour in some slices."""
    volume, seg = np.zeros((12, 10, 8), np.int16), np.zeros((12, 10, 8), np.uint8)
    volume[3:9, 2:8, 1:7] = 100
    volume[3, 2, 1:7] = 100 + number  # the brightest pixels encode the patient
    seg[5:7, 4:6, list(with_tumour)] = 4
    return volume, seg


@pytest.fixture
def folder(tmp_path):
    for number in range(6):
        patient = tmp_path / "brats" / f"BraTS_{number:03d}"
        patient.mkdir(parents=True)
        volume, seg = brain(number)
        (patient / f"BraTS_{number:03d}_t1.nii.gz").write_bytes(gzip.compress(nifti(volume)))
        (patient / f"BraTS_{number:03d}_t1ce.nii.gz").write_bytes(b"not read")
        (patient / f"BraTS_{number:03d}_seg.nii").write_bytes(nifti(seg))
    return tmp_path


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("gzipped", [False, True])
def test_volumes_of_every_dtype_round_trip(tmp_path, order, dtype, gzipped):
    volume = np.random.default_rng(0).integers(0, 200, (3, 4, 5)).astype(dtype)
    path = tmp_path / ("v.nii.gz" if gzipped else "v.nii")
    path.write_bytes(gzip.compress(nifti(volume, order)) if gzipped else nifti(volume, order))
    result = read_values(path)
    np.testing.assert_array_equal(result, volume)
    assert result.dtype == volume.dtype
    path = tmp_path / "scaled.nii"
    path.write_bytes(nifti(volume, order, slope=0.5, intercept=-3.0))
    np.testing.assert_allclose(read_values(path), volume * 0.5 - 3)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"short", "it cannot be read"),
        (nifti(np.zeros((4, 4), np.uint8)), "must be one volume"),
        (nifti(np.zeros((4, 4, 4), np.int16))[:-9], "must hold 4 x 4 x 4 voxels; it is truncated"),
        (gzip.compress(nifti(np.zeros((4, 4, 4), np.int16)), mtime=0)[:-12], "it cannot be read"),
        (
            nifti(np.zeros((4, 4, 4), np.uint8)).replace(struct.pack("<2h", 2, 8), struct.pack("<2h", 128, 24), 1),
            "it holds colours",
        ),
    ],
)
def test_damaged_volumes_are_refused(tmp_path, content, sentence):
    path = tmp_path / ("v.nii.gz" if content[:2] == b"\x1f\x8b" else "v.nii")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=sentence) as error:
        read_values(path)
    assert "\n" not in str(error.value)


def test_slices_have_tumour_and_brain_fractions_and_grey_values():
    volume, seg = brain(0)
    slices = extract_slices(volume, seg, every=2)
    assert slices.x.shape == (4, 10, 12)  # heights 0, 2, 4 and 6; rows are the second axis
    np.testing.assert_allclose(slices.tumour, [0, 0, 4 / 36, 0])
    np.testing.assert_allclose(slices.brain, [0, 36 / 120, 36 / 120, 36 / 120])
    np.testing.assert_allclose(slices.height, [0, 2 / 7, 4 / 7, 6 / 7])
    assert slices.x[1, 2:8, 3:9].min() == 255
    with pytest.raises(ValueError, match="must have three dimensions and a segmentation of the same shape"):
        extract_slices(volume, seg[:5])


def test_patients_are_held_out_and_groups_follow_the_segmentation(folder):
    splits = load("brats", folder=folder, size=8, every=1, test=0.34)
    # Each patient has two slices with a tumour, four without, and two empty ones, which are left out.
    assert (len(splits.train.target), len(splits.train.background)) == (8, 16)
    assert (len(splits.test.target), len(splits.test.background)) == (4, 8)
    assert splits.train.shape == (1, 8, 8)
    assert splits.train.target.factors[:, 0].min() > 0
    assert not splits.train.background.factors[:, 0].any()
    assert splits.train.factor_names == ("salient tumour", "height", "brain")


def test_no_patient_is_in_both_splits(tmp_path):
    patient = np.repeat(np.arange(10), 6)
    x = np.broadcast_to((20 * patient + 10)[:, None, None], (60, 16, 16)).astype(np.uint8)
    (tmp_path / "brats").mkdir()
    np.savez(tmp_path / "brats" / "brats.npz", x=x, tumour=np.arange(60) % 3 == 0, patient=patient)
    tested = []
    for seed in (0, 1):
        splits = load("brats", folder=tmp_path, size=8, every=1, seed=seed)
        train, test = ({int(v) for v in np.unique(split.x)} for split in splits)
        assert not train & test
        assert (len(train), len(test)) == (8, 2)
        assert len(splits.train.target) == 16
        tested.append(test)
    assert tested[0] != tested[1]


def write_arrays(folder, **changes):
    """Write slices of four patients as arrays: half of every slice is brain; a third of the slices have a tumour."""
    x = np.zeros((24, 16, 16), np.uint8)
    x[:, :8] = 90
    tumour = np.zeros(x.shape, bool)
    tumour[::3, 2, :4] = True
    (folder / "brats").mkdir(parents=True, exist_ok=True)
    np.savez(folder / "brats" / "brats.npz", **{"x": x, "tumour": tumour, "patient": np.repeat(np.arange(4), 6)} | changes)
    return folder


def test_a_tumour_mask_gives_its_fraction_of_the_brain(tmp_path):
    splits = load("brats", folder=write_arrays(tmp_path), size=8, every=1, least_tumour=0.0)
    np.testing.assert_allclose(splits.train.target.factors[:, 0], 4 / 128)
    assert len(splits.train.target) * 2 == len(splits.train.background)


@pytest.mark.parametrize(
    ("tumour", "sentence"),
    [
        (np.zeros((24, 16)), r"tumour per slice \(n,\) or pixel \(n, H, W\), .*; got uint8 \(24, 16, 16\), \(24, 16\)"),
        (np.zeros((24, 8, 8)), r"tumour per slice .*; got uint8 \(24, 16, 16\), \(24, 8, 8\)"),
        (np.full(24, np.nan), "must hold finite numbers of at least 0 as tumour"),
        (np.full(24, -1), "must hold finite numbers of at least 0 as tumour"),
        (np.full(24, "yes"), "must hold finite numbers of at least 0 as tumour"),
    ],
)
def test_a_tumour_of_another_shape_or_dtype_is_refused(tmp_path, tumour, sentence):
    with pytest.raises(ValueError, match=sentence):
        load("brats", folder=write_arrays(tmp_path, tumour=tumour), size=8)


def test_all_visits_of_a_patient_are_in_the_same_split(tmp_path):
    for number in range(5):
        for visit in range(2):
            name = f"BraTS-GLI-{number:05d}-{visit:03d}"
            folder = tmp_path / "brats" / name
            folder.mkdir(parents=True)
            volume, seg = brain(0)
            volume[volume > 0] = 500  # brighter than the mark set next, which encodes the patient
            volume[3:5, 2:4, 1:7] = 100 * number
            (folder / f"{name}-t1n.nii.gz").write_bytes(gzip.compress(nifti(volume)))
            (folder / f"{name}-seg.nii.gz").write_bytes(gzip.compress(nifti(seg)))
    for seed in range(4):
        train, test = load("brats", folder=tmp_path, size=10, every=1, test=0.4, seed=seed)
        marks = [set(split.x[:, 0, 2, 2].tolist()) for split in (train, test)]
        assert (len(marks[0]), len(marks[1])) == (3, 2)
        assert not marks[0] & marks[1]
        assert len(test) == 2 * 2 * 6  # two patients, two visits, six slices


def test_slices_with_a_trace_of_tumour_are_in_neither_group(folder):
    some = load("brats", folder=folder, size=8, every=1, test=0.34, least_tumour=0.0).train
    assert len(some.target) == 8
    with pytest.raises(ValueError, match="must have slices with and without a tumour for both splits; got 0 of"):
        load("brats", folder=folder, size=8, every=1, least_tumour=0.5)


def test_missing_files_are_refused(tmp_path, folder):
    with pytest.raises(ValueError, match=r"BraTS must be in .* or as brats.npz; not found"):
        load("brats", folder=tmp_path / "elsewhere")
    (folder / "brats" / "BraTS_002" / "BraTS_002_seg.nii").unlink()
    with pytest.raises(
        ValueError, match=r"BraTS_002_t1.nii.gz must have a segmentation BraTS_002_seg.nii.gz beside it; not found"
    ):
        load("brats", folder=folder)


def test_masks_are_the_segmentation_of_the_same_slice_resized_like_it(tmp_path, folder):
    tumour = np.zeros((24, 16, 16), np.uint8)
    tumour[::2, 4:8, 6:10] = 4  # at 8 x 8: rows 2 and 3, columns 3 and 4
    tumour[::2, 12, 12] = 1  # a quarter of a pixel
    x = np.where(tumour > 0, 50, 200).astype(np.uint8)
    splits = load("brats", folder=write_arrays(tmp_path / "npz", x=x, tumour=tumour), size=8, every=1, least_tumour=0.0)
    expected = np.zeros((8, 8), bool)
    expected[2:4, 3:5] = True
    assert (splits.train.target.masks == expected).all()
    assert not splits.train.background.masks.any()
    assert splits.test.masks.shape == (len(splits.test), 8, 8)
    volumes = load("brats", folder=folder, size=10, every=1, test=0.34).train.target
    # The central 10 x 10 of (y, x) = (10, 12): columns 5 and 6 of x move by one.
    assert {tuple(np.argwhere(mask).min(0)) + tuple(np.argwhere(mask).max(0)) for mask in volumes.masks} == {(4, 4, 5, 5)}
    numbers = load("brats", folder=write_arrays(tmp_path / "numbers", tumour=np.arange(24) % 2), size=8, every=1).train
    assert numbers.masks is None


def test_the_source_of_a_slice_is_its_patient(folder):
    splits = load("brats", folder=folder, size=8, every=1, test=0.34)
    names = [{split.source_names[i] for i in split.sources} for split in splits]
    assert names[0] | names[1] == {f"BraTS_{number:03d}" for number in range(6)}
    assert not names[0] & names[1]
    assert set(splits.train.target.sources) == set(splits.train.background.sources)
