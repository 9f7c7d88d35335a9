"""The data sets by name. `untwine.data` imports this file only when a name is looked up, as most runs need one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from untwine.data.factor_grid import FactorGrid
from untwine.data.sets.affectnet import affectnet
from untwine.data.sets.brats import brats
from untwine.data.sets.cars3d import cars3d, cars3d_grid
from untwine.data.sets.celeba import celeba
from untwine.data.sets.celeba_accessories import celeba_accessories
from untwine.data.sets.celeba_identity import celeba_identity
from untwine.data.sets.chairs3d import chairs3d, chairs3d_grid
from untwine.data.sets.cifar_mnist import cifar_mnist
from untwine.data.sets.coil20 import coil20, coil20_grid
from untwine.data.sets.digit_style import digit_style
from untwine.data.sets.dsprites import dsprites, dsprites_grid, dsprites_name, dsprites_redrawn, dsprites_redrawn_grid
from untwine.data.sets.dsprites_mnist import dsprites_mnist
from untwine.data.sets.edges2shoes import edges2shoes
from untwine.data.sets.grassy_digits import grassy_digits
from untwine.data.sets.grassy_mnist import grassy_mnist, grassy_mnist_nonlinear
from untwine.data.sets.kth import kth
from untwine.data.sets.mpi3d import mpi3d, mpi3d_grid
from untwine.data.sets.posed_digits import posed_digits, posed_digits_grid
from untwine.data.sets.rafd import rafd
from untwine.data.sets.shapes3d import shapes3d, shapes3d_grid
from untwine.data.sets.smallnorb import smallnorb, smallnorb_grid
from untwine.data.sets.toy_contrast import toy_contrast
from untwine.data.splits import Splits

DATA: dict[str, Callable[..., Splits]] = {
    "affectnet": affectnet,
    "brats": brats,
    "cars3d": cars3d,
    "celeba": celeba,
    "celeba_accessories": celeba_accessories,
    "celeba_identity": celeba_identity,
    "chairs3d": chairs3d,
    "cifar_mnist": cifar_mnist,
    "coil20": coil20,
    "digit_style": digit_style,
    "dsprites": dsprites,
    "dsprites_mnist": dsprites_mnist,
    "dsprites_redrawn": dsprites_redrawn,
    "edges2shoes": edges2shoes,
    "grassy_digits": grassy_digits,
    "grassy_mnist": grassy_mnist,
    "grassy_mnist_nonlinear": grassy_mnist_nonlinear,
    "kth": kth,
    "mpi3d": mpi3d,
    "posed_digits": posed_digits,
    "rafd": rafd,
    "shapes3d": shapes3d,
    "smallnorb": smallnorb,
    "toy_contrast": toy_contrast,
}
GRIDS: dict[str, Callable[..., FactorGrid]] = {
    "cars3d": cars3d_grid,
    "chairs3d": chairs3d_grid,
    "coil20": coil20_grid,
    "dsprites": dsprites_grid,
    "dsprites_redrawn": dsprites_redrawn_grid,
    "mpi3d": mpi3d_grid,
    "posed_digits": posed_digits_grid,
    "shapes3d": shapes3d_grid,
    "smallnorb": smallnorb_grid,
}
# What stands in for a data set whose files are not there has a name of its own.
NAMES: dict[str, Callable[[Mapping[str, Any]], tuple[str, dict[str, Any]]]] = {"dsprites": dsprites_name}
