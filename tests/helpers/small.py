"""Every method in a size that fits within a second, on data that fits in a glance."""

import dataclasses

import numpy as np

from untwine import Samples
from untwine.method.kinds import Trained
from untwine.methods import METHODS

NAMES = tuple(METHODS)
TRAINED = tuple(name for name, method in METHODS.items() if issubclass(method, Trained))
SMALL = {"epochs": 2, "batch": 16, "width": 8, "n_latent": 4, "n_common": 4, "n_salient": 3}
SMALL |= {"layers_discriminator": 2, "width_discriminator": 32}
SMALL |= {"n_class": 4, "n_content": 3, "epochs_encoders": 1, "together": 2}


def small(name, **changes):
    method = METHODS[name]
    fields = {field.name for field in dataclasses.fields(method)}
    return method(**{key: value for key, value in (SMALL | changes).items() if key in fields})


def vectors(target=48, background=40, columns=6, seed=0):
    """Background varies in two directions, the target in one more."""
    rng = np.random.default_rng(seed)
    shared, extra = rng.normal(size=(2, columns)), rng.normal(size=(1, columns))
    noise = lambda n: 0.1 * rng.normal(size=(n, columns))  # noqa: E731
    x = rng.normal(size=(target, 2)) @ shared + rng.normal(size=(target, 1)) @ extra + noise(target)
    y = rng.normal(size=(background, 2)) @ shared + noise(background)
    return labelled(Samples.contrast(target=x.astype("float32"), background=y.astype("float32")))


def images(target=40, background=36, shape=(3, 9, 12), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 120, size=(target + background, *shape), dtype=np.uint8)
    y[:target, :, 2:6, 2:6] += 100
    return labelled(Samples.contrast(target=y[:target], background=y[target:]))


def labelled(samples):
    """Give every row one of five classes, whose numbers have a gap."""
    return dataclasses.replace(samples, labels=np.array([0, 1, 2, 3, 7])[np.arange(len(samples)) % 5])


def with_covariates(samples):
    """Give every sample a category of three levels and a number."""
    rng = np.random.default_rng(5)
    batch, age = np.array(["a", "b", "c"])[rng.integers(0, 3, len(samples))], rng.normal(50, 9, len(samples))
    return dataclasses.replace(samples, covariates={"batch": batch, "age": age})


def counts(target=48, background=40, columns=6, seed=0):
    """Draw negative binomial counts, whose library sizes vary."""
    rng = np.random.default_rng(seed)
    n = target + background
    mean = rng.gamma(3, 60, size=(n, 1)) * rng.dirichlet(np.full(columns, 3.0), size=2)[np.arange(n) % 2]
    x = rng.poisson(rng.gamma(4, mean / 4)).astype("float32")
    return labelled(Samples.contrast(target=x[:target], background=x[target:]))


TREATMENTS = {"control": 40, "drug a": 50, "drug-b": 7, "drug c": 20}


def treatments(seed=0, columns=6):
    """Background in two directions; each target in one more, of which one has few samples."""
    rng = np.random.default_rng(seed)
    shared, own = rng.normal(size=(2, columns)), rng.normal(size=(len(TREATMENTS), columns))
    own[0] = 0
    groups = np.repeat(np.arange(len(TREATMENTS)), list(TREATMENTS.values()))
    x = rng.normal(size=(len(groups), 2)) @ shared + rng.normal(size=(len(groups), 1)) * own[groups]
    return Samples(x + 0.1 * rng.normal(size=x.shape), groups=groups, group_names=tuple(TREATMENTS))


DATA = {"vectors": vectors, "images": images}
