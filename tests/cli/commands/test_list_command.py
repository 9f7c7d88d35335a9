"""`untwine list`: catalogues, and one entry in detail."""

import json
import re

import pytest
from command_line import exit_code, run

import untwine as un
from untwine.evaluation.registry import METRICS
from untwine.methods import METHODS
from untwine.metrics.options import Options


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


@pytest.mark.parametrize("name", METHODS)
def test_a_method_in_detail_has_every_option_with_type_default_and_meaning(name, capsys):
    run("list", "methods", name, "--json")
    (method,) = json.loads(capsys.readouterr().out)
    assert method["name"] == name
    assert {option["name"]: option["default"] for option in method["parameters"]} == method["options"]
    assert [option["name"] for option in method["parameters"] if not option["kind"] or not option["meaning"]] == []
    assert method["supervision"]
    assert method["citation"]
    run("list", "methods", name)
    out = capsys.readouterr().out
    lines = {line.split()[0]: line for line in out[out.index("Options (--set name=value)") :].splitlines() if line}
    for option in method["parameters"]:
        assert option["meaning"] in lines[option["name"]]  # whole, however long
        assert str(option["default"]) in lines[option["name"]]


@pytest.mark.parametrize("name", un.data.data_sets())
def test_a_data_set_in_detail_has_its_source_and_options(name, capsys):
    run("list", "data", name, "--json")
    (data,) = json.loads(capsys.readouterr().out)
    assert data["name"] == name
    assert "source" in " ".join(data["description"]).lower()
    assert {option["name"]: option["default"] for option in data["parameters"]} == data["options"]
    assert [option["name"] for option in data["parameters"] if not option["kind"] or not option["meaning"]] == []
    run("list", "data", name)
    out = capsys.readouterr().out
    assert "--data-set name=value" in out
    for paragraph in data["description"]:
        assert paragraph in " ".join(out.split())


def test_a_metric_in_detail_says_version_and_whether_it_is_on_request(capsys):
    for name, words in (("swap", "on request"), ("probe", "by default")):
        run("list", "metrics", name)
        out = capsys.readouterr().out
        assert out.startswith(f"{name}: ")
        assert f"evaluated: {words}" in out
        run("list", "metrics")
        assert re.search(rf"^{name} +{words} ", capsys.readouterr().out, re.MULTILINE)
        run("list", "metrics", name, "--json")
        (metric,) = json.loads(capsys.readouterr().out)
        assert (metric["name"], metric["on_request"]) == (name, words == "on request")
        assert f"version: {metric['version']}" in out


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.options != Options()])
def test_a_metric_in_detail_has_its_options(name, capsys):
    run("list", "metrics", name, "--json")
    (metric,) = json.loads(capsys.readouterr().out)
    assert {option["name"]: option["default"] for option in metric["parameters"]} == metric["options"]
    assert [option["name"] for option in metric["parameters"] if not option["kind"] or not option["meaning"]] == []
    run("list", "metrics", name)
    out = capsys.readouterr().out
    assert f"Options (--metric-set {name}.name=value)" in out
    assert all(option["meaning"] in out for option in metric["parameters"])


def test_the_options_of_z_diff_are_those_of_its_paper_and_most_metrics_have_none(capsys):
    run("list", "metrics", "--json")
    options = {row["name"]: row["options"] for row in json.loads(capsys.readouterr().out)}
    assert options["z_diff"] == {"pairs": 64, "leave_out": [], "classifier": "svm"}
    assert options["mig"] == {}
    run("list", "metrics", "mig")
    assert "Options" not in capsys.readouterr().out


NEAREST = [("methods", "vea", "vae"), ("data", "celebra", "celeba"), ("metrics", "prob", "probe")]


@pytest.mark.parametrize(("what", "name", "near"), NEAREST)
def test_an_unknown_name_gets_the_nearest(what, name, near, capsys):
    assert exit_code("list", what, name) == 2
    err = capsys.readouterr().err
    assert f"must be a name from the catalogue; got {name!r}; did you mean {near!r}" in err


def test_a_method_in_detail_has_both_presets_with_their_data(capsys):
    run("list", "methods", "double_infogan", "--json")
    (method,) = json.loads(capsys.readouterr().out)
    assert method["presets"]["paper"]["cifar_mnist"]["data"] == un.DoubleInfoGAN.paper_data("cifar_mnist")
    assert method["presets"]["authors"]["brats"]["fields"]["epochs"] == 2000
    run("list", "methods", "double_infogan")
    paper, authors = capsys.readouterr().out.split("Presets (--preset authors)")
    paper = " ".join(paper.split("Presets (--preset paper)")[1].split())
    authors = " ".join(authors.split("Options (--set name=value)")[0].split())
    assert (
        "- celeba_accessories: size=64 n_per_class=5000 n_background=10000 n_test=5000 with n_common=64 n_salient=64" in paper
    )
    assert (
        "- cifar_mnist: size=64 n_target=25000 n_background=25000 n_test=10000 with the options of celeba_accessories" in paper
    )
    assert "n_test=10000 mix=authors with" in authors
    run("list", "methods", "pca")
    assert "Presets" not in capsys.readouterr().out
