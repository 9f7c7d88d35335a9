r"""What contrastive VAEs share: the blocks common and salient, and the ELBO of both groups (Eq. 3) or of several targets.

$$E_t[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s|x) \| N) - \log p(x|z, s)] + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]$$

The equation number is that of *Towards Principled Objectives*. Letters: x target, y background; z common, s salient; N the
standard normal. One encoder and one decoder serve both groups. Reductions: likelihood and KL terms are summed over
dimensions, mean over the samples of their group.

With `salient="per_target"` there are targets x^1, ..., x^K and s = (s_1, ..., s_K), a block for each of them. The prior of
target k is that of Eq. 2 with its own block in place of s, all others as in the background: p_k(z, s) is N(z) N(s_k) times
delta{s_j = 0} for every j but k, so that x^k is decoded from z and s_k alone. The bounds of all K + 1 data sets, added as in
Eq. 6, are

$$\sum_k E_k[\beta_z KL(q(z|x) \| N) + \beta_s KL(q(s_k|x) \| N) - \log p(x|z, s_k)]
    + E_b[\beta_z KL(q(z|y) \| N) - \log p(y|z, 0)]$$
$$\quad + \sum_k \Big( E_b + \sum_{j \neq k} E_j \Big) KL(q(s_k|\cdot) \| \delta\{s_k = 0\})$$

where E_k is over the samples of target k. The last sum is Eq. 7's, for every block over all groups but its own target; Eq. 3
leaves it out, and methods put their own term in its place. Where a term compares the common codes of both groups, it does so
for the background and each target, and is summed over targets: the codes of all targets together may be distributed as the
background's while those of single targets are not, and then z would encode which target it is. With one target all this is
the objective of two groups.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from untwine.losses import gaussian
from untwine.method.fields import AutoCount, Weight, Width
from untwine.method.inputs import Needs
from untwine.method.presets import Preset
from untwine.methods.shared.gaussian_vae import GaussianVAE
from untwine.methods.shared.inferred import Salient, common_width, infer_targets, salient_width, target_blocks
from untwine.methods.shared.published_data import PRINCIPLED, presets
from untwine.networks.autoencoder import Autoencoder, Code
from untwine.registry.blocks import SALIENT, members
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.batches import Batch

# *Towards Principled Objectives* (appendix A.3): 16 + 8 dimensions and 6 layers for Grassy MNIST, 16 + 6 and 32 + 32 dimensions
# and 8 layers for faces; Adam with rate 0.001, batches of 128, beta = 2, and 200 epochs in its figure 6. It does not state the
# scale of the likelihood; this is one at which the posterior does not collapse.
_GRASS = {
    "n_common": 16,
    "n_salient": 8,
    "beta_common": 2.0,
    "beta_salient": 2.0,
    "scale": 0.16,
    "epochs": 200,
    "batch": 128,
    "lr": 1e-3,
    "networks": "layers6",
}
PRINCIPLED_PRESETS: Mapping[str, Preset] = {
    **presets(_GRASS, PRINCIPLED, ("grassy_mnist", "grassy_mnist_nonlinear")),
    "celeba_accessories": Preset({**_GRASS, "n_salient": 6, "networks": "layers8"}, PRINCIPLED["celeba_accessories"]),
    "affectnet": Preset({**_GRASS, "n_common": 32, "n_salient": 32, "networks": "layers8"}, PRINCIPLED["affectnet"]),
}


@dataclass(eq=False, kw_only=True)
class TwoBlockVAE(GaussianVAE):
    """A contrastive VAE but for its objective: an autoencoder `vae` with the blocks common and salient.

    Parameters
    ----------
    n_common
        The number of dimensions of the common block; `auto` is the effective rank of the background, from 2 (images: 8) to 64.
    n_salient
        The number of dimensions of the salient block, or of each of them; `auto` takes as many as `contrast_test` finds,
        at most 32 (images: at least 4).
    salient
        The salient blocks: `shared`, one for all targets, or `per_target`, one for each, `salient_<name of the group>`. Then a
        step has `batch` samples of each target and of the background.
    beta_common
        The weight of the KL term of the common block.
    """

    n_common: AutoCount = "auto"
    n_salient: Width = "auto"
    salient: Salient = "shared"
    beta_common: Weight = 1.0
    needs: ClassVar[Needs] = "groups"
    scale_factor: ClassVar[float] = 2.0

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, common and salient, or common and a salient block for each target."""
        if self.salient == "shared":
            return {"common": self.resolve("n_common"), SALIENT: self.resolve("n_salient")}
        return {"common": self.resolve("n_common"), **target_blocks(self.n_salient, self.__dict__.get("inferred_", {}))}

    @property
    def salient_widths(self) -> list[int]:
        """The width of each salient block."""
        return list(self.blocks.values())[1:]

    @property
    def batches(self) -> Literal["groups", "targets"]:
        """What every step holds: samples of target and background, or of each target and of the background."""
        return "groups" if self.salient == "shared" else "targets"

    def infer(self, samples: Samples) -> dict[str, Any]:
        """Return the names of the salient blocks, and their number of dimensions where it is left to the data."""
        common = common_width(self.n_common, samples, self.counts)
        if self.salient == "shared":
            return {**common, **salient_width(self.n_salient, samples, self.counts)}
        return {**common, **infer_targets(self.n_salient, samples, self.counts)}

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw codes as for targets; with a salient block for each, as for one target after the other, all other blocks 0."""
        codes = super().prior(n, generator)
        own = members(SALIENT, codes)
        for k, name in enumerate(own if len(own) > 1 else ()):
            codes[name][torch.arange(n) % len(own) != k] = 0
        return codes

    def block_prior(self, block: str, n: int, generator: torch.Generator) -> Tensor:
        """Draw the codes of one block, of a target's as for samples of that target; `salient` is all salient blocks."""
        codes = self.prior(n, generator) if block == SALIENT else super().prior(n, generator)
        return torch.cat([codes[name] for name in members(block, codes)], 1)


class Posterior(NamedTuple):
    """The posterior of one block for the samples of a step: means, log-variances, and a draw of each."""

    mu: Tensor
    logvar: Tensor
    sample: Tensor


class SalientPosteriors(NamedTuple):
    """The salient posteriors of a step.

    Attributes
    ----------
    own
        For each salient block its posterior on the samples of its target.
    others
        For each salient block its posteriors on the groups where it must be 0: the other targets, then the background.
    decoded
        What all samples are decoded with: a draw of the own block, 0 in all others.
    """

    own: list[Posterior]
    others: list[list[Posterior]]
    decoded: Tensor

    @property
    def off_target(self) -> list[Posterior]:
        """The posteriors of every block on every group where it must be 0."""
        return [posterior for block in self.others for posterior in block]


def infer(nets: Autoencoder, batch: Batch) -> tuple[Posterior, Posterior]:
    """Encode a batch and draw from the posteriors of z and s, all salient blocks side by side."""
    z, s = encode(nets, batch.x)
    return draw(batch, z), draw(batch, s)


def encode(nets: Autoencoder, x: Tensor) -> tuple[Code, Code]:
    """Return the posterior of z, and that of all salient blocks side by side."""
    z, *blocks = nets.encode(x).values()
    return z, blocks[0] if len(blocks) == 1 else Code(*(torch.cat(values, 1) for values in zip(*blocks, strict=True)))


def draw(batch: Batch, code: Code) -> Posterior:
    """Draw from each sample's Gaussian."""
    return Posterior(*code, gaussian.sample(*code, batch.noise(code.mu.shape[1])))


def split_salient(batch: Batch, s: Posterior, widths: Sequence[int]) -> SalientPosteriors:
    """Return what becomes of the salient posteriors of a batch of `groups` or `targets`, from blocks side by side."""
    pools = [Posterior(*values) for values in zip(*map(batch.split_pools, s), strict=True)]
    blocks = [split_blocks(pool, widths) for pool in pools]
    own, others = [], []
    decoded = []
    for k in range(len(widths)):
        own.append(blocks[k][k])
        others.append([blocks[group][k] for group in range(len(pools)) if group != k])
    for group in range(len(pools)):
        columns = [one.sample if group == k else torch.zeros_like(one.sample) for k, one in enumerate(blocks[group])]
        decoded.append(columns[0] if len(columns) == 1 else torch.cat(columns, 1))
    return SalientPosteriors(own, others, torch.cat(decoded))


def split_blocks(posterior: Posterior, widths: Sequence[int]) -> list[Posterior]:
    """Return the posterior of each block, from blocks side by side."""
    if len(widths) == 1:
        return [posterior]
    return [Posterior(*values) for values in zip(*(torch.split(value, list(widths), 1) for value in posterior), strict=True)]


def gather_pools(batch: Batch, codes: Tensor) -> list[Tensor]:
    """Return the codes of each target and then of the background, of the global batch, in its order."""
    return [distributed.gather(pool) for pool in batch.split_pools(codes)]


def elbo_terms(
    nets: Autoencoder, x: Tensor, z: Posterior, s: SalientPosteriors, *, beta_common: float, beta_salient: float
) -> dict[str, Tensor]:
    """Return the terms of Eq. 3; one whose weight is 0 is left out."""
    # All groups have equally many samples, so the sum of their means is their number times the mean over all samples.
    groups = len(s.own) + 1
    terms = {"reconstruction": groups * nets.reconstruction(x, z.sample, s.decoded)}
    if beta_common:
        terms["kl_common"] = beta_common * groups * gaussian.kl(z.mu, z.logvar)
    if beta_salient:
        terms["kl_salient"] = beta_salient * total(gaussian.kl(own.mu, own.logvar) for own in s.own)
    return terms


def salient_penalty(s: SalientPosteriors) -> Tensor:
    """Return Eq. 7's background salient penalty, of every block on every group that is not its target."""
    return total(gaussian.second_moment(one.mu, one.logvar) for one in s.off_target)


def between_groups(distance: Callable[[Tensor, Tensor], Tensor], batch: Batch, codes: Tensor) -> Tensor:
    """Return the distance between the common codes of each target and of the background, summed over targets."""
    *targets, background = gather_pools(batch, codes)
    return total(distance(target, background) for target in targets)


def total(values: Iterable[Tensor]) -> Tensor:
    """Return the sum of terms."""
    return functools.reduce(operator.add, values)
