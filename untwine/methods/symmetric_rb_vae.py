r"""sRb-VAE: Ruiz et al., *Learning Disentangled Representations with Reference-Based VAEs*, 2018.

The symmetric KL (Eq. 4) $KL(q \| p) + KL(p \| q)$ of the encoded $q = q(z|x) q(e|x) p(x)$ and the generated
$p = p(x|z, e) p(z) p(e)$, by two discriminators that estimate their log ratios (Eq. 7):

$$d_u(x, z, e) = \log \frac{q(z|x) q(e|x) p^u(x)}{p(x|z, e) p(z) p(e)}, \quad
  d_r(x, z) = \log \frac{q(z|x) p^r(x)}{p(x|z, e^r) p(z)}$$
$$\min_{\theta, \psi, e^r} E_q[d_u] - E_p[d_u] + E_q[d_r] - E_p[d_r] \quad \text{(Eq. 8)}$$
$$ - E_q[\log p(x|z, e) + \log p(x^r|z^r, e^r)]
   - E_p[\log q(\hat z|\hat x) + \log q(\hat e|\hat x) + \log q(\hat z^r|\hat x^r)] \quad \text{(Eq. 10)}$$
$$\max_d E_q[\log \sigma(d)] + E_p[\log (1 - \sigma(d))] \quad \text{for each discriminator (Algorithm 1)}$$

Letters: u the target, r the background (the paper's unlabelled and reference samples); z common, e salient; e^r the learned
reference vector, which every background is decoded with; a hat marks what was drawn from p. E_q[d] depends on the encoder (psi)
alone and E_p[d] on the decoder with e^r (theta) alone, so both minimise one sum; each discriminator has its own loss, and all
gradients are taken at the same parameters (Algorithm 1).
Reductions: log-likelihoods are summed over dimensions, mean over the samples of their group; discriminators' terms are means.

Deviations
- `beta_common` adds KL(q(z|x) || p(z)) of both groups (0 is the paper). Nothing in Eqs. 8 and 10 says which block
  encodes the variation of the target alone: z and e may share it. A heavily penalised z leaves it to e.
- Eq. 9 labels generated samples 1 and Algorithm 1 encoded ones: the latter makes d the log ratio of Eq. 7, and is used.
- The paper writes Eq. 10 as log-likelihoods that are minimised: they are subtracted here.
- Inputs of the discriminators' joint layers are dropped as whole blocks (the features of x, of z and of e), each with
  probability 0.25 for each sample. The paper drops "inputs corresponding to latent variables and images of the last fully
  connected layer" and does not say whether blocks or single units: `drop="units"` drops single units of the same features,
  `drop="last"` single inputs of the last linear layer. As its inputs are units of all features together, these have no blocks;
  a last layer on the features themselves would be a sum of a function of x and one of the codes, which cannot see pairs.
- One encoder has both heads by default; `trunks="separate"` is the paper's, with one network for each block.
- Vectors are drawn from p(x|z, e), images taken at its mean: at the paper's scale the noise is not visible, at a larger one
  it would dominate what a discriminator sees.
- Images are in [0, 1], not in [-1, 1]: the paper's scale 0.01 is 0.005 here.
- Vectors have a Gaussian likelihood with learned variance by default; log-variances are bounded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from untwine.losses import adversarial, gaussian, likelihood
from untwine.losses.density_ratio import discriminator_loss
from untwine.method.fields import Probability
from untwine.method.presets import Preset
from untwine.methods.shared.contrastive_elbo import PRINCIPLED_PRESETS
from untwine.methods.shared.reference_vae import BETAS, ReferenceVAE, paper_presets
from untwine.networks import select_networks
from untwine.networks.discriminator import Discriminator
from untwine.networks.norm import freeze_running_stats
from untwine.training.batches import Batch
from untwine.training.stage import Move, Player, Stage

# On AffectNet and digit style the setting of its own paper; on the others it is a baseline of *Towards Principled Objectives*
# (table 1), which has the same networks for all methods.
PAPER: Mapping[str, Preset] = {
    **paper_presets(beta_common=0.0),
    **{
        data: Preset(
            {key: value for key, value in preset.fields.items() if key != "beta_salient"}
            | {"beta_common": 0.0, "likelihood": "gaussian"},
            preset.data,
        )
        for data, preset in PRINCIPLED_PRESETS.items()
        if data != "affectnet"
    },
}


@dataclass(eq=False, kw_only=True)
class SymmetricRbVAE(ReferenceVAE):
    """Common and salient blocks of target and background, by a symmetric KL that two discriminators estimate.

    Parameters
    ----------
    beta_common
        The weight of a KL term of the common block; a heavily penalised z leaves the variation of the target alone to e.
    dropped
        The probability with which each input of a discriminator's joint layers is dropped.
    drop
        What is dropped: `blocks`, all features of the sample or of a latent block; `units`, single features; `last`, single
        inputs of the last linear layer.
    """

    dropped: Probability = 0.25
    drop: Literal["blocks", "units", "last"] = "blocks"
    name: ClassVar[str] = "symmetric_rb_vae"
    papers: ClassVar[Mapping[str, Preset]] = PAPER

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the autoencoder, the reference vector and the two discriminators."""
        (common, salient), pair = self.blocks.values(), select_networks(self.networks, shape)
        width, known = self.width or pair.default_width, (self.n_covariates, self.counts)
        return nn.ModuleDict(
            {
                "vae": self.autoencoder(shape, own),
                "reference": self.reference(),
                "discriminator_target": Discriminator(pair, shape, width, (common, salient), *known),
                "discriminator_background": Discriminator(pair, shape, width, (common,), *known),
            }
        )

    def stages(self) -> Iterator[Stage]:
        """Update all four players in every step, with both groups in it."""
        nets = self.nets_
        decoding = [p for name, p in nets["vae"].named_parameters() if not name.startswith("encoder.")]
        players = {
            "encoder": Player(nets["vae"].encoder, self.lr, BETAS),
            "decoder": Player([*decoding, nets["reference"]], self.lr, BETAS),
        }
        for name in ("discriminator_target", "discriminator_background"):
            players[name] = Player(nets[name], self.lr, BETAS)
        yield Stage("training", self.epochs, players, self.step, self.batch, batches="groups")

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take all four gradients of Algorithm 1, then all four steps."""
        nets, (common, salient) = self.nets_["vae"], self.blocks.values()
        x = batch.x
        inferred = nets.encode(x)
        z, e = (gaussian.sample(mu, logvar, batch.noise(mu.shape[1])) for mu, logvar in inferred.values())
        e = self._with_reference(batch, e)
        z_hat, e_hat = batch.noise(common), self._with_reference(batch, batch.noise(salient))
        with freeze_running_stats(nets):  # running statistics are those of real samples
            x_hat = nets.sample(batch.noise, z_hat, e_hat)
            q_z, q_e = nets.encode(x_hat).values()
        (d_u, d_r), (d_u_hat, d_r_hat) = self._log_ratios(batch, (x, z, e), (x_hat, z_hat, e_hat))
        (e_u, _), (mu_u, _), (logvar_u, _) = map(batch.split_groups, (e_hat, *q_e))
        # The groups have equally many samples, so the sum of their two means is twice the mean over all samples.
        terms = {
            "target_encoded": d_u.mean(),
            "background_encoded": d_r.mean(),
            "target_generated": -d_u_hat.mean(),
            "background_generated": -d_r_hat.mean(),
            "reconstruction": 2 * nets.reconstruction(x, z, e),
            "codes": 2 * likelihood.gaussian_learned(z_hat, *q_z) + likelihood.gaussian_learned(e_u, mu_u, logvar_u),
        }
        if self.beta_common:
            terms["kl_common"] = self.beta_common * 2 * gaussian.kl(*inferred["common"])
        yield [
            (("encoder", "decoder"), terms),
            ("discriminator_target", {"discrimination": discriminator_loss(d_u, d_u_hat)}),
            ("discriminator_background", {"discrimination": discriminator_loss(d_r, d_r_hat)}),
        ]

    def _with_reference(self, batch: Batch, e: Tensor) -> Tensor:
        """Return salient codes with the reference vector for every background."""
        target, _ = batch.split_groups(e)
        return torch.cat([target, self.nets_["reference"]["e"].expand_as(target)])

    def _log_ratios(
        self, batch: Batch, encoded: tuple[Tensor, ...], generated: tuple[Tensor, ...]
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Return (d_u, d_r) of encoded and of generated samples with their codes."""
        ratios = []
        nets_u, nets_r = (self.given(conditions).nets_ for conditions in batch.group_conditions())
        target, background = nets_u["discriminator_target"], nets_r["discriminator_background"]
        for inputs in (encoded, generated):
            mask = adversarial.dropout_mask(batch.noise(target.mask_width(self.drop)), self.dropped)
            (x_u, x_r), (z_u, z_r), (e_u, _), (mask_u, mask_r) = map(batch.split_groups, (*inputs, mask))
            d_u = target(x_u, z_u, e_u, mask=mask_u, drop=self.drop)
            d_r = background(x_r, z_r, mask=mask_r[:, : background.mask_width(self.drop)], drop=self.drop)
            ratios.append((d_u, d_r))
        return ratios[0], ratios[1]
