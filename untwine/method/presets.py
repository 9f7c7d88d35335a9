"""Presets: the setting that a method has in a paper, or in its authors' public code, with the data that belong to it."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

from untwine.method.fixed_defaults import fixed_defaults
from untwine.registry.checks import did_you_mean, join_choices
from untwine.samples import Samples

Source = Literal["paper", "authors"]


@dataclass(frozen=True)
class DataSetting:
    """How a data set is used in a paper: what `load` is given, and what it then returns.

    Parameters
    ----------
    options
        Options of the data set: image size, numbers of samples, split, what a class is. What a paper leaves open is not in it.
    shape
        The shape of one sample.
    n_train
        The number of training samples, all groups together; None where the paper does not state it.
    """

    options: Mapping[str, Any]
    shape: tuple[int, ...]
    n_train: int | None = None

    def differences(self, samples: Samples) -> list[str]:
        """Return in what training samples visibly differ, as text: their shape and their number."""
        differences = []
        if samples.shape != self.shape:
            differences.append(f"samples of shape {samples.shape} (the preset's: {self.shape})")
        if self.n_train is not None and len(samples) != self.n_train:
            differences.append(f"{len(samples)} samples (the preset's: {self.n_train})")
        return differences


@dataclass(frozen=True)
class Preset:
    """One published setting of a method.

    Parameters
    ----------
    fields
        The fields of the method that it sets; the others keep their defaults.
    data
        How the data set is used.
    """

    fields: Mapping[str, Any]
    data: DataSetting

    def changed(self, data: Mapping[str, Any] | None = None, /, **fields: Any) -> Preset:
        """Return the preset with other fields, and with other options of the data."""
        setting = self.data
        if data:
            setting = DataSetting({**setting.options, **data}, setting.shape, setting.n_train)
        return Preset({**self.fields, **fields}, setting)


class _Chosen(NamedTuple):
    source: Source
    data: str
    preset: Preset


@dataclass(eq=False, kw_only=True)
class Presets:
    """The presets of a method by data set, and the methods and data options that are made from them."""

    papers: ClassVar[Mapping[str, Preset]] = {}  # the paper's setting for each of its data sets
    name: ClassVar[str]
    public_code: ClassVar[Mapping[str, Preset]] = {}  # that of the authors' public code, where it differs from the paper
    _chosen: ClassVar[_Chosen | None] = None  # of an instance: the preset that it was made from

    @classmethod
    def citation(cls) -> str:
        """Return the first paragraph of the module that defines the method, which cites its paper."""
        module = sys.modules.get(cls.__module__)
        return " ".join((inspect.getdoc(module) or "").strip().partition("\n\n")[0].split())

    @classmethod
    def fixed(cls, **changes: Any) -> Self:
        """Return the method with settings that do not depend on the data, which were the defaults before automatic ones.

        Parameters
        ----------
        **changes
            Fields with another value.
        """
        return cls(**{**cls.fixed_defaults(), **changes})

    @classmethod
    def fixed_defaults(cls) -> dict[str, Any]:
        """Return the fixed value of every field that is otherwise chosen from the data."""
        return fixed_defaults(cls, cls.name)

    @classmethod
    def paper(cls, data: str, **changes: Any) -> Self:
        """Return the method with its paper's setting for one of the paper's data sets.

        Parameters
        ----------
        data
            The name of the data set; `paper_data` returns the options with which `load` gives the paper's data.
        **changes
            Fields with another value than the paper's.
        """
        return cls._from_preset("paper", data, changes)

    @classmethod
    def authors(cls, data: str, **changes: Any) -> Self:
        """Return the method with the setting of its authors' public code, where that differs from the paper.

        Parameters
        ----------
        data
            The name of the data set; `authors_data` returns the options with which `load` gives the authors' data.
        **changes
            Fields with another value than the authors'.
        """
        return cls._from_preset("authors", data, changes)

    @classmethod
    def paper_data(cls, data: str) -> dict[str, Any]:
        """Return the options of a data set in the paper, for `load(data, **options)`."""
        return dict(cls.preset("paper", data).data.options)

    @classmethod
    def authors_data(cls, data: str) -> dict[str, Any]:
        """Return the options of a data set in the authors' public code, for `load(data, **options)`."""
        return dict(cls.preset("authors", data).data.options)

    @classmethod
    def preset(cls, source: Source, data: str) -> Preset:
        """Return the preset of the paper or of the authors' public code for a data set."""
        known = cls.papers if source == "paper" else cls.public_code
        if not known:
            owner = "its paper" if source == "paper" else "its authors' code that differs from the paper"
            raise ValueError(
                f"{cls.__name__} has no setting of {owner} for any data set; got {data!r}; "
                f"use {'its defaults' if source == 'paper' or not cls.papers else 'paper'}."
            )
        if data not in known:
            choices = join_choices(map(repr, known))
            raise ValueError(f"{cls.__name__}.{source}: data must be {choices}; got {data!r}{did_you_mean(data, known)}")
        return known[data]

    @classmethod
    def _from_preset(cls, source: Source, data: str, changes: Mapping[str, Any]) -> Self:
        preset = cls.preset(source, data)
        method = cls.fixed(**{**preset.fields, **changes})  # what a paper leaves open does not depend on the data
        method.__dict__["_chosen"] = _Chosen(source, data, preset)
        return method

    def warn_of_other_data(self, samples: Samples) -> None:
        """Warn where the method was made from a preset and the samples visibly differ from the preset's data."""
        if self._chosen is None:
            return
        source, data, preset = self._chosen
        if differences := preset.data.differences(samples):
            name = type(self).__name__
            warnings.warn(
                f"{name}.{source}({data!r}) is fitted to other data than the preset's: {', '.join(differences)}; its scores "
                f"cannot be compared with published ones; load({data!r}, **{name}.{source}_data({data!r})) gives its data, "
                "where the files are complete.",
                stacklevel=3,
            )
