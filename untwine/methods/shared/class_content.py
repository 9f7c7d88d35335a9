"""The blocks and the networks of the methods that separate class and content; objectives are in the methods' own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor, nn

from untwine.method.automatic import Length
from untwine.method.fields import ClassContentNetworks, Count, Loss
from untwine.method.inputs import Needs
from untwine.method.kinds import Trained
from untwine.method.presets import Preset
from untwine.methods.shared.inferred import class_counts
from untwine.methods.shared.published_data import CLASS_CONTENT, presets
from untwine.networks.class_content import MODULE_NAMES, build_encoder
from untwine.networks.custom import check_module_names
from untwine.networks.pretrained import reconstruction
from untwine.samples import Samples

# Gabbay and Hoshen 2020 (appendix A.1): one architecture for LORD and the baselines, here with one training too, as the paper
# does not give that of the baselines. Each is trained with L1 and with a perceptual loss, and the better is shown, without
# saying which it is; the text finds the perceptual loss helpful to methods without a GAN on images.
NETWORKS: Mapping[str, Any] = {
    "n_class": 256,
    "n_content": 128,
    "batch": 128,
    "lr": 1e-4,
    "epochs": 200,
    "networks": "adain",
    "width": 64,
}


def baseline_presets(loss: str) -> dict[str, Preset]:
    """Return the presets of a baseline of tables 1 and 2, with the loss that suits it better."""
    return presets({**NETWORKS, "loss": loss}, CLASS_CONTENT, ("cars3d", "smallnorb", "smallnorb_poses", "celeba_identity"))


@dataclass(eq=False, kw_only=True)
class ClassContent(Trained):
    """A method with the blocks class and content, but for its objective.

    Parameters
    ----------
    n_class
        The number of dimensions of the class block.
    n_content
        The number of dimensions of the content block.
    loss
        The reconstruction loss: `l1`, `l2`, or the distance between features of `vgg16` or `squeezenet`, whose weights must be
        in the data folder.
    networks
        The architecture of encoders and generator by name; `auto` is `mlp`; `adain` has the networks
        of Gabbay and Hoshen 2020.
    """

    n_class: Count = 16
    n_content: Count = 16
    loss: Loss = "l2"
    networks: ClassContentNetworks = "auto"  # type: ignore[assignment]  # one name more than elsewhere
    needs: ClassVar[Needs] = "labels"
    takes_covariates: ClassVar[bool] = True
    length: ClassVar[Length] = Length(image_networks=("mlp", 1), passes=2)

    @property
    def blocks(self) -> dict[str, int]:
        """Two blocks, class and content."""
        return {"class": self.n_class, "content": self.n_content}

    def infer(self, samples: Samples) -> dict[str, int]:
        """Return how many samples and classes there are."""
        return class_counts(samples)

    def check_build(self, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> None:
        """Refuse modules that no network is called after, and a loss that does not fit the data."""
        check_module_names(own, MODULE_NAMES)
        reconstruction.check_loss(self.loss, shape)

    def encoders(
        self, shape: tuple[int, ...], own: Mapping[str, nn.Module], widths: Mapping[str, int] | None = None
    ) -> dict[str, nn.Module]:
        """Return an encoder for each block, to as many numbers as it has dimensions unless other widths are given."""
        widths = self.blocks if widths is None else widths
        return {f"{block}_encoder": build_encoder(block, width, self, shape, own) for block, width in widths.items()}

    def codes(self, x: Tensor) -> dict[str, Tensor]:
        """Return the class code and the content code."""
        return {block: self.nets_[f"{block}_encoder"](x) for block in self.blocks}

    def generate(self, codes: Mapping[str, Tensor]) -> Tensor:
        """Return G(s, c)."""
        return self.nets_["generator"](codes["class"], codes["content"])  # type: ignore[no-any-return]
