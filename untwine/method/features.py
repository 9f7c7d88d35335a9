"""A method fitted on the features of images by a frozen network: images that it is given later go through the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from untwine._typing import Array
from untwine.samples import Samples

if TYPE_CHECKING:
    from pathlib import Path

    from torch import nn

    from untwine.networks.pretrained.frozen_features import FrozenFeatures

Features: TypeAlias = "str | Path | nn.Module | FrozenFeatures"


class OnFeatures:
    """What a method that was fitted with `features` remembers of them: name, fingerprint of the weights, shape of an image."""

    data_: dict[str, Any]

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """The shape (C, H, W) of the images whose features the method was fitted on; None where it was fitted on none."""
        about = self._features
        return None if about is None else tuple(about["shape"])

    @property
    def _features(self) -> dict[str, Any] | None:
        about: dict[str, Any] | None = self.__dict__.get("data_", {}).get("features")
        return about

    def extract(self, samples: Samples, features: Features | None) -> Samples:
        """Return the features of samples that a fit is given, and remember the extractor; samples as they are without one."""
        self.__dict__.pop("extractor_", None)
        if features is None:
            return samples
        from untwine.networks.pretrained.frozen_features import frozen_features

        extractor = frozen_features(features)
        extracted = extractor.apply(samples)
        self.extractor_ = extractor
        return extracted

    def about_data(self, samples: Samples) -> dict[str, Any]:
        """Return what the card of a run says of the samples of its fit and, where they are features of images, of these."""
        about = {"fingerprint": samples.fingerprint(), "rows": len(samples)}
        extractor: FrozenFeatures | None = self.__dict__.get("extractor_")
        if extractor is None or samples.images is None:
            return about
        shape = list(samples.images.shape[1:])
        return {"features": {"name": extractor.name, "sha256": extractor.sha256, "shape": shape}, **about}

    def use_features(self, features: Features) -> None:
        """Give a loaded method the extractor that it was fitted with, such as your own module."""
        from untwine.networks.pretrained.frozen_features import frozen_features

        about = self._features
        if about is None:
            raise ValueError("features must be left out for a run that was fitted without; got some; leave them out.")
        extractor = frozen_features(features)
        if extractor.sha256 != about["sha256"]:
            raise ValueError(
                f"features must be those that the run was fitted with, {about['name']!r} with weights of SHA-256 "
                f"{about['sha256']}; got {extractor.sha256}; pass the same network with the same weights."
            )
        self.extractor_ = extractor

    def features_of(self, x: Array) -> Array:
        """Return the features of images, of a method that was fitted on some; all others as they are."""
        return self._extractor(x).of(x) if self._features is not None and x.ndim == 4 else x

    def with_features(self, samples: Samples) -> Samples:
        """Return samples of images with their features, of a method that was fitted on some; all others as they are."""
        images = self._features is not None and samples.is_image
        return self._extractor(samples.x).apply(samples) if images else samples

    def _extractor(self, x: Array) -> FrozenFeatures:
        from untwine.networks.pretrained.frozen_features import OWN

        about = self._features or {}
        if tuple(x.shape[1:]) != self.image_shape:
            raise ValueError(f"images must have the shape {self.image_shape}, as in fit; got {x.shape[1:]}; resize them.")
        if "extractor_" not in self.__dict__:
            if about["name"] == OWN:
                raise ValueError(
                    "images need the module that made the features of the fit; it is not written with the run; pass "
                    "load_method(path, features=module), or samples that are its features."
                )
            self.use_features(about["name"])
        extractor: FrozenFeatures = self.extractor_
        return extractor
