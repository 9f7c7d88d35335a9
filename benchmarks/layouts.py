"""The layout that networks of images are trained in, channels last, beside the other, for every named network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import torch
from torch import Tensor, nn

from benchmarks.figures import Figure, Round, figure, interleaved, medians
from untwine.networks import NETWORKS
from untwine.networks.adain import AdaINEncoder, AdaINGenerator

SHAPE, CODES, BATCH = (3, 64, 64), 32, 32
LAYOUTS = {"channels last": torch.channels_last, "contiguous": torch.contiguous_format}
SLOWER = 1.05  # so many times the other layout's time the one that is used may take

Built = tuple[nn.Module, tuple[Tensor, ...]]


def layouts(quick: bool) -> Iterator[Figure]:
    """A forward and a backward pass of each network of images with its channels last, over one in the other layout.

    The time is that of the processor, since only few per cent are allowed.
    """
    batch, rounds = (2, 1) if quick else (BATCH, 11)
    for name, build in networks().items():
        sides = {layout: partial(_pass, *_laid_out(build(batch), memory)) for layout, memory in LAYOUTS.items()}
        measured = interleaved(sides, rounds)
        each: list[Round] = [{layout: 1000 * seconds for layout, seconds in one.items()} for one in measured]
        yield figure(
            f"{name}: channels last over contiguous",
            [one["channels last"] / one["contiguous"] for one in measured],
            bound=None if quick else SLOWER,
            direction="at most",
            detail={"shape": list(SHAPE), "batch": batch, "rounds": rounds, "milliseconds": medians(each)},
        )


def networks() -> dict[str, Callable[[int], Built]]:
    """Return, for each network by name, what makes it and its inputs for a batch."""
    built: dict[str, Callable[[int], Built]] = {}
    for name, pair in NETWORKS.items():
        if pair.images_only and not pair.volumes:
            built[f"{name} encoder"] = lambda n, p=pair: (p.encoder(SHAPE, CODES, p.default_width), (torch.rand(n, *SHAPE),))
            built[f"{name} decoder"] = lambda n, p=pair: (p.decoder(CODES, SHAPE, p.default_width), (torch.randn(n, CODES),))
    for width in (8, 64):  # the default, and the paper's
        built[f"adain encoder, width {width}"] = lambda n, w=width: (
            AdaINEncoder(SHAPE, CODES, w),
            (torch.rand(n if w == 8 else max(2, n // 8), *SHAPE),),
        )
        built[f"adain generator, width {width}"] = lambda n, w=width: (
            AdaINGenerator(SHAPE, CODES, CODES, w),
            tuple(torch.randn(n if w == 8 else max(2, n // 8), CODES) for _ in range(2)),
        )
    return built


def _laid_out(built: Built, memory: torch.memory_format) -> Built:
    net, inputs = built
    net.to(memory_format=memory)  # type: ignore[call-overload]
    return net, tuple(x.contiguous(memory_format=memory) if x.ndim == 4 else x for x in inputs)


def _pass(net: nn.Module, inputs: tuple[Tensor, ...]) -> float:
    """Return the processor's seconds for a forward pass and the gradients of all parameters."""
    start = process_time()
    torch.autograd.grad(net(*inputs).square().mean(), tuple(net.parameters()), allow_unused=True)
    return process_time() - start
