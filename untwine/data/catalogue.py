"""Catalogue of data sets: ours, those of installed packages and those that a script registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from untwine.data.data_set import DataSet, check_data_set
from untwine.data.splits import Splits
from untwine.registry import Catalogue

Entry = DataSet | Callable[..., Splits]


def _built_in() -> Mapping[str, Entry]:
    """Return our own data sets: a line here imports the file of each, and its `ENTRIES` are the data sets in it."""
    import untwine.data.sets.affectnet
    import untwine.data.sets.brats
    import untwine.data.sets.cars3d
    import untwine.data.sets.celeba
    import untwine.data.sets.celeba_accessories
    import untwine.data.sets.celeba_identity
    import untwine.data.sets.chairs3d
    import untwine.data.sets.cifar_mnist
    import untwine.data.sets.coil20
    import untwine.data.sets.digit_style
    import untwine.data.sets.dsprites
    import untwine.data.sets.dsprites_mnist
    import untwine.data.sets.edges2shoes
    import untwine.data.sets.grassy_digits
    import untwine.data.sets.grassy_mnist
    import untwine.data.sets.kth
    import untwine.data.sets.mpi3d
    import untwine.data.sets.posed_digits
    import untwine.data.sets.rafd
    import untwine.data.sets.shapes3d
    import untwine.data.sets.simulated_cells
    import untwine.data.sets.smallnorb
    import untwine.data.sets.toy_contrast
    import untwine.data.sets.toy_treatments

    modules = [module for module in vars(untwine.data.sets).values() if isinstance(module, ModuleType)]
    entries = {name: entry for module in modules for name, entry in getattr(module, "ENTRIES", {}).items()}
    return dict(sorted(entries.items()))


DATA_SETS: Catalogue[Entry] = Catalogue("data set", "untwine.data", _built_in, check_data_set)
