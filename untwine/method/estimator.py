"""scikit-learn's estimator interface, so that methods work in its pipelines and searches."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from untwine._typing import Array
from untwine.latents import Latents
from untwine.method.features import OnFeatures
from untwine.method.inputs import Needs, as_samples
from untwine.method.separation import group_separation
from untwine.registry.checks import suggestion
from untwine.registry.containers import feature_names_of
from untwine.registry.features import in_order
from untwine.registry.observations import observations
from untwine.registry.sparse_vectors import dense_chunks, is_sparse, mean_and_std
from untwine.samples import Samples, unit_range


@dataclass(eq=False, kw_only=True)
class Estimator(OnFeatures, ABC):
    """Parameters, feature names and scores as scikit-learn expects them, from a method's own fit, encode and reconstruct."""

    needs: ClassVar[Needs] = "nothing"

    @property
    @abstractmethod
    def blocks(self) -> dict[str, int]:
        """The width of each block of codes, by name."""

    @abstractmethod
    def fit(self, x: Samples | ArrayLike, y: ArrayLike | None = None) -> Self:
        """Train on samples and return the method itself."""

    @abstractmethod
    def encode(self, x: Samples | ArrayLike) -> Latents:
        """Infer the codes of samples."""

    @abstractmethod
    def reconstruct(self, x: Samples | ArrayLike) -> Array:
        """Encode and decode."""

    def transform(self, x: Samples | ArrayLike) -> Array:
        """Return all blocks side by side as one array, as scikit-learn expects it."""
        return self.encode(x).array()

    def fit_transform(self, x: Samples | ArrayLike, y: ArrayLike | None = None) -> Array:
        """Fit, and return the codes of the same samples."""
        return self.fit(x, y).transform(x)

    def score(self, x: Samples | ArrayLike, y: ArrayLike | None = None) -> float:
        """Return how good a fit is, higher is better: what `GridSearchCV` chooses by.

        - Minus the mean squared error of reconstruction; 0 is best.
        - Of contrastive methods, where groups are given, reconstruction and separation: minus the fraction of the variance that
          is not reconstructed, minus 1 - s. The separation s, in [-1, 1], is how much better target and background are
          predicted from the salient than from the common block (`untwine.method.separation`). At most 0, for codes that keep
          everything and differ between the groups in the salient block alone; -1 if both blocks predict the group equally.

        Parameters
        ----------
        x, y
            `Samples`; or an array, with `y` the groups (0 is the background). Other methods do not use `y`.
        """
        samples, arranged = as_samples(x, y, self.needs), self.arrange(x)
        truth, given = unit_range(arranged), samples if samples.covariates is not None else arranged
        error = self._squared_error(arranged, given)
        if self.needs != "groups" or samples.groups is None:
            return -error
        sparse = is_sparse(truth)
        variance = float((np.square(mean_and_std(truth)[1]) if sparse else truth.var(axis=0, dtype=np.float64)).mean())
        return -error / (variance or 1.0) - (1 - group_separation(self.encode(given), samples))

    def _squared_error(self, x: Array, given: Samples | Array) -> float:
        """Return the mean squared error of reconstruction of x, given with its covariates; of sparse x some at a time."""
        if not is_sparse(x):
            return float(np.square(self.reconstruct(given) - unit_range(x)).mean())
        total = 0.0
        for chosen, some in dense_chunks(x):
            decoded = self.reconstruct(given[chosen] if isinstance(given, Samples) else some)
            total += float(np.square(decoded - some).sum(dtype=np.float64))
        return total / float(np.prod(x.shape))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features of the fit; empty where they had none."""
        return tuple(getattr(self, "feature_names_in_", ()))

    def keep_feature_names(self, names: Sequence[str]) -> None:
        """Keep the names of the features of a fit as `feature_names_in_`, which is not set where there are none."""
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)

    def arrange(self, x: Samples | ArrayLike) -> Array:
        """Return samples as an array; where they and the fit name their features, with those of the fit in its order.

        Missing features are refused, and those that the fit did not have are left out with a warning. An array has no names.
        Images become features where the fit was on features of images.
        """
        names = x.feature_names if isinstance(x, Samples) else feature_names_of(x)
        array = self.features_of(x.x if isinstance(x, Samples) else observations(x))
        return in_order(array, names, self.feature_names)

    def get_feature_names_out(self, input_features: object = None) -> Array:
        """Name the columns of `transform`: the block and the dimension."""
        return np.array([f"{name}{i}" for name, width in self.blocks.items() for i in range(width)], dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the configuration by field."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change the configuration; takes effect at the next fit."""
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; {suggestion(name, self.get_params())}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        needs = self.needs != "nothing"
        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=needs),
            transformer_tags=TransformerTags(preserves_dtype=["float32"]),
            input_tags=InputTags(two_d_array=True, sparse=True),
            requires_fit=True,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "nets_")
