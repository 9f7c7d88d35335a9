"""Image files as one array: of one size, one number of channels and one range, by rules that are stated."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from untwine._typing import Array
from untwine.data.images.resizing import channels_first
from untwine.data.options import check_size
from untwine.data.readers import notes
from untwine.data.readers.image_files import opening
from untwine.registry.checks import check_choice, check_int, listed
from untwine.registry.observations import SIDES

if TYPE_CHECKING:
    from PIL import Image

Fit = Literal["crop", "pad", "stretch"]
GREY, COLOUR = ("1", "L", "LA"), ("P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr")
GREY_16 = ("I;16", "I;16L", "I;16B", "I;16N")
DARK = 14  # bits: images of 16 that need no more than these would come out dark
ORIENTATION, TURNED = 0x0112, (5, 6, 7, 8)  # the EXIF tag, and its values that exchange width and height


@dataclass(frozen=True)
class ImageRules:
    """How images of several sizes, depths and modes become one array; see `read_images`."""

    size: int | None = None
    fit: Fit = "crop"
    bits: int | None = None
    matte: str | None = None
    orientation: bool = True

    @classmethod
    def of(cls, **given: Any) -> ImageRules:
        """Check rules on entry."""
        rules = cls(**given)
        if rules.size is not None:
            check_size(rules.size)
        check_choice("fit", rules.fit, ("crop", "pad", "stretch"))
        if rules.fit != "crop" and rules.size is None:
            raise ValueError(
                f"fit says how images are brought to size; got fit={rules.fit!r} without size; pass size=64, for instance."
            )
        if rules.bits is not None:
            check_int("bits", rules.bits, 8, 16)
        if not isinstance(rules.orientation, bool):
            raise TypeError(f"orientation must be true or false; got {rules.orientation!r}.")
        rules.matte_colour()
        return rules

    def matte_colour(self) -> tuple[int, int, int] | None:
        """Return the colour behind transparent pixels as red, green and blue."""
        if self.matte is None:
            return None
        from PIL import ImageColor

        try:
            colour = ImageColor.getrgb(self.matte)
        except (ValueError, AttributeError, TypeError):
            raise ValueError(f"matte must be a colour such as 'white' or '#808080'; got {self.matte!r}.") from None
        return colour[0], colour[1], colour[2]


class _Header(NamedTuple):
    """What is known of an image before its pixels are read."""

    mode: str
    size: tuple[int, int]  # as it is shown: width and height after the EXIF orientation
    frames: int
    deep: bool  # 16 bits per channel


def read_stack(paths: Sequence[Path], rules: ImageRules) -> Array:
    """Read images of one size as (n, C, H, W): one channel if all are grey, else three; uint8, or floats where of 16 bits.

    They are read one by one, so that large photographs take no more memory than one of them.
    """
    headers = [_header(path, rules) for path in paths]
    deep = [header.mode in GREY_16 for header in headers]
    if any(deep) and not all(deep):
        raise ValueError(
            f"{paths[deep.index(True)]} must have 8 bits per channel, as {paths[deep.index(False)].name} has; got 16; save all "
            "of them with 8 or all with 16 bits."
        )
    mode = "F" if any(deep) else "L" if all(header.mode in GREY for header in headers) else "RGB"
    width, height = (rules.size, rules.size) if rules.size is not None else _one_size(paths, headers)
    _say(paths, headers, rules, mode)
    stack = np.empty((len(paths), height, width, 3 if mode == "RGB" else 1), np.float32 if mode == "F" else np.uint8)
    largest = 0
    for out, path, header in zip(stack, paths, headers, strict=True):
        image, top = _open(path, header, rules)
        largest = max(largest, top)
        out[:] = np.asarray(_fitted(image.convert(mode), rules)).reshape(height, width, -1)
    if any(header.deep for header in headers):
        _check_depth(paths, rules, largest, mode)
    if mode == "F":
        np.clip(stack / np.float32(2 ** (rules.bits or 16) - 1), 0, 1, out=stack)  # resizing overshoots at edges
    return channels_first(stack)


def _header(path: Path, rules: ImageRules) -> _Header:
    with opening(path, load=False) as image:
        if image.mode not in GREY + COLOUR + GREY_16:
            raise ValueError(
                f"{path} must have 8 bits per channel, grey or colour, or 16 bits, grey; got Pillow's mode {image.mode}; save "
                "it "
                "otherwise, or write an .npz of floats in [0, 1], (x - low) / (high - low)."
            )
        tiles = getattr(image, "tile", None)
        raw = str(tiles[0][3]) if tiles else ""
        deep = image.mode in GREY_16 or (image.mode in COLOUR and re.search(r";16[BLN]", raw) is not None)
        turned = rules.orientation and image.getexif().get(ORIENTATION) in TURNED
        return _Header(image.mode, image.size[::-1] if turned else image.size, getattr(image, "n_frames", 1), deep)


def _one_size(paths: Sequence[Path], headers: Sequence[_Header]) -> tuple[int, int]:
    """Return the size that all images have, or refuse the first that has another."""
    for path, header in zip(paths, headers, strict=True):
        width, height = header.size
        if width not in SIDES or height not in SIDES:
            raise ValueError(
                f"{path} must have sides from {SIDES[0]} to {SIDES[-1]} pixels; got {width} x {height}; "
                "pass size=64 or another (--data-set size=64) to resize all images."
            )
        if header.size != headers[0].size:
            raise ValueError(
                f"images must have one size; {path} is {width} x {height} and {paths[0].name} is "
                f"{headers[0].size[0]} x {headers[0].size[1]}; pass size=64 or another (--data-set size=64) to "
                "resize all images."
            )
    return headers[0].size


def _open(path: Path, header: _Header, rules: ImageRules) -> tuple[Image.Image, int]:
    """Return an opaque image, turned as EXIF says, and its largest value if it has 16 bits; grey of 16 bits as floats."""
    from PIL import Image, ImageOps

    with opening(path) as image:
        largest = 0
        if header.mode in GREY_16:
            values = np.asarray(image)
            largest = int(values.max())
            opened = Image.fromarray(values.astype(np.float32))
        else:
            opened = image.copy()
            if header.deep:
                largest = 257 * int(np.asarray(opened.convert("RGB")).max())
        if rules.orientation:
            exif = image.getexif()
            if opened is not image and exif.get(ORIENTATION, 1) != 1:
                opened.getexif()[ORIENTATION] = exif[ORIENTATION]
                opened = ImageOps.exif_transpose(opened)
    return _opaque(path, opened, rules), largest


def _opaque(path: Path, image: Image.Image, rules: ImageRules) -> Image.Image:
    from PIL import Image

    if not image.has_transparency_data:
        return image
    with_alpha = image.convert("LA" if image.mode in GREY else "RGBA")
    if with_alpha.getchannel("A").getextrema() == (255, 255):
        return with_alpha
    colour = rules.matte_colour()
    if colour is None:
        raise ValueError(
            f"{path} must be opaque; it is partly transparent; say which colour lies behind it, such as matte='white', or put "
            "it on "
            "a background first."
        )
    behind = Image.alpha_composite(Image.new("RGBA", image.size, (*colour, 255)), with_alpha.convert("RGBA")).convert("RGB")
    return behind.convert("L") if image.mode in GREY else behind


def _fitted(image: Image.Image, rules: ImageRules) -> Image.Image:
    """Return an image at the wanted size: its central square, the whole image with black beside it, or stretched."""
    from PIL import Image

    if rules.size is None:
        return image
    size, bicubic = rules.size, Image.Resampling.BICUBIC
    if rules.fit == "stretch":
        return image.resize((size, size), bicubic)
    if rules.fit == "crop":
        side = min(image.size)
        left, top = (image.width - side) // 2, (image.height - side) // 2
        return image.crop((left, top, left + side, top + side)).resize((size, size), bicubic)
    scale = size / max(image.size)
    width, height = (max(1, round(one * scale)) for one in image.size)
    padded = Image.new(image.mode, (size, size))
    padded.paste(image.resize((width, height), bicubic), ((size - width) // 2, (size - height) // 2))
    return padded


def _check_depth(paths: Sequence[Path], rules: ImageRules, largest: int, mode: str) -> None:
    """Refuse images of 16 bits that would come out dark or too bright, for the number of bits that they really have."""
    whose = f"{paths[0]}" if len(paths) == 1 else f"the {len(paths)} images of {paths[0].parent}"
    if mode == "RGB":
        if rules.bits not in (None, 16) or 0 < largest < 2**12:
            raise ValueError(
                f"{whose} must be saved with 8 bits per channel; those of 16 bits in colour are divided by 65535, but their "
                "largest "
                f"value is {largest}; rescale them."
            )
        return
    if rules.bits is not None and largest >= 2**rules.bits:
        raise ValueError(
            f"{whose} must have values below {2**rules.bits}, as bits={rules.bits}; got {largest}; pass more bits."
        )
    if rules.bits is None and 0 < largest < 2**DARK:
        bits = next(one for one in (8, 10, 12, 14) if largest < 2**one)
        raise ValueError(
            f"{whose} must use the range of their 16 bits; the largest value is {largest}, as of {bits} bits, so they would "
            "come out "
            f"dark; pass bits={bits} to divide by {2**bits - 1}, or bits=16 to divide by 65535."
        )


def _say(paths: Sequence[Path], headers: Sequence[_Header], rules: ImageRules, mode: str) -> None:
    for path, header in zip(paths, headers, strict=True):
        if header.frames > 1:
            warnings.warn(
                f"{path} has {header.frames} frames, of which the first is read; save each as a file of its own to read all.",
                stacklevel=2,
            )
    sizes = Counter(header.size for header in headers)
    if rules.size is not None:
        how = {"crop": "the central square resized", "pad": "resized whole, black beside it", "stretch": "stretched"}[rules.fit]
        shown = listed((f"{w} x {h} ({n})" for (w, h), n in sizes.most_common()), 80)
        notes.say(f"Images of {shown} pixels became {rules.size} x {rules.size}: {how}.")
        if small := sum(n for (w, h), n in sizes.items() if min(w, h) < rules.size):
            notes.say(f"{small} of {len(paths)} images are smaller than {rules.size} pixels and were enlarged.")
    modes = Counter(header.mode for header in headers)
    if len(modes) > 1 or next(iter(modes)) not in ("L", "RGB", *GREY_16):
        notes.say(f"Images of Pillow's modes {listed(f'{one} ({n})' for one, n in modes.most_common())} became {mode}.")
    if any(header.deep for header in headers):
        divided = "divided by 257, to 8 bits" if mode == "RGB" else f"divided by {2 ** (rules.bits or 16) - 1}"
        notes.say(f"Images of 16 bits per channel were {divided}.")
