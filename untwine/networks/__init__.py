"""Plain `nn.Module`s, and the table of encoder-decoder pairs that a method selects by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import nn

from untwine.networks.attention import AttentionDecoder
from untwine.networks.channel_norm import LayeredDecoder, LayeredEncoder
from untwine.networks.conv import ConvDecoder, ConvEncoder
from untwine.networks.conv3d import Conv3dDecoder, Conv3dEncoder
from untwine.networks.dcgan import DCGANDecoder, DCGANEncoder, Trunk, TrunkBuilder
from untwine.networks.karras import KarrasDecoder, KarrasEncoder
from untwine.networks.mlp import HigginsDecoder, HigginsEncoder, MLPDecoder, MLPEncoder
from untwine.networks.shapes import ShapesDecoder, ShapesEncoder
from untwine.registry.checks import check_choice

# Of (shape, out, width), from samples (n, *shape) to (n, out).
EncoderBuilder = Callable[[tuple[int, ...], int, int], nn.Module]
# Of (codes, shape, width), from codes (n, codes) to (n, *shape).
DecoderBuilder = Callable[[int, tuple[int, ...], int], nn.Module]


@dataclass(frozen=True)
class NetworkPair:
    """An encoder and a decoder of one architecture.

    Parameters
    ----------
    encoder, decoder
        What builds them.
    default_width
        The number of hidden units, or of channels after the first convolution, where the method sets none.
    images_only
        Whether samples must be images (C, H, W), or volumes.
    volumes
        Whether these images must be volumes (C, D, H, W).
    discriminator_trunk
        What builds the trunk of a discriminator, where it is not the encoder itself.
    noisy_trunk
        What builds a trunk with noise before every layer, for critics with several heads; None where there is none.
    """

    encoder: EncoderBuilder
    decoder: DecoderBuilder
    default_width: int
    images_only: bool = True
    volumes: bool = False
    discriminator_trunk: EncoderBuilder | None = None
    noisy_trunk: TrunkBuilder | None = None


NETWORKS = {
    "mlp": NetworkPair(MLPEncoder, MLPDecoder, 256, images_only=False),
    "conv": NetworkPair(ConvEncoder, ConvDecoder, 32),
    "conv_norm": NetworkPair(
        partial(ConvEncoder, norm=True), partial(ConvDecoder, norm=True), 32, discriminator_trunk=ConvEncoder
    ),
    "conv3d": NetworkPair(Conv3dEncoder, Conv3dDecoder, 8, volumes=True),
    "conv64": NetworkPair(ShapesEncoder, ShapesDecoder, 32),
    "dcgan": NetworkPair(DCGANEncoder, DCGANDecoder, 32, noisy_trunk=Trunk),
    "dcgan_attention": NetworkPair(
        partial(DCGANEncoder, spectral=True), AttentionDecoder, 32, noisy_trunk=partial(Trunk, spectral=True)
    ),
    "dcgan_attention_linear": NetworkPair(  # the codes' heads end linearly, as in the authors' code
        partial(DCGANEncoder, spectral=True), AttentionDecoder, 32, noisy_trunk=partial(Trunk, spectral=True, linear_codes=True)
    ),
    "higgins": NetworkPair(HigginsEncoder, HigginsDecoder, 1200, images_only=False),
    "karras": NetworkPair(KarrasEncoder, KarrasDecoder, 8, discriminator_trunk=partial(KarrasEncoder, norm=False)),
    "layers6": NetworkPair(partial(LayeredEncoder, layers=6), partial(LayeredDecoder, layers=6), 32),
    "layers8": NetworkPair(partial(LayeredEncoder, layers=8), partial(LayeredDecoder, layers=8), 32),
}


def select_networks(name: str, shape: tuple[int, ...]) -> NetworkPair:
    """Return the networks of that name for samples of that shape; `standard` is `conv3d` for volumes, else `mlp`.

    So is `auto`, of runs from before it was chosen by `untwine.method.automatic`.
    """
    chosen = ("conv3d" if len(shape) == 4 else "mlp") if name in ("auto", "standard") else name
    pair = NETWORKS[check_choice("networks", chosen, ("auto", "standard", *NETWORKS))]
    if pair.volumes and len(shape) != 4:
        raise ValueError(f"networks={name!r} needs volumes (C, D, H, W); got samples of shape {shape}; use networks='auto'.")
    if pair.images_only and not pair.volumes:
        check_images(name, shape)
    return pair


def check_images(networks: str, shape: tuple[int, ...]) -> None:
    """Refuse networks of images for samples that are vectors or volumes."""
    if len(shape) == 4:
        raise ValueError(f"networks={networks!r} needs images (C, H, W); got volumes of shape {shape}; use networks='conv3d'.")
    if len(shape) != 3:
        raise ValueError(
            f"networks={networks!r} needs images (C, H, W); got vectors with {shape[0]} features; use networks='mlp'."
        )
