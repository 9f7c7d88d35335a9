"""LPIPS distance of images that got the content of another image, against the true image of that class and content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from untwine.metrics.directions import INFO, LOWER
from untwine.metrics.encoded import Encoded
from untwine.metrics.metric import Measurement, Metric, ScoreInfo
from untwine.metrics.options import Options
from untwine.metrics.requirements import CLASS_AND_CONTENT, IMAGES, TRANSFERS
from untwine.metrics.transfer import measure_errors, transferred_samples

MAX_PAIRS = 500


@dataclass(frozen=True)
class TransferLPIPSOptions(Options):
    """Options of the metric `transfer_lpips`.

    Parameters
    ----------
    network
        The network whose features are compared; its weights and heads must be in `weights/` of the data folder. Values of
        different networks cannot be compared.
    """

    network: Literal["squeezenet", "vgg16", "alexnet"] = "squeezenet"


def _measure(data: Encoded, options: TransferLPIPSOptions) -> Iterator[Measurement]:
    from untwine.networks.pretrained.lpips import lpips

    before, transferred, truth = transferred_samples(data, MAX_PAIRS)
    distances = (lpips(x, truth, options.network) for x in (transferred, before))
    yield from measure_errors("transfer_lpips", *distances)


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
    options=TransferLPIPSOptions(),
)
