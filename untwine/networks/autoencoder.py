"""A variational autoencoder whose posterior is a diagonal Gaussian in named latent blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.networks import NetworkPair, select_networks
from untwine.networks.conditional import Conditional, count_covariates, with_channels
from untwine.networks.counts import COUNTS, CountLikelihood, check_counts
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
    def scale(self) -> float | str:
        """The fixed scale of a Gaussian or Laplace likelihood, or "learned", or "auto", which is learned."""

    @property
    def blocks(self) -> dict[str, int]:
        """The width of each latent block, by name."""


# The learned log-variance starts low, so that using the latents pays off at once: from a variance of 1 a heavily penalised
# dimension never becomes active. Its parameter is multiplied by LOGVAR_SCALE, so it changes that much faster than others.
INITIAL_LOGVAR, LOGVAR_SCALE = -3.0, 10.0
LIKELIHOODS = ("auto", "gaussian_learned", "gaussian", "bernoulli", "laplace", *COUNTS)


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


class Autoencoder(Conditional):
    """Encoder q(z | x), decoder and likelihood p(x | z).

    `given` binds the conditions of the samples that it sees next: covariates, which both networks get, and library sizes.

    Parameters
    ----------
    fields
        The method, or an object with its fields. `blocks` has the width of each latent block; `networks` and `width` select the
        networks; `likelihood` and `scale` define p(x | z): `gaussian_learned` has a learned variance for each feature, or for
        each channel of an image; `gaussian` and `laplace` have the fixed `scale`, or learn it likewise; `bernoulli` is for
        images;
        `negative_binomial` and `zero_inflated` are for vectors of counts, of which the encoder sees log(1 + x), standardised.
        `auto` is `gaussian_learned` for vectors and `gaussian` for images. A method may also have `library` ("observed" or
        "learned" library sizes of counts) and `n_covariates` (columns of covariates).
    shape
        The shape of a sample.
    own
        The user's modules in place of these: `encoder`, from (n, *shape) to (n, 2 d) with the width d of all blocks together;
        `decoder`, from (n, d) to (n, *shape). For images the decoder's output goes through a sigmoid. With k columns of
        covariates a sample has k more features or channels and a code k more dimensions; zero-inflated counts have twice as
        many outputs, the second half logits of zeros.
    separate
        Whether each block has an encoder of its own, instead of one with all heads.
    """

    def __init__(
        self, fields: AutoencoderFields, shape: tuple[int, ...], own: Mapping[str, nn.Module], separate: bool = False
    ) -> None:
        super().__init__()
        self.shape, self.blocks = shape, fields.blocks
        self.learned_scale = isinstance(fields.scale, str)
        # Of images; see `reconstruction`.
        self.temperature: float = getattr(fields, "scale_factor", 1.0) ** 2 if self.learned_scale and len(shape) > 1 else 1.0
        self.scale = math.nan if isinstance(fields.scale, str) else fields.scale
        self.n_covariates = count_covariates(fields)
        kind = check_choice("likelihood", fields.likelihood, LIKELIHOODS)
        self.kind = kind if kind != "auto" else "gaussian" if len(shape) > 1 else "gaussian_learned"
        if self.kind == "bernoulli" and len(shape) == 1:
            raise ValueError("likelihood='bernoulli' needs images in [0, 1]; got vectors; use likelihood='gaussian_learned'.")
        codes, pair = sum(self.blocks.values()), select_networks(fields.networks, shape)
        width = fields.width or pair.default_width
        if separate and "encoder" in own:
            raise ValueError("trunks='separate' builds the encoders itself; got an encoder of your own; use trunks='shared'.")
        inputs, given, out = with_channels(shape, self.n_covariates), codes + self.n_covariates, shape
        counts = None
        if self.kind in COUNTS:
            check_counts(shape, self.kind)
            learned = getattr(fields, "library", "observed") == "learned"
            counts = CountLikelihood(self.kind, shape[0], inputs[0] if learned else None, width)
            out = (counts.outputs,)
        if separate:
            self.encoder: nn.Module = BlockEncoders(pair, inputs, width, self.blocks)
        else:
            self.encoder = own.get("encoder") or pair.encoder(inputs, 2 * codes, width)
        self.decoder = own.get("decoder") or pair.decoder(given, out, width)
        check_module_names(own, ("encoder", "decoder"))
        if "encoder" in own:
            check_output_shape("encoder", self.encoder, (torch.zeros(2, *inputs),), (2, 2 * codes))
        if "decoder" in own:
            check_output_shape("decoder", self.decoder, (torch.zeros(2, given),), (2, *out))
        if self.kind == "gaussian" and self.learned_scale:
            self.kind = "gaussian_learned"
        if self.kind == "gaussian_learned" or (self.kind == "laplace" and self.learned_scale):
            self.noise = nn.Parameter(torch.full((shape[0], *(1 for _ in shape[1:])), INITIAL_LOGVAR / LOGVAR_SCALE))
        self.counts = counts

    def encode(self, x: Tensor) -> dict[str, Code]:
        """Return the posterior of each block for x (n, *shape)."""
        mu, logvar = self.encoder(self.encoder_input(x)).to(x.dtype).chunk(2, 1)
        logvar, widths = gaussian.clamp_logvar(logvar), list(self.blocks.values())
        if len(widths) == 1:  # a split into one block would cost a copy in the backward pass
            return {name: Code(mu, logvar) for name in self.blocks}
        pairs = zip(torch.split(mu, widths, 1), torch.split(logvar, widths, 1), strict=True)
        return {name: Code(*pair) for name, pair in zip(self.blocks, pairs, strict=True)}

    def encoder_input(self, x: Tensor) -> Tensor:
        """Return samples as the encoder sees them: counts as log(1 + x), standardised, and covariates appended."""
        return self.with_covariates(x if self.counts is None else self.counts.inputs(x))

    def library_size(self, x: Tensor) -> Tensor | None:
        """Return the library sizes (n, 1) of counts x (n, d), observed or learned; None for other samples."""
        return None if self.counts is None else self.counts.library_size(x, self.encoder_input(x))[0]

    def output(self, *codes: Tensor) -> Tensor:
        """Return the decoder's output (n, *shape) for codes (n, d) given block by block: logits for images."""
        joined = torch.cat(codes, 1) if len(codes) > 1 else codes[0]
        return self.decoder(self.with_covariates(joined)).to(joined.dtype)  # type: ignore[no-any-return]

    def mean(self, *codes: Tensor) -> Tensor:
        """Return the mean (n, *shape) of p(x | codes)."""
        output = self.output(*codes)
        if self.counts is not None:
            return self.counts.mean(output, self.conditions.library)
        return torch.sigmoid(output) if len(self.shape) > 1 else output

    def sample(self, noise: Callable[..., Tensor], *codes: Tensor) -> Tensor:
        """Generate x (n, *shape): vectors are sampled from p(x | codes) with `noise(*shape)`, images are its mean."""
        if self.counts is not None:
            return self.counts.sample(self.output(*codes), self.conditions.library, noise(*self.shape))
        mean = self.mean(*codes)
        if len(self.shape) > 1:
            return mean
        epsilon = noise(*self.shape)
        if self.kind == "gaussian_learned":
            return gaussian.sample(mean, self.logvar, epsilon)
        if self.kind == "gaussian":
            return mean + self.scale * epsilon
        scale = torch.exp(0.5 * self.logvar) if self.learned_scale else self.scale
        return mean + scale * adversarial.laplace(epsilon)

    @property
    def logvar(self) -> Tensor:
        """The learned log-variance, of a feature or a channel; twice the log of the scale of a Laplace likelihood."""
        return gaussian.clamp_logvar(LOGVAR_SCALE * self.noise)

    def reconstruction(self, x: Tensor, *codes: Tensor) -> Tensor:
        """Return -log p(x | codes), summed over features, mean over samples; of counts, with the prior of learned libraries.

        With a method's `scale_factor` k the learned scale of images counts as k times as large for the networks: all of
        -log p is divided by k squared (by k, of a Laplace likelihood), which does not move the optimum of the scale itself.
        """
        if self.counts is not None:
            library, penalty = self.counts.library_size(x, self.encoder_input(x) if self.counts.head else x)
            return self.counts.nll(x, self.output(*codes), library) + penalty
        if self.kind == "bernoulli":
            return likelihood.bernoulli(x, self.output(*codes))
        mean = self.mean(*codes)
        if self.kind == "gaussian_learned":
            nll = likelihood.gaussian_learned(x, mean, self.logvar)
            return nll / self.temperature
        if self.kind == "laplace" and self.learned_scale:
            nll = likelihood.laplace_learned(x, mean, 0.5 * self.logvar)
            return nll / math.sqrt(self.temperature)
        return (likelihood.gaussian if self.kind == "gaussian" else likelihood.laplace)(x, mean, self.scale)
