"""An autoencoder whose codes are diagonal Gaussians in named blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import torch
from torch import Tensor, nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.networks import select_networks


class Asks(Protocol):
    """The fields of a method that say which autoencoder it wants."""

    networks: str
    width: int | None
    likelihood: str
    scale: float

    @property
    def blocks(self) -> dict[str, int]:
        """The width of each block, by name."""


# The learned log-variance starts low, so that codes pay at once: from a variance of 1 a dear code never wakes up. It moves
# LOGVAR_SCALE times as fast as other parameters, whose steps are too small for it.
START, LOGVAR_SCALE = -3.0, 10.0
LIKELIHOODS = ("auto", "gaussian_learned", "gaussian", "bernoulli", "laplace")


class Code(NamedTuple):
    """A diagonal Gaussian over one block: its mean and its log-variance."""

    mu: Tensor
    logvar: Tensor


class Autoencoder(nn.Module):
    """Encoder and decoder with a likelihood on top.

    Parameters
    ----------
    asks
        The method. Of its fields, `blocks` gives the width of each block of codes; `networks` and `width` a name from the
        table of networks and their width; `likelihood` and `scale` what is said of x: `gaussian_learned` has one learned
        variance for each column, or for each channel of an image; `gaussian` and `laplace` have the fixed `scale`; `bernoulli`
        is for images. `auto` is `gaussian_learned` for vectors and `gaussian` for images.
    shape
        The shape of a row.
    own
        The user's modules in place of these: `encoder`, from (n, *shape) to twice the width of all blocks; `decoder`, from the
        width of all blocks to (n, *shape). For images the decoder's output goes through a sigmoid.
    """

    def __init__(self, asks: Asks, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.shape, self.blocks, self.scale = shape, asks.blocks, asks.scale
        kind = asks.likelihood
        self.kind = kind if kind != "auto" else "gaussian" if len(shape) == 3 else "gaussian_learned"
        if self.kind not in LIKELIHOODS:
            raise ValueError(f"likelihood must be one of {', '.join(LIKELIHOODS)}; got {asks.likelihood!r}.")
        if self.kind == "bernoulli" and len(shape) != 3:
            raise ValueError(
                "likelihood='bernoulli' must be images in [0, 1], but the rows are vectors; use 'gaussian_learned'."
            )
        codes, pair = sum(self.blocks.values()), select_networks(asks.networks, shape)
        width = asks.width or pair.default_width
        self.encoder = own.get("encoder") or pair.encoder(shape, 2 * codes, width)
        self.decoder = own.get("decoder") or pair.decoder(codes, shape, width)
        self._try_own(own)
        if self.kind == "gaussian_learned":
            self.noise = nn.Parameter(torch.full((shape[0], *(1 for _ in shape[1:])), START / LOGVAR_SCALE))

    def _try_own(self, own: Mapping[str, nn.Module]) -> None:
        if unknown := set(own) - {"encoder", "decoder"}:
            raise ValueError(f"networks expected modules named encoder and decoder; got {', '.join(sorted(unknown))}.")
        codes, x = sum(self.blocks.values()), torch.zeros(2, *self.shape)
        for name, given, wanted in (("encoder", x, (2, 2 * codes)), ("decoder", x.new_zeros(2, codes), (2, *self.shape))):
            if name in own:
                try:
                    with torch.no_grad():
                        got: object = tuple(own[name](given).shape)
                except (RuntimeError, AttributeError, TypeError) as error:
                    got = f"an error ({' '.join(str(error).split())})"
                if got != wanted:
                    raise ValueError(f"the {name} expected to map {tuple(given.shape)} to {wanted}, but gives {got}.")

    def encode(self, x: Tensor) -> dict[str, Code]:
        """Infer each block from (n, *shape)."""
        mu, logvar = self.encoder(x).to(x.dtype).chunk(2, 1)
        logvar, widths = gaussian.clamp_logvar(logvar), list(self.blocks.values())
        if len(widths) == 1:  # to split into one part would cost a copy on the way back
            return {name: Code(mu, logvar) for name in self.blocks}
        pairs = zip(torch.split(mu, widths, 1), torch.split(logvar, widths, 1), strict=True)
        return {name: Code(*pair) for name, pair in zip(self.blocks, pairs, strict=True)}

    def output(self, *codes: Tensor) -> Tensor:
        """Return what the decoder says of codes given block by block: logits for images."""
        joined = torch.cat(codes, 1) if len(codes) > 1 else codes[0]
        return self.decoder(joined).to(joined.dtype)  # type: ignore[no-any-return]

    def mean(self, *codes: Tensor) -> Tensor:
        """Return the mean of p(x | codes)."""
        output = self.output(*codes)
        return torch.sigmoid(output) if len(self.shape) == 3 else output

    def drawn(self, noise: Callable[..., Tensor], *codes: Tensor) -> Tensor:
        """Return rows generated from codes: vectors drawn from p(x | codes) with noise of a shape, images at its mean."""
        mean = self.mean(*codes)
        if len(self.shape) == 3:
            return mean
        epsilon = noise(*self.shape)
        if self.kind == "gaussian_learned":
            return gaussian.sample(mean, gaussian.clamp_logvar(LOGVAR_SCALE * self.noise), epsilon)
        return mean + self.scale * (adversarial.laplace(epsilon) if self.kind == "laplace" else epsilon)

    def reconstruction(self, x: Tensor, *codes: Tensor) -> Tensor:
        """Return -log p(x | codes), summed over features, mean over rows."""
        if self.kind == "bernoulli":
            return likelihood.bernoulli(x, self.output(*codes))
        mean = self.mean(*codes)
        if self.kind == "gaussian_learned":
            return likelihood.gaussian_learned(x, mean, gaussian.clamp_logvar(LOGVAR_SCALE * self.noise))
        return (likelihood.gaussian if self.kind == "gaussian" else likelihood.laplace)(x, mean, self.scale)
