"""Small folders and files in CelebA's public layouts, made by the tests."""

import io

import numpy as np
from PIL import Image

NAMES = [
    "5_o_Clock_Shadow",
    "Arched_Eyebrows",
    "Attractive",
    "Bags_Under_Eyes",
    "Bald",
    "Bangs",
    "Big_Lips",
    "Big_Nose",
    "Black_Hair",
    "Blond_Hair",
    "Blurry",
    "Brown_Hair",
    "Bushy_Eyebrows",
    "Chubby",
    "Double_Chin",
    "Eyeglasses",
    "Goatee",
    "Gray_Hair",
    "Heavy_Makeup",
    "High_Cheekbones",
    "Male",
    "Mouth_Slightly_Open",
    "Mustache",
    "Narrow_Eyes",
    "No_Beard",
    "Oval_Face",
    "Pale_Skin",
    "Pointy_Nose",
    "Receding_Hairline",
    "Rosy_Cheeks",
    "Sideburns",
    "Smiling",
    "Straight_Hair",
    "Wavy_Hair",
    "Wearing_Earrings",
    "Wearing_Hat",
    "Wearing_Lipstick",
    "Wearing_Necklace",
    "Wearing_Necktie",
    "Young",
]


def attributes(n, seed=0):
    """Draw 0 and 1 (n, 40): about a quarter have a hat, a quarter eyeglasses."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, 40)) < 0.25).astype(int)


def face(row, columns, width=178, height=218):
    """Return an image whose grey is its row's number, with a hat in red above and eyeglasses as a green bar.

    The corners outside of the central square are white, the chin blue.
    """
    image = np.full((height, width, 3), 2 * row, np.uint8)
    cut = (height - width) // 2
    image[:cut] = image[height - cut :] = 255
    image[height - 2 * cut : height - cut] = (0, 0, 255)
    if columns[NAMES.index("Wearing_Hat")]:
        image[cut : 2 * cut] = (255, 0, 0)
    if columns[NAMES.index("Eyeglasses")]:
        image[height // 2 - 10 : height // 2 + 10, 20 : width - 20] = (0, 255, 0)
    return Image.fromarray(image)


def make_folder(root, n=60, table="txt", partition=None, inner=""):
    """Write img_align_celeba/ with its list of attributes and, by option, the partition, as text or as Kaggle's .csv."""
    columns = attributes(n)
    images = root / "img_align_celeba" / inner
    images.mkdir(parents=True)
    names = [f"{row + 1:06d}.jpg" for row in range(n)]
    for row, name in enumerate(names):
        face(row, columns[row]).save(images / name, quality=95)
    signs = np.where(columns == 1, "1", "-1")
    if table == "txt":
        lines = [str(n), " ".join(NAMES) + " ", *(f"{name}  {'  '.join(row)}" for name, row in zip(names, signs, strict=True))]
    else:
        lines = [",".join(["image_id", *NAMES]), *(",".join([name, *row]) for name, row in zip(names, signs, strict=True))]
    (root / f"list_attr_celeba.{table}").write_text("\n".join(lines) + "\n")
    if partition is not None:
        blank = " " if table == "txt" else ","
        lines = [] if table == "txt" else ["image_id,partition"]
        lines += [f"{name}{blank}{split}" for name, split in zip(names, partition, strict=True)]
        (root / f"list_eval_partition.{table}").write_text("\n".join(lines) + "\n")
    return columns


def make_packed(path, n=60):
    """Write the subset's form: all JPEG files one after the other, with where each begins."""
    columns, files = attributes(n), []
    for row in range(n):
        buffer = io.BytesIO()
        face(row, columns[row], 89, 109).save(buffer, "JPEG", quality=95)
        files.append(buffer.getvalue())
    np.savez(
        path,
        jpeg=np.frombuffer(b"".join(files), np.uint8),
        offsets=np.cumsum([0, *map(len, files)]),
        filenames=np.array([f"{row + 1:06d}.jpg" for row in range(n)]),
        attr=columns.astype(np.uint8),
        attr_names=np.array(NAMES),
    )
    return columns


def indices_of(x):
    """Return the index that each face encodes in its cheeks."""
    side = x.shape[-1]
    return np.round(np.median(x[:, 0, side * 5 // 8 : side * 6 // 8, side // 4 : side * 3 // 4], axis=(1, 2)) / 2).astype(int)
