"""Synthetic grass: many thin, bent, tapering blades, recoloured to a given brightness and hue."""

from __future__ import annotations

import numpy as np

from untwine._typing import Array

BLADES = 420
# A texture is this many images high and wide and wraps around, so that a crop may start at any pixel.
IMAGES_ACROSS = 2
# Drawing time grows with the area, so that larger images are upsampled from this size.
LARGEST_DRAWN = 48
SATURATION = 0.75
HUE_SPREAD = 9.0


def draw_textures(rng: np.random.Generator, n: int, size: int) -> tuple[Array, Array]:
    """Draw square, seamless textures of grass, blade by blade from back to front.

    A blade is a parabola that tapers towards its tip. Its coverage of a pixel follows from the pixel's horizontal distance to
    the parabola, so that edges are anti-aliased without supersampling. The next blade is drawn in all textures at once.

    Parameters
    ----------
    rng
        Random generator.
    n
        Number of textures.
    size
        Side length in pixels of the images that will be cropped; sets the scale of the blades.

    Returns
    -------
    shades, hues
        Brightness of each pixel (positive, mean about 1) and its hue relative to the mean, from -1 to 1; both
        (n, side, side).
    """
    side = IMAGES_ACROSS * size
    shades = np.full((n, side * side), 0.3, np.float32)
    hues = np.zeros((n, side * side), np.float32)
    rows = np.arange(-1, int(0.95 * size) + 1, dtype=np.float32)[:, None]
    across = int(np.ceil(0.06 * size)) + 1
    columns = np.arange(-across, across + 1, dtype=np.float32)
    texture = np.arange(n)[:, None, None]

    def draw(low: float, high: float) -> Array:
        return rng.uniform(low, high, (n, 1, 1)).astype(np.float32)

    for blade in range(BLADES):
        depth = blade / (BLADES - 1)
        x, y = draw(0, side), draw(0, side)
        height = draw(0.35, 0.95) * size
        width = np.maximum(draw(0.018, 0.055) * size, 0.4)
        lean, bend = draw(-0.3, 0.3) * size, draw(-0.35, 0.35) * size
        along = rows / height
        centre = x + along * (lean + along * bend)
        pixel = np.floor(centre) + columns
        offset = pixel - centre
        half = width * np.sqrt(np.clip(1 - along, 0, 1))
        cover = np.clip(half + 0.5 - np.abs(offset), 0, 1) * np.clip(rows + 1, 0, 1)
        cover *= np.clip(half * 2, 0, 1)
        # Blades behind are in shadow; each is darker at its root, and one side of its rib catches more light.
        light = draw(0.65, 1.35) * (0.55 + 0.45 * depth) * (0.7 + 0.45 * along) * (1 + 0.16 * np.clip(offset / width, -1, 1))
        at = (np.floor(y) - rows).astype(np.int32) % side * side + pixel.astype(np.int32) % side
        for canvas, paint in ((shades, light), (hues, draw(-1, 1))):
            below = canvas[texture, at]
            canvas[texture, at] = below + cover * (paint - below)
    return shades.reshape(n, side, side), hues.reshape(n, side, side)


def colour(shades: Array, hues: Array, brightness: Array, hue: Array) -> Array:
    """Colour crops of grass (n, H, W) so that each image has the given brightness and hue.

    Parameters
    ----------
    shades, hues
        Crops of what `draw_textures` returns.
    brightness
        Mean HSV value of each image, in (0, 1); shades are rescaled to it exactly, whatever blades were drawn. Green is
        the largest channel of grass, so this is the mean of the green channel.
    hue
        Hue of each image in degrees from 70 (yellowish) to 150 (bluish); single blades differ by up to 9.

    Returns
    -------
    images
        (n, 3, H, W), float32 in [0, 1].
    """
    value = shades * (brightness / shades.mean(axis=(1, 2)))[:, None, None].astype(np.float32)
    # From 60 to 180 degrees red falls to zero at 120, then blue rises from zero: the two halves of HSV's hexagon.
    turn = (hue[:, None, None].astype(np.float32) + HUE_SPREAD * hues - 120) / 60
    red = value * (1 - SATURATION + SATURATION * np.clip(-turn, 0, 1))
    blue = value * (1 - SATURATION + SATURATION * np.clip(turn, 0, 1))
    images: Array = np.clip(np.stack([red, value, blue], axis=1), 0, 1)
    return images


class Meadow:
    """Synthetic textures of grass, from which images of one size are cropped.

    Parameters
    ----------
    rng
        Random generator that draws the blades.
    n_textures
        Number of textures to draw.
    size
        Side length of the images in pixels.
    """

    def __init__(self, rng: np.random.Generator, n_textures: int, size: int) -> None:
        self.size = size
        self.shades, self.hues = draw_textures(rng, n_textures, min(size, LARGEST_DRAWN))
        if size > LARGEST_DRAWN:
            self.shades, self.hues = _upsample(self.shades, size), _upsample(self.hues, size)

    def images(self, rng: np.random.Generator, brightness: Array, hue: Array) -> Array:
        """Crop a random square for each pair of brightness and hue, and colour it: (n, 3, size, size), float32."""
        which = rng.integers(len(self.shades), size=len(brightness))[:, None, None]
        side = self.shades.shape[1]
        rows, columns = (rng.integers(side, size=(2, len(brightness), 1)) + np.arange(self.size)) % side
        crops = which, rows[:, :, None], columns[:, None, :]
        return colour(self.shades[crops], self.hues[crops], brightness, hue)


def _upsample(textures: Array, size: int) -> Array:
    from scipy.ndimage import zoom

    factor = IMAGES_ACROSS * size / textures.shape[1]
    # Linear interpolation keeps shades positive; wrapping keeps the texture seamless.
    return np.asarray(zoom(textures, (1, factor, factor), order=1, mode="grid-wrap", grid_mode=True))
