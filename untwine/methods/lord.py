r"""LORD: Gabbay and Hoshen, *Demystifying Inter-Class Disentanglement*, 2020.

Stage one, latent optimisation (Eqs. 6 and 7):

$$\min_{e, c, \theta} \sum_i \|G_\theta(e_{y_i}, c_i + z_i) - x_i\| + \lambda \|c_i\|^2, \quad z_i \sim N(0, \sigma^2 I)$$

Stage two, the encoders (Eq. 8):

$$\min_{E_y, E_c, \theta} \sum_i \|G_\theta(E_y(x_i), E_c(x_i)) - x_i\|
    + \alpha_1 \|E_y(x_i) - e_{y_i}\|^2 + \alpha_2 \|E_c(x_i) - c_i\|^2$$

Letters: y_i the class of sample i; e_y the code that all samples of a class share, c_i the content code of one sample, both
free parameters; G the generator, E_y and E_c the encoders. `alpha_class` and `alpha_content` are the two alphas, `alpha` those
of them that are not given.
Reductions: the reconstruction is the mean absolute error over elements; the decay is summed over dimensions, the distances
of codes are means over them; all are means over samples.

Variants (table 3): `inference="semi"` infers c by an encoder in stage one, `"amortised"` also e, averaged over the samples of a
class in the batch, and then has no stage two. `regularisation="kl"` gives every c_i a variance and a KL term from N(0, I),
weighted by `beta`, in place of noise and decay; `"none"` has none of these. `epochs_encoders=0` leaves stage two out: encoding
then optimises the codes of each sample with the generator frozen. The paper does not say how the semi-amortised variant is
trained in stage two: `stage_two="plain"` is Eq. 8 without its last term, as there are no c_i, `"regularised"` gives the content
that is encoded the noise and the decay, or the KL term, of stage one, so that they hold to the end.

Deviations
- The default loss is L1 on x; `loss="vgg16"` is the paper's (and in its setting, `paper`), with the network frozen and images
  normalised as in its training.
- Learning rates, noise and decay are for that loss and for tens of epochs: a content code is updated once an epoch, so its rate
  `lr_codes` is far above the paper's, and class codes, which are updated in many steps of an epoch, have their own, `lr_class`.
- Each row of an embedding table has Adam moments of its own, which are updated when its sample or class is in the batch. At the
  paper's rates a content code then travels at most lr_codes in an epoch, next to nothing beside the noise. The authors' Adam
  is over the whole table, `code_updates="dense"` (and in the paper's setting): every code moves in every step by its momentum.
  Only the scale of the noise relative to that of the codes matters; it is below the paper's.
- Learning rates follow a cosine down to 0; in the authors' code they end above 0.
- The generator is trained on in stage two at a third of its rate (as the authors' 1e-4 of 3e-4).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.losses import gaussian
from untwine.losses.classes import class_means
from untwine.method.automatic import Length
from untwine.method.fields import AutoCountOrZero, Count, Loss, NonNegative, Positive, Weight
from untwine.method.presets import Preset
from untwine.methods.shared.class_content import NETWORKS, ClassContent
from untwine.methods.shared.published_data import CLASS_CONTENT, presets
from untwine.networks.class_content import build_encoder, build_generator
from untwine.networks.pretrained import reconstruction
from untwine.samples import Samples
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.embedding_table import EmbeddingTable
from untwine.training.stage import Move, Player, Stage, cosine

STAGE_TWO_LR = 1 / 3  # the generator's learning rate in stage two, relative to stage one
ENCODE_STEPS, ENCODE_LR = 200, 0.05  # where encoding optimises codes
# Appendix A.1. The learning rates of class and content codes are one; the alphas are not given.
_PAPER: Mapping[str, Any] = {
    **NETWORKS,
    "sigma": 1.0,
    "decay": 0.001,
    "lr_codes": 1e-3,
    "lr_class": 1e-3,
    "code_updates": "dense",
    "epochs_encoders": 200,
    "loss": "vgg16",
}
# Three times the rates, a tenth of the decay, 10 for both alphas; the generator's rate in stage two is then their 1e-4.
_CODE = {"decay": 1e-4, "lr": 3e-4, "lr_codes": 3e-3, "lr_class": 3e-3, "alpha": 10.0}
PAPER = presets(_PAPER, CLASS_CONTENT, CLASS_CONTENT)
AUTHORS = {data: preset.changed(**_CODE) for data, preset in PAPER.items()}


@dataclass(eq=False, kw_only=True)
class LORD(ClassContent):
    """Class and content from class labels: codes of classes and noisy codes of samples, optimised directly, then encoders.

    Parameters
    ----------
    sigma
        The standard deviation of the noise on content codes.
    decay
        The weight of the squared norm of content codes.
    lr_codes
        The learning rate of content codes; `lr` is that of the networks.
    lr_class
        The learning rate of class codes.
    code_updates
        Which codes a step updates: `sparse` those of its batch alone, each with an Adam of its own; `dense` all, by one Adam
        over the table as in the authors' code, in which the others move by their momentum. At the same rate, dense codes travel
        further the more steps an epoch has.
    epochs_encoders
        The epochs of stage two; 0 leaves it out, and encoding then optimises codes with the generator frozen. `auto` is a fifth
        of `epochs`.
    alpha
        The weight of the distances between the encoders' outputs and the codes of stage one.
    alpha_class
        This weight for the class encoder alone; None takes `alpha`.
    alpha_content
        This weight for the content encoder alone; None takes `alpha`.
    inference
        How codes are inferred in stage one: `latent` optimises all of them directly; `semi` has an encoder of content,
        `amortised` two encoders.
    stage_two
        Whether the encoded content is regularised in stage two as the content of stage one is: `regularised`, or `plain`.
    regularisation
        How content codes are regularised: `noise` (with the decay), `kl` (a KL term weighted by `beta`), or `none`.
    beta
        The weight of the KL term of `regularisation="kl"`.
    """

    n_content: Count = 12
    sigma: NonNegative = 0.3
    decay: Weight = 1e-5
    lr: Positive = 2e-3
    lr_codes: NonNegative = 0.03
    lr_class: NonNegative = 1e-2
    code_updates: Literal["sparse", "dense"] = "sparse"
    epochs_encoders: AutoCountOrZero = "auto"
    alpha: Weight = 10.0
    alpha_class: Weight | None = None
    alpha_content: Weight | None = None
    inference: Literal["latent", "semi", "amortised"] = "latent"
    stage_two: Literal["plain", "regularised"] = "plain"
    regularisation: Literal["noise", "kl", "none"] = "noise"
    beta: Weight = 1e-3
    loss: Loss = "l1"
    length: ClassVar[Length] = Length(image_networks=("mlp", 1), passes=2, least_epochs=100)
    name: ClassVar[str] = "lord"
    papers: ClassVar[Mapping[str, Preset]] = PAPER
    public_code: ClassVar[Mapping[str, Preset]] = AUTHORS

    def automatic(self, samples: Samples) -> dict[str, Any]:
        """Return what all trained methods choose, and the length of stage two."""
        chosen = super().automatic(samples)
        if self.epochs_encoders == "auto":
            chosen["epochs_encoders"] = max(1, {"epochs": self.epochs, **chosen}["epochs"] // 5)
        return chosen

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, and the embedding tables and encoders that the variant has."""
        self.check_build(shape, own)
        out = 2 * self.n_content if self.regularisation == "kl" else self.n_content  # with their log-variances
        nets, dense = nn.ModuleDict({"generator": build_generator(self, shape, own)}), self.code_updates == "dense"
        if self.inference != "amortised":
            nets["class_codes"] = EmbeddingTable(self.inferred_["classes"], self.n_class, dense=dense)
        if self.inference == "latent":
            nets["content_codes"] = EmbeddingTable(self.inferred_["rows"], out, dense=dense)
        if self.epochs_encoders or self.inference == "amortised":
            nets["class_encoder"] = build_encoder("class", self.n_class, self, shape, own)
        if self.epochs_encoders or self.inference != "latent":
            nets["content_encoder"] = build_encoder("content", out, self, shape, own)
        return nets

    def stages(self) -> Iterator[Stage]:
        """Learn codes and generator, then the encoders with the generator."""
        reconstruction.load_loss(self.loss)
        nets, encoders = self.nets_, []
        players = {"generator": Player(nets["generator"], self.lr)}
        if self.inference != "amortised":
            players["classes"] = Player(nets["class_codes"], self.lr_class)
        if self.inference == "latent":
            players["contents"] = Player(nets["content_codes"], self.lr_codes)
        if self.inference != "latent":
            encoders = [nets["content_encoder"], *([nets["class_encoder"]] if self.inference == "amortised" else [])]
            players["encoders"] = Player(encoders, self.lr)
        yield Stage("codes", self.epochs, players, self.step, self.batch, schedule=cosine)
        if self.epochs_encoders and self.inference != "amortised":
            encoders = [nets["class_encoder"], nets["content_encoder"]]
            players = {"generator": Player(nets["generator"], STAGE_TWO_LR * self.lr), "encoders": Player(encoders, self.lr)}
            yield Stage("encoders", self.epochs_encoders, players, self.step_encoders, self.batch, schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 6."""
        nets, players = self.nets_, ["generator"]
        if self.inference == "amortised":
            codes, labels = distributed.gather(nets["class_encoder"](batch.x)), distributed.gather(batch.labels)
            e = class_means(codes, labels)[distributed.share(len(labels))]
        else:
            e = nets["class_codes"](batch.labels)
            players.append("classes")
        if self.inference == "latent":
            code = nets["content_codes"](batch.index)
            players.append("contents")
        else:
            code = nets["content_encoder"](batch.x).to(batch.x.dtype)
            players.append("encoders")
        c, terms = self._regularise(code, batch)
        yield tuple(players), {"reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](e, c), batch.x), **terms}

    def _regularise(self, code: Tensor, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the content code that the generator is given, and its penalty."""
        if self.regularisation == "none":
            return code, {}
        noise = batch.noise(self.n_content)
        if self.regularisation == "kl":
            mu, logvar = code.chunk(2, 1)
            logvar = gaussian.clamp_logvar(logvar)
            return gaussian.sample(mu, logvar, noise), {"kl": self.beta * gaussian.kl(mu, logvar)}
        terms = {"decay": self.decay * code.square().sum(1).mean()} if self.decay else {}
        return code + self.sigma * noise, terms

    def step_encoders(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 8."""
        nets = self.nets_
        e, code = nets["class_encoder"](batch.x).to(batch.x.dtype), nets["content_encoder"](batch.x).to(batch.x.dtype)
        regularised = self.stage_two == "regularised"
        c, penalty = self._regularise(code, batch) if regularised else (code[:, : self.n_content], {})
        terms = {"reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](e, c), batch.x), **penalty}
        alpha_1, alpha_2 = (self.alpha if one is None else one for one in (self.alpha_class, self.alpha_content))
        if alpha_1:
            terms["class"] = alpha_1 * functional.mse_loss(e, nets["class_codes"].read(batch.labels))
        if alpha_2 and self.inference == "latent":
            terms["content"] = alpha_2 * functional.mse_loss(code, nets["content_codes"].read(batch.index))
        yield ("generator", "encoders"), terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the codes by the encoders or, where there are none, those that reconstruct the samples best."""
        if "class_encoder" not in self.nets_:
            return self._optimise_codes(x)
        content = self.nets_["content_encoder"](x)[:, : self.n_content]
        return {"class": self.nets_["class_encoder"](x), "content": content}

    def code_std(self, x: Tensor) -> dict[str, Tensor]:
        """Return the standard deviations of content codes that are regularised by a KL term and have an encoder."""
        if self.regularisation != "kl" or "content_encoder" not in self.nets_:
            return {}
        logvar = gaussian.clamp_logvar(self.nets_["content_encoder"](x)[:, self.n_content :])
        return {"content": torch.exp(0.5 * logvar)}

    def _optimise_codes(self, x: Tensor) -> dict[str, Tensor]:
        if torch.compiler.is_exporting():  # it would trace every step of the search
            raise RuntimeError("it optimises the codes of each sample")
        nets = self.nets_
        start = {"class": nets["class_codes"].weight.detach().mean(0).expand(len(x), -1).clone()}
        if self.inference == "latent":
            start["content"] = x.new_zeros(len(x), self.n_content)
        variables = [code.requires_grad_() for code in start.values()]
        adam = torch.optim.Adam(variables, lr=ENCODE_LR)
        decay = self.decay if self.regularisation == "noise" else 0.0  # as in training
        for _ in range(ENCODE_STEPS):
            with torch.enable_grad():
                content = start["content"] if "content" in start else nets["content_encoder"](x)[:, : self.n_content]
                # A sum over samples, so that no sample's codes depend on the others.
                error = reconstruction.sample_losses(self.loss, nets["generator"](start["class"], content), x).sum()
                loss = error + decay * content.square().sum()
            for code, grad in zip(variables, torch.autograd.grad(loss, variables), strict=True):
                code.grad = grad
            adam.step()
        return {"class": start["class"].detach(), "content": content.detach()}

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw classes of training, and contents with the mean and standard deviation of training; else standard normal."""
        codes = super().prior(n, generator)
        if "class_codes" in self.nets_:
            known = self.nets_["class_codes"].weight.detach().float().cpu()
            codes["class"] = known[torch.randint(len(known), (n,), generator=generator)]
        if "content_codes" in self.nets_:
            known = self.nets_["content_codes"].weight.detach()[:, : self.n_content].float().cpu()
            codes["content"] = known.mean(0) + known.std(0) * codes["content"]
        return codes

    def known_classes(self) -> Tensor | None:
        """Return the codes of the classes, where they are parameters."""
        return self.nets_["class_codes"].weight.detach() if "class_codes" in self.nets_ else None

    def neutral(self) -> dict[str, Array]:
        """Return the mean of all class codes: no class in particular."""
        if "class_codes" not in self.nets_:
            return {}
        return {"class": self.nets_["class_codes"].weight.detach().float().mean(0).cpu().numpy()}
