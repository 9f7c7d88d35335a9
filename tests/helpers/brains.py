"""Small brains made with nibabel: ellipsoids with texture, and blobs that patients have and controls lack."""

from pathlib import Path

import nibabel
import numpy as np

SHAPE = (24, 28, 20)
LESION = 400.0  # how much darker than the brain, whose values are about 1000


def brain(seed, lesion=False, shape=SHAPE):
    """Return a volume (x, y, z) in RAS as int16, and the mask of its lesion."""
    rng = np.random.default_rng(seed)
    grid = np.meshgrid(*(np.linspace(-1, 1, n) for n in shape), indexing="ij")
    radii = 0.8 + 0.06 * rng.normal(size=3)
    inside = sum((g / r) ** 2 for g, r in zip(grid, radii, strict=True)) < 1
    waves = sum(np.sin(rng.uniform(2, 5) * g + rng.uniform(0, 6)) for g in grid)
    values = np.where(inside, 1000 + 80 * waves + rng.normal(0, 15, shape), 0)
    ventricle = sum((g / r) ** 2 for g, r in zip(grid, (0.2, 0.35, 0.3), strict=True)) < 1
    values[ventricle] *= 0.6
    mask = np.zeros(shape, bool)
    if lesion:
        centre = rng.uniform(-0.35, 0.35, 3) + np.array([0.3, 0, 0]) * rng.choice([-1, 1])
        mask = (sum(((g - c) / 0.25) ** 2 for g, c in zip(grid, centre, strict=True)) < 1) & inside
        values[mask] -= LESION
    return np.rint(np.clip(values, 0, 3000)).astype(np.int16), mask


def affine(spacing=(2.0, 2.0, 2.0), shape=SHAPE):
    """Return an affine of RAS axes whose origin is the centre of the volume."""
    matrix = np.diag([*spacing, 1.0])
    matrix[:3, 3] = -np.array(spacing) * (np.array(shape) - 1) / 2
    return matrix


def save(path, values, matrix=None, **header):
    """Write a volume as NIfTI; return its path."""
    image = nibabel.Nifti1Image(values, affine(shape=values.shape[:3]) if matrix is None else matrix)
    for field, value in header.items():
        image.header[field] = value
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    image.to_filename(path)
    return path


def reoriented(values, matrix, axes):
    """Return the same brain stored with other axes, such as "LPS", and its affine."""
    image = nibabel.Nifti1Image(values, matrix)
    now = nibabel.io_orientation(matrix)
    wanted = nibabel.orientations.axcodes2ornt(tuple(axes))
    turned = image.as_reoriented(nibabel.orientations.ornt_transform(now, wanted))
    return np.asarray(turned.dataobj), turned.affine


def bids(root, patients=6, controls=6, **columns):
    """Write a BIDS folder with participants.tsv and lesions in derivatives; return the path."""
    lines = ["participant_id\tgroup\tage"]
    for number in range(patients + controls):
        subject, patient = f"sub-{number:02d}", number < patients
        values, mask = brain(number, patient)
        save(root / subject / "anat" / f"{subject}_T1w.nii.gz", values)
        if patient:
            save(root / "derivatives" / "lesions" / subject / f"{subject}_lesion.nii.gz", mask.astype(np.uint8))
        lines.append(f"{subject}\t{'patient' if patient else 'control'}\t{30 + number}")
    (root / "participants.tsv").write_text("\n".join(lines) + "\n")
    return root
