"""Things by name: methods, metrics and data sets, ours and those of installed plug-ins, and the checks of named options."""

from untwine.registry.catalogue import Catalogue

__all__ = ["Catalogue"]
