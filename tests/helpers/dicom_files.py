"""DICOM series written with pydicom."""

import numpy as np
import pydicom
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, MRImageStorage, generate_uid


def save_series(folder, values, spacing=(2.0, 2.0, 2.0), patient="p1", series=None, leave_out=(), **fields):
    """Write a volume (x, y, z) in LPS, one file for each slice in shuffled order; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    series = series or generate_uid()
    for k in np.random.default_rng(0).permutation(values.shape[2]):
        if k in leave_out:
            continue
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = MRImageStorage, generate_uid()
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        one = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
        one.SOPClassUID, one.SOPInstanceUID, one.Modality = MRImageStorage, meta.MediaStorageSOPInstanceUID, "MR"
        one.SeriesInstanceUID, one.PatientID = series, patient
        one.ImageOrientationPatient, one.ImagePositionPatient = [1, 0, 0, 0, 1, 0], [0, 0, float(spacing[2] * k)]
        one.PixelSpacing, one.SliceThickness = [spacing[1], spacing[0]], spacing[2]
        one.Rows, one.Columns = values.shape[1], values.shape[0]
        one.SamplesPerPixel, one.PhotometricInterpretation = 1, "MONOCHROME2"
        one.BitsAllocated, one.BitsStored, one.HighBit, one.PixelRepresentation = 16, 16, 15, 1
        one.RescaleSlope, one.RescaleIntercept = 1, 0
        one.PixelData = np.ascontiguousarray(values[:, :, k].T.astype("<i2")).tobytes()
        for name, value in fields.items():
            setattr(one, name, value)
        pydicom.dcmwrite(folder / f"{series[-6:]}_{k:03d}.dcm", one)
    return folder
