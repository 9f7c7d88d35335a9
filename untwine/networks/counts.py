r"""Likelihoods of counts: their mean is the library size times the share of each feature, $m = l \cdot softmax(f(z) + \log s)$.

Letters: l the library size of a sample, its total; f the decoder; s the mean share of each feature in training, from which the
decoder starts as it does from the mean of standardised vectors; r the inverse dispersion of each feature, learned. Encoders see
log(1 + x), standardised by the training samples.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.losses import likelihood
from untwine.networks.mlp import layers
from untwine.registry.sparse_vectors import is_sparse, mean_and_std

COUNTS = ("negative_binomial", "zero_inflated")
# As the learned variance of a Gaussian: the parameter is multiplied by LOG_SCALE, so it changes that much faster than others.
INITIAL_LOG_DISPERSION, LOG_SCALE = 1.0, 10.0
LOG_BOUND = 9.0  # beyond it a negative binomial is a Poisson, and float32 loses the digits of lgamma
LEAST_STD = 1e-3  # of what is constant
RARE = 0.1  # counts that every feature has at least in the mean shares, so that none is impossible


class CountLikelihood(nn.Module):
    """p(x | z) of vectors of counts, from the output of a decoder.

    Parameters
    ----------
    kind
        `negative_binomial`, or `zero_inflated` with a learned probability of a 0 that has nothing to do with the mean.
    features
        The number of features of a sample.
    inputs, width
        Where library sizes are learned, the width of the encoder's input and of the hidden layer of their head; None where they
        are the observed totals.
    """

    profile: Tensor
    library: Tensor
    centre: Tensor
    spread: Tensor

    def __init__(self, kind: str, features: int, inputs: int | None, width: int) -> None:
        super().__init__()
        self.zero_inflated = kind == "zero_inflated"
        self.outputs = features * (2 if self.zero_inflated else 1)
        self.dispersion = nn.Parameter(torch.full((features,), INITIAL_LOG_DISPERSION / LOG_SCALE))
        self.register_buffer("profile", torch.zeros(features))  # log s
        self.register_buffer("library", torch.tensor([1.0, 0.0, 1.0]))  # its median, and mean and std of its logarithm
        self.register_buffer("centre", torch.zeros(features))  # of log(1 + x)
        self.register_buffer("spread", torch.ones(features))
        self.head = None if inputs is None else layers(inputs, width, 1)

    def fit(self, x: Array) -> None:
        """Take the statistics of the training samples (n, d): library sizes, mean shares, mean and std of log(1 + x)."""
        sizes = np.maximum(x.sum(1, dtype=np.float64), 1)
        logs = np.log(sizes)
        self.library.copy_(torch.tensor([np.median(sizes), logs.mean(), max(logs.std(), LEAST_STD)]))
        counted = x.sum(0, dtype=np.float64) + RARE
        self.profile.copy_(torch.from_numpy(np.log(counted / counted.sum())))
        # Of a sparse x the logarithm is sparse too, as log(1 + 0) is 0.
        centre, spread = mean_and_std(x.log1p() if is_sparse(x) else np.log1p(x))  # type: ignore[attr-defined]
        self.centre.copy_(torch.from_numpy(centre))
        self.spread.copy_(torch.from_numpy(np.maximum(spread, LEAST_STD)))

    def inputs(self, x: Tensor) -> Tensor:
        """Return counts as an encoder sees them: log(1 + x), standardised."""
        return (torch.log1p(x) - self.centre) / self.spread

    def library_size(self, x: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the library sizes (n, 1) of x (n, d), and -log of their prior, mean over samples, up to a constant.

        Learned sizes are point estimates: a head of the encoder predicts the logarithm, whose prior is a normal distribution
        with the mean and variance of the observed ones.
        """
        if self.head is None:
            return x.sum(1, keepdim=True).clamp(min=1), x.new_zeros(())
        standard = self.head(inputs).to(x.dtype)
        return torch.exp(self.library[1] + self.library[2] * standard), 0.5 * standard.square().mean()

    def mean(self, output: Tensor, library: Tensor | None) -> Tensor:
        """Return the expected counts at library sizes (n, 1), by default the median of training."""
        log_mean, logits = self._split(output, self.library[0] if library is None else library)
        mean = torch.exp(log_mean)
        return mean if logits is None else mean * torch.sigmoid(-logits)

    def sample(self, output: Tensor, library: Tensor | None, epsilon: Tensor) -> Tensor:
        """Return integers with about the mean and variance of the counts, from standard normal noise; zeros are not inflated.

        They are Gaussian draws, rounded and cut at 0; the gradient passes the rounding as if it were not there.
        """
        log_mean, _ = self._split(output, self.library[0] if library is None else library)
        mean = torch.exp(log_mean)
        drawn = torch.relu(mean + torch.sqrt(mean + mean.square() * torch.exp(-self.log_dispersion)) * epsilon)
        return drawn + (drawn.round() - drawn).detach()

    def nll(self, x: Tensor, output: Tensor, library: Tensor) -> Tensor:
        """Return -log p(x | z), summed over features, mean over samples."""
        log_mean, logits = self._split(output, library)
        if logits is None:
            return likelihood.negative_binomial(x, log_mean, self.log_dispersion)
        return likelihood.zero_inflated(x, log_mean, self.log_dispersion, logits)

    @property
    def log_dispersion(self) -> Tensor:
        """The logarithm of r."""
        return (LOG_SCALE * self.dispersion).clamp(-LOG_BOUND, LOG_BOUND)

    def _split(self, output: Tensor, library: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the logarithm of the mean and, where zeros are inflated, the logits of their probability."""
        rate, logits = output.chunk(2, 1) if self.zero_inflated else (output, None)
        return torch.log_softmax(rate + self.profile, 1) + torch.log(library), logits


def check_counts(shape: tuple[int, ...], kind: str) -> None:
    """Refuse a likelihood of counts for images."""
    if len(shape) == 3:
        raise ValueError(f"likelihood={kind!r} needs vectors of counts; got images; use likelihood='gaussian' or 'bernoulli'.")
