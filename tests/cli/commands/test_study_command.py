"""`untwine study run` and `untwine study table`, in good and in bad use."""

import json

import pytest
from command_line import exit_code
from cyclopts import App, CycloptsError

import untwine as un
from untwine.cli.commands.study import command as study

pytestmark = pytest.mark.usefixtures("forked_workers")
STUDY = """
title = "Tiny"
seeds = [0, 1]
metrics = ["factors"]

[[data]]
name = "toy_contrast"
label = "toy"
small = { options = { n_target = 60, n_background = 40 } }

[[row]]
label = "PCA"
method = "pca"
fields = { n_latent = 3 }

[[row]]
label = "theirs"

[[column]]
scores = ["factors_salient.salient", "factors_salient.z"]
title = "s %"
scale = 100
digits = 1

[published.toy]
theirs = [50.0]
"""
app = App(name="untwine")
app.command(study)


def run(*arguments):
    """Run a command; return its exit code."""
    with pytest.raises(SystemExit) as done:
        app([str(argument) for argument in arguments], exit_on_error=False, print_error=False)
    return done.value.code


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study that was run."""
    folder = tmp_path_factory.mktemp("studies")
    (folder / "tiny.toml").write_text(STUDY)
    assert run("study", "run", folder / "tiny.toml", "--out", folder / "runs", "--workers", 1, "--only", "seed=0") == 0
    return folder


def test_a_run_is_summarised_and_kept(folder, capsys):
    assert (folder / "results" / "tiny.csv").exists()
    assert run("study", "run", folder / "tiny.toml", "--out", folder / "runs", "--only", "seed=0", "--quiet") == 0
    assert capsys.readouterr().out.startswith("0 cells run, 1 finished before, 0 failed, in 0.")


def test_the_table_as_text(folder, capsys):
    assert run("study", "table", folder / "tiny.toml") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Tiny"
    assert lines[2].split() == ["toy", "s", "%", "seeds"]
    name, value, block, *seeds = lines[3].split()
    assert (name, block, seeds) == ("PCA", "(all)", ["1", "of", "2"])
    assert 0 <= float(value) <= 100
    assert lines[4].split() == ["theirs", "-", "[50.0]", "-"]


def test_the_table_as_markdown_and_as_json(folder, capsys):
    assert run("study", "table", folder / "tiny.toml", "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert [entry["row"] for entry in content["entries"]] == ["PCA", "theirs"]
    assert content["entries"][0]["of"] == 2
    assert run("study", "table", folder / "tiny.toml", "--markdown") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == ["| toy | s % | seeds |", "| --- | --- | --- |"]
    assert lines[4] == f"| PCA | {content['entries'][0]['mean']:.1f} (all) | 1 of 2 |"


WATCHED = STUDY.replace('method = "pca"', 'method = "vae"').replace("n_latent = 3", "n_latent = 3, epochs = 2, width = 8")
WATCHED = WATCHED.replace('metrics = ["factors"]', 'metrics = ["reconstruction"]\nepochs_scored = [1]')
WATCHED = WATCHED.replace('["factors_salient.salient", "factors_salient.z"]', '["reconstruction.x"]')


def test_the_range_over_seeds_and_an_epoch_on_the_way(tmp_path, capsys):
    path = tmp_path / "tiny.toml"
    path.write_text(WATCHED)
    assert run("study", "run", path, "--out", tmp_path / "runs", "--workers", 1, "--quiet") == 0
    capsys.readouterr()
    lines = (tmp_path / "results" / "tiny.csv").read_text().splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    for epoch, options in ((1, ("--epoch", 1)), (2, ())):
        here = [row for row in rows if (row["epoch"], row["score"]) == (str(epoch), "reconstruction.x")]
        values = [100 * float(row["value"]) for row in here]
        assert len(set(values)) == 2
        assert run("study", "table", path, *options, "--spread", "range") == 0
        out = capsys.readouterr().out
        assert f"{sum(values) / 2:.1f} ({min(values):.1f} to {max(values):.1f})" in out
        assert "Mean over seeds (lowest to highest); in brackets" in out
        assert ("[50.0]" in out) == (epoch == 2)  # the paper's figures are those of the end
        assert run("study", "table", path, *options, "--json") == 0
        entry = json.loads(capsys.readouterr().out)["entries"][0]
        assert (entry["lowest"], entry["highest"]) == pytest.approx((min(values), max(values)))
    assert run("study", "table", path) == 0
    assert " ± " in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"epoch must be one of epochs_scored of tiny \(1\); got 5"):
        un.Study.read(path).table(epoch=5)


def test_what_is_not_finished_is_missing(file, capsys):
    assert run("study", "table", file) == 0
    assert "toy: missing: no cell is finished." in capsys.readouterr().out
    assert run("study", "table", file, "--size", "paper") == 0


def test_a_failed_cell_ends_with_1_and_the_others_are_there(tmp_path, capsys):
    text = STUDY.replace("[0, 1]", "[0]") + '[[row]]\nlabel = "wide"\nmethod = "pca"\nfields = { n_latent = 99 }\n'
    (tmp_path / "tiny.toml").write_text(text)
    assert run("study", "run", tmp_path / "tiny.toml", "--out", tmp_path / "runs", "--workers", 1, "--quiet") == 1
    out, err = capsys.readouterr()
    assert out.startswith("1 cells run, 0 finished before, 1 failed")
    sentence = "toy, wide, seed 0: PCA: n_latent must be <= 20 for data of shape (100, 20); got 99."
    assert err == f"untwine: failed: {sentence}\n"
    assert sentence in (tmp_path / "runs" / "tiny" / "small" / "log.txt").read_text()
    assert {line.split(",")[3] for line in (tmp_path / "results" / "tiny.csv").read_text().splitlines()[1:]} == {"PCA"}


def test_data_that_are_all_missing_are_refused(file, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    file.write_text(STUDY.replace('label = "toy"', 'label = "toy"\nneeds = ["faces"]'))
    with pytest.raises(
        ValueError, match=r"^tiny must have data for at least one cell; the data of all are missing; set UNTWINE_DATA"
    ):
        app(["study", "run", str(file), "--out", str(tmp_path / "runs")], exit_on_error=False, print_error=False)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"untwine: toy is skipped: faces is missing in {tmp_path}; set the environment variable")
    assert exit_code("study", "run", file, "--out", tmp_path / "runs") == 2


def test_data_that_are_missing_in_part_are_named_and_the_others_run(file, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    other = '[[data]]\nname = "toy_contrast"\nlabel = "faces"\nneeds = ["faces"]\n\n[[row]]\nlabel = "PCA"'
    file.write_text(STUDY.replace("[0, 1]", "[0]").replace('[[row]]\nlabel = "PCA"', other))
    assert run("study", "run", file, "--out", tmp_path / "runs", "--workers", 1, "--quiet") == 0
    out, err = capsys.readouterr()
    assert out.startswith("1 cells run, 0 finished before, 0 failed")
    assert err.startswith("untwine: faces is skipped: faces is missing")
    # What is finished already counts as being there.
    assert run("study", "run", file, "--out", tmp_path / "runs", "--workers", 1, "--quiet") == 0
    assert capsys.readouterr().out.startswith("0 cells run, 1 finished before, 0 failed")


ROW = '[[row]]\nlabel = "PCA"\nmethod = "pca"\nfields = { n_latent = 3 }\n'
BAD = {
    "no TOML": ("title = ", "title "),
    "no title": ('title = "Tiny"\n', ""),
    "a title of numbers": ('title = "Tiny"', "title = 3"),
    "an unknown key": ('title = "Tiny"', 'title = "Tiny"\ncolour = "red"'),
    "a misspelt key": ("metrics =", "metric ="),
    "no seeds": ("[0, 1]", "[]"),
    "seeds in words": ("[0, 1]", '["a"]'),
    "seeds below 0": ("[0, 1]", "[-1]"),
    "a seed that is no list": ("[0, 1]", "0"),
    "an unknown metric": ('["factors"]', '["taste"]'),
    "a metric in no list": ('["factors"]', '"factors"'),
    "an unknown split": ('title = "Tiny"', 'title = "Tiny"\npart = "train"'),
    "one resample": ('title = "Tiny"', 'title = "Tiny"\nresamples = 1'),
    "an unknown method": ('method = "pca"', 'method = "gan"'),
    "a class as method": ('method = "pca"', 'method = "untwine.methods.PCA"'),
    "an unknown field": ("n_latent = 3", "n_latents = 3"),
    "a field of another type": ("n_latent = 3", 'n_latent = "three"'),
    "a field out of range": ("n_latent = 3", "n_latent = 0"),
    "lists of two lengths": ("n_latent = 3", "n_latent = [1, 2], batch = [8]"),
    "an unknown key of the figure": ("[published.toy]", '[figure]\nagainst_score = "w2.common"\n[published.toy]'),
    "two scores against": ("[published.toy]", '[figure]\nagainst = ["w2.common"]\n[published.toy]'),
    "an unknown shuffle": ('method = "pca"', 'method = "pca"\nshuffle = "rows"'),
    "unknown data": ('"toy_contrast"', '"cifar"'),
    "an unknown option of the data": ("n_target = 60", "n_targets = 60"),
    "a shared field that nobody has": ('label = "toy"', 'label = "toy"\nfields = { colour = 1 }'),
    "an unknown size": ("[published.toy]", "[size.large]\nfields = {}\n[published.toy]"),
    "an unknown key of a size": ("[published.toy]", "[size.small]\nfield = {}\n[published.toy]"),
    "one label twice": ('label = "theirs"', 'label = "PCA"'),
    "a label with a comma": ('label = "theirs"', 'label = "the, irs"'),
    "a row without label": ('label = "theirs"', ""),
    "a column without scores": ('scores = ["factors_salient.salient", "factors_salient.z"]\n', ""),
    "a column of unknown data": ("digits = 1", 'digits = 1\ndata = ["faces"]'),
    "a row of unknown data": ('label = "theirs"', 'label = "theirs"\ndata = ["faces"]'),
    "published for unknown data": ("[published.toy]", "[published.faces]"),
    "published for an unknown row": ("theirs = [50.0]", "ours = [50.0]"),
    "too many published": ("[50.0]", "[50.0, 1.0]"),
    "published without rows": ("[published.toy]\ntheirs = [50.0]", "[published]\ntoy = 3"),
    "one title twice": ("digits = 1", 'digits = 1\n[[column]]\ntitle = "s %"\nscores = ["w2.common"]'),
    "data without a column": ("digits = 1", 'digits = 1\ndata = ["toy"]\n[[data]]\nname = "grassy_digits"'),
    "published in words": ("[50.0]", '["much"]'),
    "an epoch after the end": ('["factors"]', '["factors"]\nepochs_scored = [60]'),
    "a table for a list": (ROW, '[row]\nlabel = "PCA"\n'),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_file_raises_one_error(what, file, capsys):
    old, new = BAD[what]
    text = STUDY if what != "an epoch after the end" else STUDY.replace('"pca"', '"vae"').replace("= 3", "= 3, epochs = 50")
    assert old in text
    file.write_text(text.replace(old, new, 1))
    for command in ("run", "table"):
        with pytest.raises(ValueError) as refused:
            app(["study", command, str(file)], exit_on_error=False, print_error=False)
        sentence = str(refused.value)
        assert sentence.startswith(str(file))
        assert sentence.endswith((".", "?"))
        assert "\n" not in sentence
        assert len(sentence) < 400 + len(str(file))
    assert not (file.parent / "results").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "nowhere.toml"),
        ("run", "{file}", "--only", "row"),
        ("run", "{file}", "--only", "row=none"),
        ("run", "{file}", "--only", "colour=red"),
        ("run", "{file}", "--only", "seed=a"),
        ("run", "{file}", "--workers", "0"),
        ("run", "{file}", "--threads", "0"),
        ("run", "{file}", "--size", "huge"),
        ("run", "{file}", "--out", "{file}"),
        ("table", "nowhere.toml"),
        ("table", "{file}", "--figure", "f.png"),
        ("table",),
    ],
)
def test_a_bad_command_is_refused(arguments, file, capsys, monkeypatch):
    monkeypatch.chdir(file.parent)
    words = [word.replace("{file}", str(file)) for word in arguments]
    with pytest.raises((ValueError, OSError, CycloptsError)) as refused:
        app(["study", *words], exit_on_error=False, print_error=False)
    assert str(refused.value).strip()
    assert not list(file.parent.rglob("*.csv"))
