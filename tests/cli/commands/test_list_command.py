"""`untwine list`: catalogues, and one entry in detail."""

import json
import re

import pytest
from command_line import run

import untwine as un


@pytest.mark.parametrize("what", ["methods", "data", "metrics"])
def test_list_as_json_is_a_list_of_objects_with_names(what, capsys):
    run("list", what, "--json")
    rows = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) >= 4
    assert all(row["summary"].endswith((".", ";")) or row["summary"] for row in rows)
    run("list", what)
    text = capsys.readouterr().out
    assert all(re.search(rf"^{name}\s", text, re.MULTILINE) for name in names)


def test_list_shows_what_one_can_set(capsys):
    run("list", "methods", "--json")
    methods = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert methods["principled_vae"]["needs"] == "groups"
    assert methods["vae"]["options"] == un.VAE().get_params()
    run("list", "data", "--json")
    data = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert data["toy_contrast"]["options"]["n_salient"] == 2
