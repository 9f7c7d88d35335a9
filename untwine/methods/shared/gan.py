"""What the GANs share: the range of images, priors of codes, and the options of the InfoGANs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from untwine.losses import adversarial
from untwine.method.automatic import Length
from untwine.method.fields import Count, NonNegative, Positive, Weight
from untwine.method.kinds import Trained

BETAS = (0.5, 0.999)  # of Adam, as in Carton et al. 2024
Prior = Literal["normal", "uniform"]
CodePosterior = Literal["laplace", "gaussian"]


@dataclass(eq=False, kw_only=True)
class InfoGANOptions(Trained):
    """The options of a GAN whose discriminator recovers the codes of generated samples.

    Parameters
    ----------
    w_adv
        The weight of the adversarial loss.
    w_cr
        The weight of the contrastive regulariser, a network that sees two generated samples with one latent dimension in common
        and predicts which one it is; 0 leaves it out.
    posterior
        The distribution of a code given a generated sample: `laplace` (absolute errors) or `gaussian` (squared errors).
    noise
        The standard deviation of the noise that is added before every layer of the discriminator.
    loop_g
        The number of updates of the generator in a step.
    loop_d
        The number of updates of the discriminator in a step.
    loop_cr
        The number of updates of the contrastive regulariser in a step.
    """

    w_adv: Positive = 0.5
    w_cr: Weight = 0.0
    posterior: CodePosterior = "laplace"
    noise: NonNegative = 0.2
    loop_g: Count = 1
    loop_d: Count = 1
    loop_cr: Count = 1
    lr: Positive = 2e-4
    takes_covariates: ClassVar[bool] = True
    length: ClassVar[Length] = Length(image_networks=("dcgan", 1), passes=4)

    def check_regulariser(self, field: str, width: int | str) -> None:
        """Refuse the contrastive regulariser for a block of one dimension: it would have nothing to predict."""
        if self.w_cr and width == 1:
            raise ValueError(
                f"{type(self).__name__}: w_cr must be 0 where {field} is 1, because one dimension leaves nothing to predict; "
                f"got {self.w_cr}; set w_cr=0 or raise {field}."
            )


def to_tanh_range(x: Tensor) -> Tensor:
    """Return images in [0, 1] as the networks have them, in [-1, 1]; vectors as they are."""
    return 2 * x - 1 if x.ndim == 4 else x


def to_unit_range(x: Tensor) -> Tensor:
    """Return the networks' images in [0, 1]; vectors as they are."""
    return (x + 1) / 2 if x.ndim == 4 else x


def sample_prior(noise: Tensor, prior: str, low: float) -> Tensor:
    """Return standard normal noise as draws from a prior: itself, or uniform from `low` to 1."""
    return noise if prior == "normal" else adversarial.uniform(noise, low, 1.0)


def code_error(predicted: Tensor, code: Tensor, posterior: str) -> Tensor:
    """Return -log q elementwise, up to a constant: absolute errors of a Laplace posterior, half the squares of a Gaussian."""
    return (predicted - code).abs() if posterior == "laplace" else 0.5 * (predicted - code).square()
