"""Broken and odd images: each is refused by a sentence of its own that names the file, or handled, and that is noted."""

import os
import re
import struct

import numpy as np
import pytest
from odd_files import array, image, put, read_noted
from PIL import Image

from untwine.data import read

RNG = np.random.default_rng(0)
GOOD = "a,b\n1,2\n"


def truncated(path, write):
    write(path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def exif(orientation):
    tags = Image.Exif()
    tags[0x0112] = orientation
    return tags.tobytes()


def apng(path, frames):
    images = [Image.new("L", (16, 16), value) for value in frames]
    images[0].save(path, save_all=True, append_images=images[1:])


def claims(path, width, height):
    """Write a .png whose header claims another size than its pixels have."""
    import zlib

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    start = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    put(path, b"\x89PNG\r\n\x1a\n" + start + chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b""))


def dark(path, top, mode=np.uint16):
    array(path, np.linspace(0, top, 256).reshape(16, 16).astype(mode))


IMAGES = {
    "a corrupt image": (lambda p: put(p / "bad.png", b"no image"), {}, "bad.png must be an image; it cannot be read"),
    "a truncated image": (
        lambda p: truncated(p / "bad.jpg", lambda q: array(q, RNG.integers(0, 256, (64, 64), np.uint8))), {"size": 16},
        "bad.jpg must be an image",
    ),
    "an empty image": (lambda p: put(p / "bad.png", b""), {}, "bad.png must be an image; it cannot be read"),
    "text with the ending of an image": (lambda p: put(p / "bad.png", GOOD), {}, "bad.png must be an image"),
    "16 bits among 8": (lambda p: dark(p / "bad.tif", 65535), {}, "bad.tif must have 8 bits per channel, as .* has; got 16"),
    "32 bits": (lambda p: array(p / "bad.tif", np.ones((16, 16), np.float32)), {}, "bad.tif must have 8 bits .* got Pillow's"),
    "another size": (lambda p: image(p / "bad.png", size=(16, 20)), {}, "bad.png is 16 x 20 and .* is 16 x 16; pass size"),
    "one pixel": (lambda p: image(p / "bad.png", size=(1, 1)), {}, "bad.png must have sides from 8 to .*; got 1 x 1; pass"),
    "larger than memory": (lambda p: claims(p / "bad.png", 40_000, 40_000), {"size": 16}, "bad.png must have at most"),
    "more pixels claimed than there are": (lambda p: claims(p / "bad.png", 16, 1600), {"size": 16}, "bad.png must be an image"),
    "transparent": (lambda p: image(p / "bad.png", (1, 2, 3, 9), mode="RGBA"), {}, "bad.png must be opaque; .* matte='white'"),
    "a matte that is no colour": (lambda p: None, {"matte": "whitish"}, "matte must be a colour such as 'white' .* got"),
    "fit without size": (lambda p: None, {"fit": "pad"}, "fit says how images are brought to size; got fit='pad' without size"),
    "an unknown fit": (lambda p: None, {"fit": "zoom", "size": 16}, "fit must be 'crop', 'pad' or 'stretch'; got 'zoom'"),
    "too many bits": (lambda p: None, {"bits": 32}, "bits must be an integer from 8 to 16; got 32"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMAGES)
def test_images_that_cannot_be_read_are_named(tmp_path, name):
    spoil, options, sentence = IMAGES[name]
    image(tmp_path / "a.png")
    image(tmp_path / "z.png")
    spoil(tmp_path)
    with pytest.raises(ValueError, match=sentence):
        read(tmp_path, **options)


def test_a_corrupt_image_among_a_thousand_is_named(tmp_path):
    content = image(tmp_path / "0.png").read_bytes()
    for i in range(1, 1000):
        (tmp_path / f"{i}.png").write_bytes(content if i != 777 else content[:45])
    with pytest.raises(ValueError, match=r"777\.png must be an image; it cannot be read"):
        read(tmp_path)


ODD_IMAGES = {
    "hidden files": (lambda p: [put(p / ".DS_Store", b"x"), put(p / "._a.png", b"x"), put(p / ".x.png", b"x")], {}, 1, ""),
    "a text file": (lambda p: put(p / "notes.txt", "x"), {}, 1, "1 files that are no images are left out: notes.txt"),
    "Thumbs.db": (lambda p: put(p / "Thumbs.db", b"x"), {}, 1, "left out: Thumbs.db"),
    "an animated GIF": (lambda p: apng(p / "b.gif", (1, 2)), {}, 1, "left out: b.gif"),
    "a folder beside images": (lambda p: (p / "masks").mkdir(), {}, 1, "folders beside images are left out: masks"),
    "a loop of links": (lambda p: (p / "loop.png").symlink_to(p / "loop.png"), {}, 1, "left out: loop.png"),
    "a folder that links to itself": (lambda p: (p / "again").symlink_to(p), {}, 1, "folders beside images are left out:"),
    "upper-case endings": (lambda p: image(p / "B.PNG"), {}, 2, ""),
    "another ending than the content": (lambda p: image(p / "b.jpg", format="PNG"), {}, 2, ""),
    "Unicode and spaces": (lambda p: image(p / "größe 日本 .png"), {}, 2, ""),
    "an animated WebP": (lambda p: apng(p / "b.webp", (100, 2, 200)), {}, 2, "b.webp has 3 frames, of which the first is read"),
    "a TIFF of two pages": (lambda p: apng(p / "b.tif", (100, 2)), {}, 2, "b.tif has 2 frames, of which the first is read"),
    "one pixel enlarged": (lambda p: image(p / "b.png", size=(1, 1)), {"size": 16}, 2, "1 of 2 images are smaller than 16"),
    "one bit": (lambda p: Image.new("1", (16, 16), 1).save(p / "b.png"), {}, 2, r"modes .*1 \(1\).* became L"),
    "a palette": (lambda p: Image.new("RGB", (16, 16), (9, 8, 7)).convert("P").save(p / "b.png"), {}, 2, r"P \(1\).* became"),
    "CMYK": (lambda p: image(p / "b.jpg", (0, 0, 0, 0), mode="CMYK"), {}, 2, r"CMYK \(1\).* became RGB"),
    "opaque alpha": (lambda p: image(p / "b.png", (9, 9, 9, 255), mode="RGBA"), {}, 2, r"RGBA \(1\).* became RGB"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_IMAGES)
def test_odd_images_are_read_and_what_is_done_is_said(tmp_path, name):
    add, options, n, said = ODD_IMAGES[name]
    image(tmp_path / "folder with ünicode" / "a.png")
    add(tmp_path / "folder with ünicode")
    samples, sentences = read_noted(tmp_path / "folder with ünicode", **options)
    assert len(samples) == n
    assert abs(samples.x[0].astype(int) - 100).max() <= 1
    if said:
        assert re.search(said, " ".join(sentences)), sentences
    else:
        assert sentences == []


def test_photographs_are_turned_as_their_camera_noted(tmp_path):
    shown = np.zeros((16, 24, 3), np.uint8)
    shown[:, :8], shown[:4] = 200, 90
    array(tmp_path / "0.png", shown)
    turned = {1: shown, 3: shown[::-1, ::-1], 6: np.rot90(shown), 8: np.rot90(shown, -1), 2: shown[:, ::-1]}
    for orientation, stored in turned.items():
        Image.fromarray(np.ascontiguousarray(stored)).save(
            tmp_path / f"{orientation}.jpg", exif=exif(orientation), quality=100, subsampling=0
        )
    samples, _ = read_noted(tmp_path)
    assert samples.shape == (3, 16, 24)
    for one in samples.x:
        assert abs(one.astype(int) - np.moveaxis(shown, -1, 0)).mean() < 6
    with pytest.raises(ValueError, match="pass size"):  # as stored, some are upright and some are not
        read_noted(tmp_path, orientation=False)


def test_images_of_12_bits_in_files_of_16_do_not_come_out_dark(tmp_path):
    dark(tmp_path / "a.tif", 4095)
    dark(tmp_path / "b.png", 2000)
    with pytest.raises(
        ValueError, match=r"largest value is 4095, as of 12 bits, .* pass bits=12 to divide by 4095, or bits=16"
    ):
        read(tmp_path)
    samples = read(tmp_path, bits=12)
    assert samples.x[0].max() == 1
    assert samples.x[1].max() == pytest.approx(2000 / 4095)
    assert read(tmp_path, bits=16).x.max() == pytest.approx(4095 / 65535)
    with pytest.raises(ValueError, match="must have values below 1024, as bits=10; got 4095; pass more bits"):
        read(tmp_path, bits=10)


def test_what_is_transparent_lies_on_the_matte(tmp_path):
    image(tmp_path / "a.png", (200, 0, 0, 128), mode="RGBA")
    image(tmp_path / "b.png", (60, 0), mode="LA")
    x = read(tmp_path, matte="white").x
    np.testing.assert_allclose(x[0, :, 0, 0], [227, 127, 127], atol=1)
    assert (x[1] == 255).all()
    assert read(tmp_path / "b.png", matte="#101010").x.shape == (1, 1, 16, 16)


@pytest.mark.parametrize(
    ("fit", "columns"), [("crop", [200] * 8), ("pad", [0, 0, 0, 200, 200, 0, 0, 0]), ("stretch", [200] * 8)]
)
def test_the_three_ways_to_one_size(tmp_path, fit, columns):
    tall = np.full((64, 16), 200, np.uint8)
    tall[:16], tall[48:] = 50, 50
    array(tmp_path / "a.png", tall)
    x = read(tmp_path, size=8, fit=fit).x[0, 0].astype(int)
    np.testing.assert_allclose(x[4], columns, atol=3)
    # Crop sees the middle alone; the whole image is there with the other two.
    assert (x[0].max() > 150) == (fit == "crop")


def test_files_and_folders_that_may_not_be_read(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    image(tmp_path / "a" / "x.png")
    (tmp_path / "a" / "x.png").chmod(0)
    with pytest.raises(ValueError, match=r"x.png must be an image; it cannot be read"):
        read(tmp_path / "a")
    (tmp_path / "a").chmod(0)
    with pytest.raises(ValueError, match="must be a folder that can be read"):
        read(tmp_path / "a")


def test_a_link_to_a_file_and_to_a_folder_are_followed(tmp_path):
    image(tmp_path / "a" / "x.png")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert len(read(tmp_path / "b")) == 1
