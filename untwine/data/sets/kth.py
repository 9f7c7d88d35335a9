"""KTH's people in motion, from folders of frames: the class is the person, the content the pose of the body."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from untwine._typing import Array
from untwine.data.data_card import DataCard, described
from untwine.data.data_set import DataSet
from untwine.data.location import locate
from untwine.data.options import check_size, check_test_share
from untwine.data.readers.image_files import image_paths, read_squares
from untwine.data.splits import Splits, count_held_out, hold_out_at_random
from untwine.registry.checks import check_int
from untwine.samples import Samples

ACTIONS = ("boxing", "handclapping", "handwaving", "jogging", "running", "walking")
FOLDER = re.compile(rf"^person(\d+)_({'|'.join(ACTIONS)})_d(\d+)")
FACTORS = ("action", "setting", "frame")


CARD = DataCard(
    source="the videos of www.csc.kth.se/cvap/actions (C. Schuldt, I. Laptev, B. Caputo, 2004).",
    licence="research only.",
    size="every frame of the 600 videos of 25 people that is there, 1 x 64 x 64; a tenth is held out.",
    files="folders `person<number>_<action>_d<setting>...` of frames as images, anywhere below `kth/`. One command for each"
    " video extracts them, for instance `ffmpeg -i person01_boxing_d1_uncomp.avi person01_boxing_d1/%04d.png`. "
    "Checksum: none, as any frames are accepted.",
    groups="none.",
    labels="the person.",
    factors="`action` (0 boxing, 1 handclapping, 2 handwaving, 3 jogging, 4 running, 5 walking), `setting` (1 to 4) and "
    "`frame` (its number in its folder, from 0).",
    sources='none: the class is the source, and `validation_split(by="classes")` holds whole classes out.',
    papers=("Demystifying Inter-Class Disentanglement",),
)


@described(CARD)
def kth(*, every: int = 1, test: float = 0.1, size: int = 64, seed: int = 0, folder: str | Path | None = None) -> Splits:
    """KTH's 25 people in six actions, the person as class; needs folders of its frames.

    Each image is the central square of a frame, resized to `size`, grey. As in "Demystifying inter-class disentanglement", all
    people are in both splits, and a tenth of the frames is held out.

    Parameters
    ----------
    every
        Use only every n-th frame of each video, as neighbouring frames are similar.
    test
        Share of the frames that is held out.
    size
        Side length of the images in pixels, from 8 to 128.
    seed
        Decides which frames are held out.
    folder
        Folder that contains `kth/`; by default the environment variable UNTWINE_DATA, then ~/.cache/untwine.
    """
    every, size, seed = check_int("every", every, 1), check_size(size), check_int("seed", seed, 0)
    share = check_test_share(test)
    root = locate(folder, "KTH", ("kth",), "the extracted frames of the videos of www.csc.kth.se/cvap/actions")
    videos = sorted(path for path in root.rglob("person*") if path.is_dir() and FOLDER.match(path.name))
    frames = [(video, frame, path) for video in videos for frame, path in list(enumerate(image_paths(video)))[::every]]
    if len(frames) < 2:
        raise ValueError(
            f"KTH must be in {root} as folders like person01_boxing_d1 with an image for each frame; got {len(videos)} such "
            f"folders with {len(frames)} images; extract the frames of the videos, for instance with ffmpeg."
        )
    people, factors = _columns(frames)
    numbers, labels = np.unique(people, return_inverse=True)
    samples = Samples(
        read_squares([path for _, _, path in frames], size, "L"),
        labels=labels,
        factors=factors,
        label_names=tuple(f"person {number}" for number in numbers),
        factor_names=FACTORS,
    )
    return hold_out_at_random(samples, count_held_out(len(samples), share), np.random.default_rng(seed))


def _columns(frames: list[tuple[Path, int, Path]]) -> tuple[Array, Array]:
    """Return the person of each frame (n,), and its factors (n, 3)."""
    people, factors = [], []
    for video, frame, _ in frames:
        person, action, setting = FOLDER.findall(video.name)[0]
        people.append(int(person))
        factors.append((ACTIONS.index(action), int(setting), frame))
    return np.array(people), np.array(factors, dtype=np.float64)


ENTRIES = {"kth": DataSet(kth)}
