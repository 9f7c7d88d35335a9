"""Plain modules, and the closed table of networks that a method can ask for by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from torch import nn

from untwine.networks.attention import AttentionDecoder
from untwine.networks.channel_norm import LayeredDecoder, LayeredEncoder
from untwine.networks.conv import ConvDecoder, ConvEncoder
from untwine.networks.dcgan import DCGANDecoder, DCGANEncoder, Trunk, TrunkMaker
from untwine.networks.karras import KarrasDecoder, KarrasEncoder
from untwine.networks.mlp import MLPDecoder, MLPEncoder
from untwine.networks.shapes import ShapesDecoder, ShapesEncoder


class Pair(NamedTuple):
    """An encoder of (shape, out, width), a decoder of (codes, shape, width), usual width, whether they need pictures."""

    encoder: Callable[[tuple[int, ...], int, int], nn.Module]
    decoder: Callable[[int, tuple[int, ...], int], nn.Module]
    width: int
    pictures: bool
    trunk: Callable[[tuple[int, ...], int, int], nn.Module] | None = None  # of discriminators, where not the encoder itself
    noisy: TrunkMaker | None = None  # a trunk of several heads, with noise between its layers


NETWORKS = {
    "mlp": Pair(MLPEncoder, MLPDecoder, 256, pictures=False),
    "conv": Pair(ConvEncoder, ConvDecoder, 32, pictures=True),
    "conv_norm": Pair(partial(ConvEncoder, norm=True), partial(ConvDecoder, norm=True), 32, pictures=True, trunk=ConvEncoder),
    "conv64": Pair(ShapesEncoder, ShapesDecoder, 32, pictures=True),
    "dcgan": Pair(DCGANEncoder, DCGANDecoder, 32, pictures=True, noisy=Trunk),
    "dcgan_attention": Pair(
        partial(DCGANEncoder, spectral=True), AttentionDecoder, 32, pictures=True, noisy=partial(Trunk, spectral=True)
    ),
    "karras": Pair(KarrasEncoder, KarrasDecoder, 8, pictures=True, trunk=partial(KarrasEncoder, norm=False)),
    "layers6": Pair(partial(LayeredEncoder, layers=6), partial(LayeredDecoder, layers=6), 32, pictures=True),
    "layers8": Pair(partial(LayeredEncoder, layers=8), partial(LayeredDecoder, layers=8), 32, pictures=True),
}


def choose(name: str, shape: tuple[int, ...]) -> Pair:
    """Return the networks of that name for rows of that shape; `auto` is `mlp`."""
    name = "mlp" if name == "auto" else name
    if name not in NETWORKS:
        raise ValueError(f"networks expected one of auto, {', '.join(NETWORKS)}, but got {name!r}.")
    if NETWORKS[name].pictures and len(shape) != 3:
        raise ValueError(
            f"networks={name!r} expected pictures (C, H, W), but the rows are vectors of {shape[0]}; use networks='mlp'."
        )
    return NETWORKS[name]
