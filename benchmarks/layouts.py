"""The layout that networks of images are trained in, channels last, beside the other, for every named network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time

import torch
from torch import Tensor, nn

from benchmarks.figures import Figure, Round, figure, interleaved, medians
from untwine.networks import NETWORKS, NetworkPair
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
            built[f"{name} encoder"] = partial(_encoder, pair)
            built[f"{name} decoder"] = partial(_decoder, pair)
    for width, share in ((8, 1), (64, 8)):  # the default, and the paper's at an eighth of the batch
        built[f"adain encoder, width {width}"] = partial(_adain_encoder, width, share)
        built[f"adain generator, width {width}"] = partial(_adain_generator, width, share)
    return built


def _encoder(pair: NetworkPair, n: int) -> Built:
    return pair.encoder(SHAPE, CODES, pair.default_width), (torch.rand(n, *SHAPE),)


def _decoder(pair: NetworkPair, n: int) -> Built:
    return pair.decoder(CODES, SHAPE, pair.default_width), (torch.randn(n, CODES),)


def _adain_encoder(width: int, share: int, n: int) -> Built:
    return AdaINEncoder(SHAPE, CODES, width), (torch.rand(max(2, n // share), *SHAPE),)


def _adain_generator(width: int, share: int, n: int) -> Built:
    codes = tuple(torch.randn(max(2, n // share), CODES) for _ in range(2))
    return AdaINGenerator(SHAPE, CODES, CODES, width), codes


def _laid_out(built: Built, memory: torch.memory_format) -> Built:
    net, inputs = built
    net.to(memory_format=memory)  # type: ignore[call-overload]
    return net, tuple(x.contiguous(memory_format=memory) if x.ndim == 4 else x for x in inputs)


def _pass(net: nn.Module, inputs: tuple[Tensor, ...]) -> float:
    """Return the processor's seconds for a forward pass and the gradients of all parameters."""
    start = process_time()
    torch.autograd.grad(net(*inputs).square().mean(), tuple(net.parameters()), allow_unused=True)
    return process_time() - start
