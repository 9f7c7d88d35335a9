"""Columns of any table as samples: which have roles, which are features, and what is missing in them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from untwine._typing import Array
from untwine.data.readers import notes
from untwine.data.readers.roles import Roles
from untwine.data.readers.text_tables import is_number, refuse_text_columns, typed
from untwine.registry.checks import check_choice, listed, shortened, suggestion
from untwine.registry.names import as_names
from untwine.samples import Samples

Impute = Literal["mean", "median"]
# Columns of these names have these roles where no others are given.
USUAL = {name: role for role in ("group", "label", "source", "id") for name in (role, f"{role}s")}
LARGEST_INTEGER = 2**53  # below which double precision has every integer
LARGEST_IDENTIFIER = 1e20  # what is larger is a measurement


@dataclass(frozen=True)
class TableRules:
    """Which columns are features, and what stands in for their missing values; see `read_table`."""

    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    impute: Impute | None = None
    categories: tuple[str, ...] = ()

    @classmethod
    def of(cls, features: Any, drop: Any, impute: Any, categories: Any) -> TableRules:
        """Check rules on entry."""
        if impute is not None:
            check_choice("impute", impute, ("mean", "median"))
        names = {"features": features, "drop": drop, "categories": categories}
        return cls(impute=impute, **{name: as_names(name, given) for name, given in names.items()})


def samples_of_columns(where: object, columns: Mapping[str, Array], roles: Roles, rules: TableRules) -> Samples:
    """Return samples of the columns of a table.

    Parameters
    ----------
    where
        What the table is, for error messages.
    columns
        From the name of each column to its values: numbers, text in which "" is missing, or an array of type object whose
        values are neither, which only may be left out.
    roles
        The roles of the columns.
    rules
        Which of the others are features.
    """
    names = list(columns)
    usual = assign_roles(where, names, roles, rules.drop)
    described = [name for name in names if name in {*roles.names, *usual}]
    taken = choose_features(where, names, roles, described, rules)
    if other := [name for name in described if columns[name].dtype.kind == "O"]:
        kind = type(columns[other[0]][0]).__name__ if len(columns[other[0]]) else "nothing"
        raise ValueError(f"{where} must have numbers or text in a column with a role; {other[0]!r} has values of type {kind}.")
    texts = {name: columns[name] for name in taken if columns[name].dtype.kind not in "uifb"}
    refuse_text_columns(where, {repr(shortened(name)): shortened(_example(column), 30) for name, column in texts.items()})
    if not taken:
        raise ValueError(f"{where} must have at least one column of numbers without a role; got none; add one.")
    x = complete(where, np.stack([columns[name].astype(np.float64) for name in taken], axis=1), taken, rules.impute)
    given = describe(where, {name: columns[name] for name in described}, roles, usual, rules.categories)
    return as_samples(where, x, tuple(taken), given)


def _example(column: Array) -> object:
    return next((one for one in column.tolist() if one not in ("", None)), "")


def assign_roles(where: object, names: Sequence[str], roles: Roles, dropped: Sequence[str]) -> dict[str, str]:
    """Check that the columns with a role are there, and return those that have one by their name alone, with it."""
    present = set(names)
    missing = [name for name in roles.names if name not in present]
    if missing and roles.required:
        raise ValueError(
            f"{where} must have the column {missing[0]!r}; it has none of that name; "
            f"{suggestion(missing[0], filter(None, names))}"
        )
    usual: dict[str, str] = {}
    taken = {*roles.names, *dropped}
    for name in names:
        role = USUAL.get(name.lower())
        if role and getattr(roles, role) is None and name not in taken:
            if role in usual.values():
                raise ValueError(f"{where} must have one column of {role}s; got two; rename one of them.")
            usual[name] = role
    return usual


def choose_features(
    where: object, names: Sequence[str], roles: Roles, described: Sequence[str], rules: TableRules
) -> list[str]:
    """Return the columns that are features, in the order of the table.

    Parameters
    ----------
    where
        What the table is, for error messages.
    names
        All columns.
    roles
        Their roles; where these are not required, missing features are no error.
    described
        The columns that have a role.
    rules
        Which columns are asked for, all where there are none, and which are left out.
    """
    features, dropped, present = rules.features, rules.drop, set(names)
    for option, wanted in (("features", features), ("drop", dropped)):
        if absent := [name for name in wanted if name not in present and roles.required]:
            raise ValueError(
                f"{where} must have the columns of {option}; it has no {absent[0]!r}; {suggestion(absent[0], names)}"
            )
        if twice := [name for name in wanted if name in described]:
            raise ValueError(f"a column with a role must not be in {option} too; got {twice[0]!r}; leave it out of one.")
    if twice := [name for name in features if name in dropped]:
        raise ValueError(f"features and drop must be different columns; got {twice[0]!r} in both; leave it out of one.")
    left, chosen = {*described, *dropped}, set(features) or present
    taken = [name for name in names if name in chosen and name not in left]
    if others := sorted(present - {*taken, *described}):
        if features and not roles.required:  # of a fit
            warnings.warn(f"x has features that the fit does not have, which are left out: {listed(others)}.", stacklevel=3)
        else:
            notes.say(f"{where}: {len(others)} columns are left out: {listed(others, 100)}.")
    return taken


def describe(
    where: object,
    columns: Mapping[str, Any],
    roles: Roles,
    usual: Mapping[str, str],
    categories: tuple[str, ...] = (),
    decimal: str = ".",
) -> dict[str, Any]:
    """Return what the columns with a role say, as the arguments of `Samples`.

    Parameters
    ----------
    where
        What the table is, for error messages.
    columns
        The columns with a role, as lists of text or as arrays.
    roles
        The roles that are given.
    usual
        The columns that have a role by their name alone, with it.
    categories
        Covariates whose numbers are categories.
    decimal
        The decimal mark of text.
    """
    if unknown := [name for name in categories if name not in roles.covariates]:
        raise ValueError(f"categories must be covariates; {unknown[0]!r} is none; name it as a covariate too.")
    table: dict[str, Any] = {}
    for name, column in columns.items():
        if name in (*roles.covariates, *roles.factors) and isinstance(column, list):
            column = typed(column, decimal)  # noqa: PLW2901
        table[name] = np.asarray(column)
        if name in categories and table[name].dtype.kind in "uif":
            table[name] = np.array([f"{one:g}" if np.isfinite(one) else "" for one in table[name]])
    given = roles.columns(table, str(where))
    for name, role in usual.items():
        cells = [str(one) for one in columns[name]]
        if role == "id":
            given["ids"] = np.array(cells)
        elif role == "source":
            given["sources"] = _sources(where, cells)
        else:
            read = _groups(where, cells) if role == "group" else _labels(cells)
            given[f"{role}s"], given[f"{role}_names"] = read
    _say_of_ids(where, given.get("ids"))
    return given


def _say_of_ids(where: object, ids: Array | None) -> None:
    if ids is not None and (repeated := len(ids) - len(np.unique(ids))):
        notes.say(f"{where}: {repeated} ids come more than once; if they are of one source, give the column the role source.")


def complete(where: object, x: Array, names: Sequence[str], impute: str | None) -> Array:
    """Return features without missing values, imputed where asked for; refuse missing and infinite ones by column and count.

    The mean or median is that of the column over the samples read.
    """
    if infinite := np.flatnonzero(np.isinf(x).any(axis=0)).tolist():
        raise ValueError(
            f"{where} must have finite numbers; got infinite ones in {_counts(np.isinf(x), infinite, names)}; correct them, "
            "or leave "
            "the columns or samples out."
        )
    missing = np.isnan(x)
    columns = np.flatnonzero(missing.any(axis=0)).tolist()
    if columns and impute is None:
        raise ValueError(
            f"{where} must have a value in every cell; values are missing in {_counts(missing, columns, names)}; fill them "
            "in, leave "
            "the columns (drop=[...]) or samples out, or pass impute='median'."
        )
    if empty := [names[k] for k in columns if missing[:, k].all()]:
        raise ValueError(
            f"{where} must have values in every column; {listed(empty, 100)} have none; leave them out by drop=[...]."
        )
    for k in columns:
        x[missing[:, k], k] = (np.mean if impute == "mean" else np.median)(x[~missing[:, k], k])
    if columns:
        notes.say(f"{where}: missing values were imputed by the {impute} of their column: {_counts(missing, columns, names)}.")
    if constant := [names[k] for k in np.flatnonzero(np.ptp(x, axis=0) == 0).tolist()] if len(x) > 1 else []:
        notes.say(f"{where}: {len(constant)} columns have one value in all samples: {listed(constant, 100)}.")
    top = np.abs(x).max(axis=0)
    rounded = (top >= LARGEST_INTEGER) & (top < LARGEST_IDENTIFIER) & (x == np.rint(x)).all(axis=0)
    if large := [names[k] for k in np.flatnonzero(rounded).tolist()]:
        warnings.warn(
            f"{where}: integers beyond 2^53 are rounded in {listed(large, 100)}; if they are names of samples, give the column "
            "the role id, or leave it out by drop=[...].",
            stacklevel=2,
        )
    return x


def _counts(mask: Array, columns: Sequence[int], names: Sequence[str]) -> str:
    """Return columns with how many samples of each are meant."""
    texts = [f"{names[k]} ({int(mask[:, k].sum())} of {len(mask)})" for k in columns]
    return ("" if len(texts) == 1 else f"{len(texts)} columns: ") + listed(texts, 120)


def as_samples(where: object, x: Array, names: tuple[str, ...], described: Mapping[str, Any]) -> Samples:
    """Return samples; errors say where they come from."""
    try:
        return Samples(x, **described, feature_names=names)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{where}: {error}") from None


def _groups(where: object, cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(map(is_number, cells)):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(dict.fromkeys(("background", *cells)))
    if "background" not in cells or "" in cells:
        raise ValueError(
            f"{where} must have integers in its group column (0 is the background), or names of which one is 'background'; "
            f"got {listed(map(repr, names[1:4]), 100)}; rename the background, or say which it is, such as "
            f"background={shortened(names[1])!r} with group."
        )
    return np.array([names.index(cell) for cell in cells]), names


def _labels(cells: list[str]) -> tuple[Array, tuple[str, ...]]:
    if all(map(is_number, cells)):
        return np.array(cells, dtype=np.float64), ()
    names = tuple(sorted(set(cells) - {""}))
    numbered = {name: number for number, name in enumerate(names)} | {"": -1}
    return np.array([numbered[cell] for cell in cells]), names


def _sources(where: object, cells: list[str]) -> Array:
    if "" in cells:
        raise ValueError(
            f"{where} must have a source in every row where it has a source column; got an empty cell; fill it in."
        )
    return np.array(cells, dtype=np.float64 if all(map(is_number, cells)) else str)
