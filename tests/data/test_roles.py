"""Columns of a table get their roles by name."""

import numpy as np
import pytest

from untwine.data.readers.roles import Roles
from untwine.samples import Samples

TABLE = {
    "condition": np.array(["drug b", "control", "drug a", "control"]),
    "cluster": np.array(["T", "", "B", "T"]),
    "batch": np.array(["1", "2", "1", "2"]),
    "age": np.array([31.0, 40.0, 28.5, 60.0]),
    "patient": np.array([3, 1, 3, 2]),
    "dose": np.array(["0.5", "", "2", "0"]),
    "name": np.array(["w", "x", "y", "z"]),
}
ROLES = Roles(
    group="condition", background=("control",), label="cluster", covariates=("batch", "age"), source="patient",
    factors=("dose",), id="name",
)  # fmt: skip


def test_every_role_arrives_in_samples():
    samples = Samples(np.zeros((4, 2)), **ROLES.columns(TABLE, "cells.csv"))
    assert samples.group_names == ("control", "drug a", "drug b")
    assert samples.groups.tolist() == [2, 0, 1, 0]
    assert samples.label_names == ("B", "T")
    assert samples.labels.tolist() == [1, -1, 0, 1]
    assert samples.covariates.names == ("batch", "age")
    assert samples.covariates.levels == (("1", "2"), ())
    assert samples.sources.tolist() == [3, 1, 3, 2]
    assert samples.ids.tolist() == ["w", "x", "y", "z"]
    np.testing.assert_array_equal(samples.factors[:, 0], [0.5, np.nan, 2, 0])


def test_several_values_may_be_the_background_and_numbers_are_groups_too():
    found = Roles(group="g", background=("0", "7")).columns({"g": np.array([7.0, 1.0, 0.0])}, "t")
    assert found["groups"].tolist() == [0, 1, 0]
    assert found["group_names"] == ("background", "1")


def test_without_a_background_the_column_must_have_one_of_that_name():
    assert Roles(group="g").columns({"g": ["a", "background"]}, "t")["groups"].tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"t must have the background 'background' in the column 'g'; got 'a', 'b'; say which"):
        Roles(group="g").columns({"g": ["a", "b"]}, "t")


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (Roles(group="conditon"), r"cells.csv must have the column 'conditon'.*did you mean 'condition'"),
        (Roles(group="condition", background=("contol",)), r"the background 'contol' in the column 'condition'; got 'control'"),
        (Roles(background=("control",)), r"background='control' is a value of the group column; name the column"),
        (Roles(source="cluster"), r"a value in every row of the column 'cluster'; 1 of 4 are missing"),
        (Roles(covariates=("dose",)), r"a value in every row of the column 'dose'; 1 of 4 are missing"),
        (Roles(factors=("name",)), r"numbers in the factor 'name'; got 'w'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(roles, sentence):
    with pytest.raises(ValueError, match=sentence):
        roles.columns(TABLE, "cells.csv")


def test_a_column_without_targets_is_refused():
    with pytest.raises(ValueError, match=r"must have targets in the column 'g'; all samples are of the background 'c'"):
        Roles(group="g", background=("c",)).columns({"g": ["c", "c"]}, "t")
