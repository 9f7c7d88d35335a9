"""The named metrics of class and content: who tells what, and what becomes of a moved content."""

from __future__ import annotations

from collections.abc import Iterator

from untwine._typing import Array
from untwine.metrics import blocks, contrast_blocks
from untwine.metrics.blocks import Measurement
from untwine.metrics.class_content import transfer_errors
from untwine.metrics.encoded import Encoded
from untwine.networks.pretrained.lpips import lpips

MOST_MOVED, MOST_LOOKED_AT = 1_000, 500  # pairs that are compared, and those that a network looks at


def read(data: Encoded) -> Iterator[Measurement]:
    """Accuracy of a small network that reads class and content from each part, and chance."""
    rows, contents = data.contents()
    # Where contents are not known one by one, the class can still be read.
    some = rows if len(rows) else data.labelled_rows()
    yield from contrast_blocks.read("class", data.latents.take(some), data.labels_of(some), blocks.WITHOUT_CLASS)
    if len(rows):
        yield from contrast_blocks.read("content", data.latents.take(rows), contents, blocks.WITHOUT_FACTORS)


def moved(data: Encoded) -> Iterator[Measurement]:
    """Mean absolute error of rows that got another's content, against the true row, and that of doing nothing."""
    before, made, truth = _moved(data, MOST_MOVED)
    yield from contrast_blocks.moved(transfer_errors(made, truth), transfer_errors(before, truth))


def placed(data: Encoded) -> Iterator[Measurement]:
    """Distance of landmarks that a linear regression predicts to the true ones, and that of a constant (on request)."""
    rows, points = data.landmarks()
    yield from contrast_blocks.placed(data.latents.take(rows), points)


def moved_by_lpips(data: Encoded) -> Iterator[Measurement]:
    """LPIPS distance of images that got another's content to the true ones, and that of doing nothing (on request)."""
    before, made, truth = _moved(data, MOST_LOOKED_AT)
    yield from contrast_blocks.moved(lpips(made, truth), lpips(before, truth), "_lpips")


def _moved(data: Encoded, most: int) -> tuple[Array, Array, Array]:
    """Return rows that give the class, what they become with the content of others, and the true rows."""
    i, j, truth = data.moves(most)
    x, latents = data.samples.x, data.latents
    return x[i], data.method.decode(latents.take(i).swap(latents.take(j), "content")), x[truth]
