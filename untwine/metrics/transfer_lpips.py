"""LPIPS distance of images that got the content of another image, against the true image of that class and content."""

from __future__ import annotations

from collections.abc import Iterator

from untwine.metrics.directions import INFO, LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.requirements import CLASS_AND_CONTENT, IMAGES, TRANSFERS
from untwine.metrics.transfer import measure_errors, transferred_samples

MAX_PAIRS = 500


def _measure(data: Encoded) -> Iterator[Measurement]:
    from untwine.networks.pretrained.lpips import lpips

    before, transferred, truth = transferred_samples(data, MAX_PAIRS)
    yield from measure_errors("transfer_lpips", lpips(transferred, truth), lpips(before, truth))


METRIC = Metric(
    name="transfer_lpips",
    function=_measure,
    description="LPIPS distance of images with the content of another to the true ones, and of unchanged images.",
    scores={
        "transfer_lpips": ScoreInfo(
            "The transfer error as LPIPS, a distance in the features of a pretrained network: 0 is the same image.", LOWER
        ),
        "transfer_lpips_unmoved": ScoreInfo("Baseline: the LPIPS distance of unchanged images.", INFO),
    },
    requires=(CLASS_AND_CONTENT, TRANSFERS, IMAGES),
)
