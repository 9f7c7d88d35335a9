"""KTH's people in motion, from folders of frames: who it is is the class, what the body does the content."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.location import placed
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits
from untwine.registry.checks import check_float, check_int
from untwine.samples import SIDES, Samples

ACTIONS = ("boxing", "handclapping", "handwaving", "jogging", "running", "walking")
FOLDER = re.compile(rf"^person(\d+)_({'|'.join(ACTIONS)})_d(\d+)")
FACTORS = ("action", "setting", "frame")


def kth(*, every: int = 1, test: float = 0.1, size: int = 64, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """KTH's 25 people in six actions, the person as class; needs folders of its frames.

    Each image is the central square of a frame, brought to `size`, grey. As in "Demystifying inter-class disentanglement" all
    people are in both parts, and a tenth of the frames is held out.

    Source: the videos of www.csc.kth.se/cvap/actions (C. Schuldt, I. Laptev, B. Caputo, 2004; for research), taken apart into
    frames: folders `person<number>_<action>_d<setting>...` of images, anywhere below `kth/`. One command for each video makes
    them, for instance `ffmpeg -i person01_boxing_d1_uncomp.avi person01_boxing_d1/%04d.png`. Checksum: none, as any frames will
    do. Group: none. Label: the person. Factors: `action` (0 boxing, 1 handclapping, 2 handwaving, 3 jogging, 4 running,
    5 walking), `setting` (1 to 4) and `frame` (its number in its folder, from 0).

    Parameters
    ----------
    every
        Take only every so many-th frame of each video: neighbours hardly differ.
    test
        Which share of the frames is held out.
    size
        The side of the images in pixels, from 8 to 128.
    seed
        Decides which frames are held out.
    folder
        The folder that holds `kth/`; without it the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    every, size, seed = check_int("every", every, 1), check_int("size", size, SIDES[0], SIDES[-1]), check_int("seed", seed, 0)
    share = check_float("test", test, 0.01, 0.9)
    place = placed(folder, "KTH", ("kth",), "www.csc.kth.se/cvap/actions, taken apart into frames,")
    videos = sorted(path for path in place.rglob("person*") if path.is_dir() and FOLDER.match(path.name))
    frames = [(video, frame, path) for video in videos for frame, path in list(enumerate(image_paths(video)))[::every]]
    if len(frames) < 2:
        raise ValueError(
            f"KTH was must be in {place} as folders like person01_boxing_d1 with an image for each frame, but {len(videos)} "
            f"such folders hold {len(frames)} images; take the videos apart, with ffmpeg for instance."
        )
    people, factors = _columns(frames)
    known, labels = np.unique(people, return_inverse=True)
    data = Samples(
        read_squares([path for _, _, path in frames], size, "L"),
        labels=labels,
        factors=factors,
        label_names=tuple(f"person {number}" for number in known),
        factor_names=FACTORS,
    )
    order = np.random.default_rng(seed).permutation(len(data))
    many = min(max(1, round(share * len(data))), len(data) - 1)
    return Splits(data[np.sort(order[many:])], data[np.sort(order[:many])])


def _columns(frames: list[tuple[Path, int, Path]]) -> tuple[Array, Array]:
    """Return the person of each frame (n,), and its factors (n, 3)."""
    people, factors = [], []
    for video, frame, _ in frames:
        person, action, setting = FOLDER.findall(video.name)[0]
        people.append(int(person))
        factors.append((ACTIONS.index(action), int(setting), frame))
    return np.array(people), np.array(factors, dtype=np.float64)
