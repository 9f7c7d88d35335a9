"""A variational autoencoder whose posterior is a diagonal Gaussian in named latent blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.networks import NetworkPair, select_networks
from untwine.networks.custom import check_module_names, check_output_shape
from untwine.registry.checks import check_choice


class AutoencoderFields(Protocol):
    """The fields of a method that determine its autoencoder."""

    @property
    def networks(self) -> str:
        """A name from the table of networks."""

    @property
    def width(self) -> int | None:
        """The width of the networks; None for the usual one."""

    @property
    def likelihood(self) -> str:
        """The name of the likelihood p(x | z)."""

    @property
    def scale(self) -> float:
        """The fixed scale of a Gaussian or Laplace likelihood."""

    @property
    def blocks(self) -> dict[str, int]:
        """The width of each latent block, by name."""


# The learned log-variance starts low, so that using the latents pays off at once: from a variance of 1 a heavily penalised
# dimension never becomes active. Its parameter is multiplied by LOGVAR_SCALE, so it changes that much faster than others.
INITIAL_LOGVAR, LOGVAR_SCALE = -3.0, 10.0
LIKELIHOODS = ("auto", "gaussian_learned", "gaussian", "bernoulli", "laplace")


class Code(NamedTuple):
    """The posterior of one latent block: mean and log-variance (n, d) of a diagonal Gaussian."""

    mu: Tensor
    logvar: Tensor


class BlockEncoders(nn.Module):
    """One encoder for each block, with nothing in common; their outputs are in the order of one encoder with all heads."""

    def __init__(self, pair: NetworkPair, shape: tuple[int, ...], width: int, blocks: Mapping[str, int]) -> None:
        super().__init__()
        self.of_block = nn.ModuleDict({name: pair.encoder(shape, 2 * codes, width) for name, codes in blocks.items()})

    def forward(self, x: Tensor) -> Tensor:
        """Map (n, *shape) to (n, 2 d): the means of all blocks, then their log-variances."""
        halves = [encoder(x).chunk(2, 1) for encoder in self.of_block.values()]
        return torch.cat([*(mu for mu, _ in halves), *(logvar for _, logvar in halves)], 1)


class Autoencoder(nn.Module):
    """Encoder q(z | x), decoder and likelihood p(x | z).

    Parameters
    ----------
    fields
        The method, or an object with its fields. `blocks` has the width of each latent block; `networks` and `width` select the
        networks; `likelihood` and `scale` define p(x | z): `gaussian_learned` has a learned variance for each feature, or for
        each channel of an image; `gaussian` and `laplace` have the fixed `scale`; `bernoulli` is for images. `auto` is
        `gaussian_learned` for vectors and `gaussian` for images.
    shape
        The shape of a sample.
    own
        The user's modules in place of these: `encoder`, from (n, *shape) to (n, 2 d) with the width d of all blocks together;
        `decoder`, from (n, d) to (n, *shape). For images the decoder's output goes through a sigmoid.
    separate
        Whether each block has an encoder of its own, instead of one with all heads.
    """

    def __init__(
        self, fields: AutoencoderFields, shape: tuple[int, ...], own: Mapping[str, nn.Module], separate: bool = False
    ) -> None:
        super().__init__()
        self.shape, self.blocks, self.scale = shape, fields.blocks, fields.scale
        kind = check_choice("likelihood", fields.likelihood, LIKELIHOODS)
        self.kind = kind if kind != "auto" else "gaussian" if len(shape) == 3 else "gaussian_learned"
        if self.kind == "bernoulli" and len(shape) != 3:
            raise ValueError("likelihood='bernoulli' needs images in [0, 1]; got vectors; use likelihood='gaussian_learned'.")
        codes, pair = sum(self.blocks.values()), select_networks(fields.networks, shape)
        width = fields.width or pair.default_width
        if separate and "encoder" in own:
            raise ValueError("trunks='separate' builds the encoders itself; got an encoder of your own; use trunks='shared'.")
        if separate:
            self.encoder: nn.Module = BlockEncoders(pair, shape, width, self.blocks)
        else:
            self.encoder = own.get("encoder") or pair.encoder(shape, 2 * codes, width)
        self.decoder = own.get("decoder") or pair.decoder(codes, shape, width)
        check_module_names(own, ("encoder", "decoder"))
        if "encoder" in own:
            check_output_shape("encoder", self.encoder, (torch.zeros(2, *shape),), (2, 2 * codes))
        if "decoder" in own:
            check_output_shape("decoder", self.decoder, (torch.zeros(2, codes),), (2, *shape))
        if self.kind == "gaussian_learned":
            self.noise = nn.Parameter(torch.full((shape[0], *(1 for _ in shape[1:])), INITIAL_LOGVAR / LOGVAR_SCALE))

    def encode(self, x: Tensor) -> dict[str, Code]:
        """Return the posterior of each block for x (n, *shape)."""
        mu, logvar = self.encoder(x).to(x.dtype).chunk(2, 1)
        logvar, widths = gaussian.clamp_logvar(logvar), list(self.blocks.values())
        if len(widths) == 1:  # a split into one block would cost a copy in the backward pass
            return {name: Code(mu, logvar) for name in self.blocks}
        pairs = zip(torch.split(mu, widths, 1), torch.split(logvar, widths, 1), strict=True)
        return {name: Code(*pair) for name, pair in zip(self.blocks, pairs, strict=True)}

    def output(self, *codes: Tensor) -> Tensor:
        """Return the decoder's output (n, *shape) for codes (n, d) given block by block: logits for images."""
        joined = torch.cat(codes, 1) if len(codes) > 1 else codes[0]
        return self.decoder(joined).to(joined.dtype)  # type: ignore[no-any-return]

    def mean(self, *codes: Tensor) -> Tensor:
        """Return the mean (n, *shape) of p(x | codes)."""
        output = self.output(*codes)
        return torch.sigmoid(output) if len(self.shape) == 3 else output

    def sample(self, noise: Callable[..., Tensor], *codes: Tensor) -> Tensor:
        """Generate x (n, *shape): vectors are sampled from p(x | codes) with `noise(*shape)`, images are its mean."""
        mean = self.mean(*codes)
        if len(self.shape) == 3:
            return mean
        epsilon = noise(*self.shape)
        if self.kind == "gaussian_learned":
            return gaussian.sample(mean, gaussian.clamp_logvar(LOGVAR_SCALE * self.noise), epsilon)
        return mean + self.scale * (adversarial.laplace(epsilon) if self.kind == "laplace" else epsilon)

    def reconstruction(self, x: Tensor, *codes: Tensor) -> Tensor:
        """Return -log p(x | codes), summed over features, mean over samples."""
        if self.kind == "bernoulli":
            return likelihood.bernoulli(x, self.output(*codes))
        mean = self.mean(*codes)
        if self.kind == "gaussian_learned":
            return likelihood.gaussian_learned(x, mean, gaussian.clamp_logvar(LOGVAR_SCALE * self.noise))
        return (likelihood.gaussian if self.kind == "gaussian" else likelihood.laplace)(x, mean, self.scale)
