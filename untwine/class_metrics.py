"""The named metrics of class and content: who tells what, and what becomes of a moved content."""

from __future__ import annotations

from collections.abc import Iterator

from untwine.encoded import Encoded
from untwine.likeness import lpips
from untwine.metrics import blocks, contrast_blocks
from untwine.metrics.blocks import Measured
from untwine.metrics.class_content import transfer_errors, transfer_pairs

MOST_LOOKED_AT = 500  # pairs of pictures that a network looks at


def read(data: Encoded) -> Iterator[Measured]:
    """Accuracy of a small network that reads class and content from each part, and chance."""
    rows, contents = data.contents()
    codes = data.latents.take(rows)
    yield from contrast_blocks.read("class", codes, data.labels_of(rows), blocks.WITHOUT_CLASS)
    yield from contrast_blocks.read("content", codes, contents, blocks.WITHOUT_FACTORS)


def moved(data: Encoded) -> Iterator[Measured]:
    """Mean absolute error of rows that got another's content, against the true row, and that of doing nothing."""
    rows, contents = data.contents()
    i, j, truth = (rows[part] for part in transfer_pairs(data.labels_of(rows), contents))
    made = data.method.decode(data.latents.take(i).swap(data.latents.take(j), "content"))
    x = data.samples.x
    yield from contrast_blocks.moved(transfer_errors(made, x[truth]), transfer_errors(x[i], x[truth]))


def placed(data: Encoded) -> Iterator[Measured]:
    """Distance of landmarks that a linear regression predicts to the true ones, and that of a constant (on request)."""
    rows, points = data.landmarks()
    yield from contrast_blocks.placed(data.latents.take(rows), points)


def moved_by_lpips(data: Encoded) -> Iterator[Measured]:
    """LPIPS distance of pictures that got another's content to the true ones, and that of doing nothing (on request)."""
    rows, contents = data.contents()
    i, j, truth = (rows[part] for part in transfer_pairs(data.labels_of(rows), contents, MOST_LOOKED_AT))
    made = data.method.decode(data.latents.take(i).swap(data.latents.take(j), "content"))
    x = data.samples.x
    yield from contrast_blocks.moved(lpips(made, x[truth]), lpips(x[i], x[truth]), "_lpips")
