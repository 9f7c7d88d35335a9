r"""LORD: Gabbay and Hoshen, *Demystifying Inter-Class Disentanglement*, 2020 (paper 004).

Stage one, latent optimisation (Eqs. 6 and 7):

$$\min_{e, c, \theta} \sum_i \|G_\theta(e_{y_i}, c_i + z_i) - x_i\| + \lambda \|c_i\|^2, \quad z_i \sim N(0, \sigma^2 I)$$

Stage two, the encoders (Eq. 8):

$$\min_{E_y, E_c, \theta} \sum_i \|G_\theta(E_y(x_i), E_c(x_i)) - x_i\|
    + \alpha_1 \|E_y(x_i) - e_{y_i}\|^2 + \alpha_2 \|E_c(x_i) - c_i\|^2$$

Letters: y_i the class of row i; e_y the code that all rows of a class share, c_i the content code of one row, both parameters
themselves; G the generator, E_y and E_c the encoders. `alpha` is both alphas.
Reductions: the reconstruction is the mean absolute error over elements; the decay is summed over dimensions, the distances
of codes are means over them; all are means over rows.

Variants (table 3): `inference="semi"` infers c by an encoder in stage one, `"amortised"` also e, averaged over the rows of a
class in the batch, and then has no stage two. `regularisation="kl"` gives every c_i a variance and a divergence from N(0, I),
weighted by `beta`, in place of noise and decay; `"none"` has none of these. `epochs_encoders=0` leaves stage two out: encoding
then optimises the codes of each row with the generator frozen.

Deviations
- The default loss is L1 on the rows; `loss="vgg16"` is the paper's (and in its setting, `paper`), its network frozen and shown
  images as in its training.
- Rates, noise and decay are for that loss and for tens of epochs: a content code moves once an epoch, so its rate `lr_codes` is
  far above the paper's, and class codes, which move in many steps of an epoch, have their own, `lr_class`. Only the size of
  the noise next to that of the codes matters; it is below the paper's.
- Rates fall along a cosine to 0, as in the authors' code, which ends above 0.
- The generator goes on in stage two at a third of its rate (as the authors' 1e-4 of 3e-4).
- Each row of a table of codes has an Adam of its own, which moves when the row is in the batch.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine._typing import Array
from untwine.losses import gaussian
from untwine.losses.classes import class_means
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.networks.class_content import MODULE_NAMES, build_encoder, build_generator
from untwine.networks.custom import check_module_names
from untwine.networks.pretrained import reconstruction
from untwine.training import distributed
from untwine.training.batches import Batch
from untwine.training.embedding_table import EmbeddingTable
from untwine.training.loop import Move, Player, Stage, cosine

INFERENCES = ("latent", "semi", "amortised")
REGULARISATIONS = ("noise", "kl", "none")
SLOWER = 1 / 3  # the generator's rate in stage two
SEARCH, SEARCH_LR = 200, 0.05  # steps and rate where encoding optimises codes
PAPER = {
    "n_class": 256,
    "n_content": 128,
    "sigma": 1.0,
    "decay": 0.001,
    "lr": 1e-4,
    "lr_codes": 1e-3,
    "lr_class": 1e-3,
    "batch": 128,
    "epochs": 200,
    "epochs_encoders": 200,
    "loss": "vgg16",
    "networks": "adain",
    "width": 64,
}


@dataclass(eq=False, kw_only=True)
class LORD(Trained):
    """Class and content from class labels: shared codes of classes and noisy codes of rows, learned directly, then encoders.

    Parameters
    ----------
    n_class, n_content
        The widths of the two parts.
    sigma, decay
        The deviation of the noise on content codes, and the weight of their squared size.
    lr_codes, lr_class
        The learning rates of content and class codes; `lr` is that of the networks.
    epochs_encoders
        Epochs of stage two; 0 leaves it out, and encoding then optimises codes with the generator frozen.
    alpha
        The weight of both encoders' distance to the codes of stage one.
    inference
        `latent` learns all codes directly; `semi` has an encoder of content in stage one, `amortised` two.
    regularisation, beta
        `noise` (with the decay), `kl` weighted by beta, or `none`.
    loss
        Of reconstruction: `l1`, `l2`, or `vgg16` or `squeezenet` for the features of that network, whose weights must be there.
    """

    n_class: int = 16
    n_content: int = 12
    sigma: float = 0.3
    decay: float = 1e-5
    epochs: int = 100
    batch: int = 128
    lr: float = 2e-3
    lr_codes: float = 0.03
    lr_class: float = 1e-2
    epochs_encoders: int = 20
    alpha: float = 10.0
    inference: str = "latent"
    regularisation: str = "noise"
    beta: float = 1e-3
    loss: str = "l1"
    name: ClassVar[str] = "lord"
    needs: ClassVar[Needs] = "labels"
    papers: ClassVar[Mapping[str, Mapping[str, Any]]] = dict.fromkeys(
        ("cars3d", "smallnorb", "celeba_identity", "kth", "rafd", "edges2shoes"), PAPER
    )

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def check(self) -> None:
        """Refuse names that are none of the variants'."""
        super().check()
        for field, known in (("inference", INFERENCES), ("regularisation", REGULARISATIONS)):
            if getattr(self, field) not in known:
                raise ValueError(f"{field} must be one of {', '.join(known)}; got {getattr(self, field)!r}.")

    def build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.ModuleDict:
        """Return the generator, and the tables of codes and the encoders that the variant has."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)
        wide = 2 * self.n_content if self.regularisation == "kl" else self.n_content  # with their log-variances
        nets = nn.ModuleDict({"generator": build_generator(self, shape, own)})
        if self.inference != "amortised":
            nets["class_codes"] = EmbeddingTable(self.found_["classes"], self.n_class)
        if self.inference == "latent":
            nets["content_codes"] = EmbeddingTable(self.found_["rows"], wide)
        if self.epochs_encoders or self.inference == "amortised":
            nets["class_encoder"] = build_encoder("class", self.n_class, self, shape, own)
        if self.epochs_encoders or self.inference != "latent":
            nets["content_encoder"] = build_encoder("content", wide, self, shape, own)
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
            players = {"generator": Player(nets["generator"], SLOWER * self.lr), "encoders": Player(encoders, self.lr)}
            yield Stage("encoders", self.epochs_encoders, players, self.step_encoders, self.batch, schedule=cosine)

    def step(self, batch: Batch, t: int) -> Generator[Move]:
        """Take one step on Eq. 6."""
        nets, players = self.nets_, ["generator"]
        if self.inference == "amortised":
            every = distributed.gather(nets["class_encoder"](batch.x)), distributed.gather(batch.labels)
            e = class_means(*every)[distributed.share(len(every[1]))]
        else:
            e = nets["class_codes"](batch.labels)
            players.append("classes")
        if self.inference == "latent":
            code = nets["content_codes"](batch.index)
            players.append("contents")
        else:
            code = nets["content_encoder"](batch.x).to(batch.x.dtype)
            players.append("encoders")
        c, terms = self._regularised(code, batch)
        yield tuple(players), {"reconstruction": reconstruction.mean_loss(self.loss, nets["generator"](e, c), batch.x), **terms}

    def _regularised(self, code: Tensor, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the content that the generator is given, and what it costs."""
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
        x = nets["generator"](e, code[:, : self.n_content])
        terms = {"reconstruction": reconstruction.mean_loss(self.loss, x, batch.x)}
        if self.alpha:
            terms["class"] = self.alpha * functional.mse_loss(e, nets["class_codes"].read(batch.labels))
        if self.alpha and self.inference == "latent":
            terms["content"] = self.alpha * functional.mse_loss(code, nets["content_codes"].read(batch.index))
        yield ("generator", "encoders"), terms

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the codes by the encoders or, where there are none, those that reconstruct the rows best."""
        if "class_encoder" not in self.nets_:
            return self._optimised(x)
        content = self.nets_["content_encoder"](x)[:, : self.n_content]
        return {"class": self.nets_["class_encoder"](x), "content": content}

    def spreads(self, x: Tensor) -> dict[str, Tensor]:
        """Return the deviations of contents where a divergence regularises them, by their encoder."""
        if self.regularisation != "kl" or "content_encoder" not in self.nets_:
            return {}
        logvar = gaussian.clamp_logvar(self.nets_["content_encoder"](x)[:, self.n_content :])
        return {"content": torch.exp(0.5 * logvar)}

    def _optimised(self, x: Tensor) -> dict[str, Tensor]:
        nets = self.nets_
        start = {"class": nets["class_codes"].weight.detach().mean(0).expand(len(x), -1).clone()}
        if self.inference == "latent":
            start["content"] = x.new_zeros(len(x), self.n_content)
        found = [code.requires_grad_() for code in start.values()]
        adam = torch.optim.Adam(found, lr=SEARCH_LR)
        decay = self.decay if self.regularisation == "noise" else 0.0  # as in training
        for _ in range(SEARCH):
            with torch.enable_grad():
                content = start["content"] if "content" in start else nets["content_encoder"](x)[:, : self.n_content]
                # A sum over rows, so that no row depends on its company.
                error = reconstruction.sample_losses(self.loss, nets["generator"](start["class"], content), x).sum()
                loss = error + decay * content.square().sum()
            for code, grad in zip(found, torch.autograd.grad(loss, found), strict=True):
                code.grad = grad
            adam.step()
        return {"class": start["class"].detach(), "content": content.detach()}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(e, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]

    def prior(self, n: int, generator: torch.Generator) -> dict[str, Tensor]:
        """Draw classes of training, and contents with the mean and deviation of those of training; else standard normal."""
        drawn = super().prior(n, generator)
        if "class_codes" in self.nets_:
            known = self.nets_["class_codes"].weight.detach().float().cpu()
            drawn["class"] = known[torch.randint(len(known), (n,), generator=generator)]
        if "content_codes" in self.nets_:
            known = self.nets_["content_codes"].weight.detach()[:, : self.n_content].float().cpu()
            drawn["content"] = known.mean(0) + known.std(0) * drawn["content"]
        return drawn

    def known_classes(self) -> Tensor | None:
        """Return the shared codes of classes, where there are some."""
        return self.nets_["class_codes"].weight.detach() if "class_codes" in self.nets_ else None

    def neutral(self) -> dict[str, Array]:
        """Return the mean of all class codes: no class in particular."""
        if "class_codes" not in self.nets_:
            return {}
        return {"class": self.nets_["class_codes"].weight.detach().float().mean(0).cpu().numpy()}
