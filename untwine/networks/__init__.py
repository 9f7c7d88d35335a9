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
    """An encoder of (shape, out, width), a decoder of (codes, shape, width), usual width, whether they need images."""

    encoder: Callable[[tuple[int, ...], int, int], nn.Module]
    decoder: Callable[[int, tuple[int, ...], int], nn.Module]
    width: int
    images: bool
    trunk: Callable[[tuple[int, ...], int, int], nn.Module] | None = None  # of discriminators, where not the encoder itself
    noisy: TrunkMaker | None = None  # a trunk of several heads, with noise between its layers


NETWORKS = {
    "mlp": Pair(MLPEncoder, MLPDecoder, 256, images=False),
    "conv": Pair(ConvEncoder, ConvDecoder, 32, images=True),
    "conv_norm": Pair(partial(ConvEncoder, norm=True), partial(ConvDecoder, norm=True), 32, images=True, trunk=ConvEncoder),
    "conv64": Pair(ShapesEncoder, ShapesDecoder, 32, images=True),
    "dcgan": Pair(DCGANEncoder, DCGANDecoder, 32, images=True, noisy=Trunk),
    "dcgan_attention": Pair(
        partial(DCGANEncoder, spectral=True), AttentionDecoder, 32, images=True, noisy=partial(Trunk, spectral=True)
    ),
    "karras": Pair(KarrasEncoder, KarrasDecoder, 8, images=True, trunk=partial(KarrasEncoder, norm=False)),
    "layers6": Pair(partial(LayeredEncoder, layers=6), partial(LayeredDecoder, layers=6), 32, images=True),
    "layers8": Pair(partial(LayeredEncoder, layers=8), partial(LayeredDecoder, layers=8), 32, images=True),
}


def choose(name: str, shape: tuple[int, ...]) -> Pair:
    """Return the networks of that name for rows of that shape; `auto` is `mlp`."""
    name = "mlp" if name == "auto" else name
    if name not in NETWORKS:
        raise ValueError(f"networks must be one of auto, {', '.join(NETWORKS)}; got {name!r}.")
    if NETWORKS[name].images and len(shape) != 3:
        raise ValueError(
            f"networks={name!r} must be images (C, H, W), but the rows are vectors of {shape[0]}; use networks='mlp'."
        )
    return NETWORKS[name]
