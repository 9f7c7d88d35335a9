"""Studies: cells run in workers, killed and resumed, and the table of their scores."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from affectnet_files import make_affectnet
from metric_versions import set_version

import untwine as un
from untwine.cli.commands.study import table_lines
from untwine.data import load
from untwine.evaluation.scoring import evaluate
from untwine.plots.studies import study_figure
from untwine.runs import files
from untwine.runs.locking import lock
from untwine.study import cells as one_cell
from untwine.study import reading, results
from untwine.study.cells import Cell, run_cell
from untwine.study.executors import worker

pytestmark = pytest.mark.usefixtures("forked_workers")
ROOT = Path(__file__).parents[2]
STUDY = """
title = "Tiny"
seeds = [0, 1]
metrics = ["factors", "w2"]
epochs_scored = [1, 2]
epochs_metrics = ["w2"]

[size.small]
fields = { epochs = 4, width = 8, n_common = 3, n_salient = 2, batch = 16 }

[[data]]
name = "toy_contrast"
label = "toy"
options = { n_common = 2, n_salient = 1, n_features = 6 }
small = { options = { n_target = 60, n_background = 40 } }

[[row]]
label = "Eq. 8"
method = "principled_vae"

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

[[column]]
scores = ["w2.common"]
title = "W2"

[published.toy]
"Eq. 8" = [90.0, nan]
theirs = [50.0, 1.25]
"""


def written(folder, text=STUDY, name="tiny"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.toml"
    path.write_text(text)
    return un.Study.read(path)


def run_folders(out):
    return {path.parent: path.stat().st_mtime_ns for path in out.rglob("weights.safetensors")}


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A study that was run whole, by two workers."""
    folder = tmp_path_factory.mktemp("study")
    study = written(folder)
    assert study.run(folder / "runs", workers=2) == (4, 0, (), ())
    return folder, study


def test_every_cell_has_its_scores_as_if_run_alone(ran):
    _, study = ran
    found = results.by_cell(study.results())
    data = un.load("toy_contrast", n_common=2, n_salient=1, n_features=6, n_target=60, n_background=40)
    way = {}

    def watch(method, epoch):
        way[epoch] = evaluate(method, data.test, ["w2"], 2)["w2.common"].value

    method = un.PrincipledVAE.fixed(epochs=4, width=8, n_common=3, n_salient=2, batch=16, seed=1).fit(data.train, watch=watch)
    alone = evaluate(method, data.test, ["factors", "w2"], 2)
    cell = next(cell for cell in study.cells() if (cell.row, cell.seed) == ("Eq. 8", 1))
    there = found[cell.fingerprint]
    assert set(there) == set(alone) | {"w2_relative.common"}
    assert {name: value[4] for name, value in there.items()} == {name: one.value for name, one in alone.items()}
    assert there["w2.common"] == {1: way[1], 2: way[2], 4: way[4]}
    plain = next(cell for cell in study.cells() if cell.row == "PCA")
    assert set(found[plain.fingerprint]) == {"factors.z", "factors_salient.z"}  # what a method lacks is not scored
    assert set(found[plain.fingerprint]["factors.z"]) == {0}


def test_the_long_table_has_a_line_for_every_score(ran):
    folder, _ = ran
    with (folder / "results" / "tiny.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == results.COLUMNS
    assert len(lines) == 2 * (4 + 2 + 2 * 2) + 2 * 2
    first = lines[0]
    assert (first["study"], first["size"], first["data"], first["untwine"]) == ("tiny", "small", "toy", un.__version__)
    assert all(float(line["low"]) <= float(line["value"]) <= float(line["high"]) and int(line["n"]) > 0 for line in lines)
    assert all(float(line["fit_seconds"]) > 0 for line in lines)


def test_a_finished_cell_is_not_run_again(ran):
    folder, study = ran
    before, table = run_folders(folder / "runs"), (folder / "results" / "tiny.csv").read_bytes()
    assert study.run(folder / "runs", workers=2) == (0, 4, (), ())
    assert un.Study.read(study.path).run(folder / "elsewhere") == (0, 4, (), ())  # the long table alone says so
    assert run_folders(folder / "runs") == before
    assert (folder / "results" / "tiny.csv").read_bytes() == table


def test_an_incomplete_line_is_restored_from_the_run_folder(ran):
    folder, study = ran
    table, before = folder / "results" / "tiny.csv", run_folders(folder / "runs")
    whole = table.read_text()
    table.write_text(whole[:-30])
    last = whole.splitlines()[-1].split(",")[-2]
    left = {row["fingerprint"] for row in results.read_results(table)}
    assert last not in left
    assert len(left) == 3  # of an incomplete cell no line counts, of the others all
    assert study.run(folder / "runs") == (1, 3, (), ())
    assert table.read_text() == whole
    assert run_folders(folder / "runs") == before


def test_an_incomplete_line_of_a_new_cell_costs_no_other(tmp_path):
    row = dict.fromkeys(results.COLUMNS, 1) | {"study": "a", "row": "first", "fingerprint": "1st"}
    results.append(tmp_path / "t.csv", [row, row | {"score": "other"}])
    results.append(tmp_path / "t.csv", [row | {"row": "second", "fingerprint": "2nd"}])
    text = (tmp_path / "t.csv").read_text()
    begins = text.index("a,1,1,second")
    (tmp_path / "t.csv").write_text(text[: begins + len("a,1,1,sec")])
    assert [one["fingerprint"] for one in results.read_results(tmp_path / "t.csv")] == ["1st", "1st"]
    results.append(tmp_path / "t.csv", [row | {"row": "second", "fingerprint": "2nd"}])
    assert (tmp_path / "t.csv").read_text() == text


def test_a_damaged_line_inside_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text(results.HEAD + "a,small,toy\n" + ",".join("1" * len(results.COLUMNS)) + "\n")
    with pytest.raises(ValueError, match=r"line 2 has others; restore the file\.$"):
        results.read_results(tmp_path / "t.csv")


# Configurations


def test_another_configuration_has_another_fingerprint_and_labels_do_not_count(tmp_path):
    def marks(text):
        return [cell.fingerprint for cell in written(tmp_path, text).cells()]

    base = marks(STUDY)
    assert len(set(base)) == 4
    assert marks(STUDY.replace('"toy"', '"other"').replace("published.toy", "published.other")) == base
    for old, new in (
        ("epochs = 4", "epochs = 5"),
        ("n_target = 60", "n_target = 61"),
        ('["factors", "w2"]', '["factors"]'),
        ('title = "Tiny"', 'title = "Tiny"\npart = "validation"'),
        ("epochs_scored = [1, 2]", "epochs_scored = [1, 3]"),
    ):
        changed = marks(STUDY.replace(old, new))
        assert changed[0] != base[0], new


def test_options_of_a_metric_are_in_the_fingerprint_and_defaults_are_not(tmp_path):
    def cells(metrics):
        return written(tmp_path, STUDY.replace('metrics = ["factors", "w2"]', f"metrics = {metrics}", 1)).cells()

    base = cells('["factors", "w2"]')
    for same in ('["factors", "w2(of=means)"]', '["factors()", "w2( batch=null, of = means )"]'):
        assert [cell.fingerprint for cell in cells(same)] == [cell.fingerprint for cell in base]
    other = cells('["factors", "w2(batch = 4, of=samples)"]')
    assert other[0].metrics == ("factors", "w2(of=samples,batch=4)")
    assert other[0].fingerprint != base[0].fingerprint
    assert other[0].folder(tmp_path) == base[0].folder(tmp_path)  # trained alike
    for wrong, sentence in (
        ("w2(of=sample)", "of must be 'means' or 'samples'; got 'sample'; did you mean 'samples'"),
        ("w2(off=samples)", "must be known ones; got 'off'; did you mean 'of'"),
        ("w3(of=samples)", "metric must be a name from the catalogue; got 'w3'; did you mean 'w2'"),
    ):
        with pytest.raises(ValueError, match=sentence):
            cells(f'["factors", "{wrong}"]')


def test_a_cell_scores_a_metric_with_and_without_options(tmp_path):
    text = STUDY.replace('metrics = ["factors", "w2"]', 'metrics = ["w2", "w2(of=samples,batch=4)"]', 1)
    text = text.replace('epochs_scored = [1, 2]\nepochs_metrics = ["w2"]\n', "")
    text = text.replace('scores = ["w2.common"]', 'scores = ["w2(of=samples,batch=4).common"]')
    study = written(tmp_path, text)
    cell = study.cells()[0]
    results.append(tmp_path / "results" / "tiny.csv", run_cell(cell, tmp_path / "runs", un.load(cell.name, **cell.options)))
    rows = {row["score"]: row["value"] for row in study.results()}
    assert {"w2.common", "w2(of=samples,batch=4).common", "w2_relative(of=samples,batch=4).common"} <= set(rows)
    (entry,) = [one for one in study.table().entries if (one.row, one.column) == ("Eq. 8", "W2")]
    assert (entry.score, entry.mean) == ("w2(of=samples,batch=4).common", rows["w2(of=samples,batch=4).common"])


def test_a_new_version_of_a_metric_is_another_fingerprint_for_its_cells_alone(tmp_path, monkeypatch):
    rows = '[[row]]\nlabel = "PCA"\nmetrics = ["factors"]\n'
    study = written(tmp_path, STUDY.replace('[[row]]\nlabel = "PCA"\n', rows))
    contrastive, plain = study.cells()[:2], study.cells()[2:]

    def marks(cells):
        return [cell.fingerprint for cell in cells], [cell.folder(tmp_path) for cell in cells]

    before = marks(contrastive), marks(plain)
    set_version(monkeypatch, "probe", 2)  # no cell scores it
    assert (marks(contrastive), marks(plain)) == before
    set_version(monkeypatch, "factors", 2)  # scored after training: the weights stay
    second = marks(contrastive), marks(plain)
    assert all(set(now[0]).isdisjoint(old[0]) for now, old in zip(second, before, strict=True))
    assert [now[1] for now in second] == [old[1] for old in before]
    set_version(monkeypatch, "factors", 1)
    set_version(monkeypatch, "w2", 2)  # scored during training too, which only training again can repeat
    assert marks(plain) == before[1]
    third = marks(contrastive)
    assert all(set(now).isdisjoint(old) for now, old in zip(third, before[0], strict=True))
    set_version(monkeypatch, "w2", 3)
    assert set(marks(contrastive)[0]).isdisjoint(third[0])


def test_a_finished_cell_is_scored_again_after_a_new_version_but_not_trained(tmp_path, monkeypatch):
    cell = next(cell for cell in written(tmp_path).cells() if cell.row == "PCA")
    splits = un.load(cell.name, **cell.options)
    first = run_cell(cell, tmp_path / "runs", splits)
    trained = run_folders(tmp_path / "runs")
    set_version(monkeypatch, "factors", 2)
    second = run_cell(cell, tmp_path / "runs", splits)
    assert run_folders(tmp_path / "runs") == trained
    assert {row["fingerprint"] for row in second} == {cell.fingerprint}
    assert {row["fingerprint"] for row in first}.isdisjoint({cell.fingerprint})
    [scores] = (tmp_path / "runs").rglob("scores.json")
    assert {one["version"] for one in files.read_json(scores).values()} == {2}


def test_other_scores_keep_the_weights_and_another_training_does_not(ran):
    folder, study = ran
    cell = study.cells()[0]
    other = written(folder / "scores", STUDY.replace('["factors", "w2"]', '["factors"]')).cells()[0]
    assert other.fingerprint != cell.fingerprint
    assert other.folder(folder) == cell.folder(folder)
    longer = written(folder / "longer", STUDY.replace("epochs = 4", "epochs = 5")).cells()[0]
    assert longer.folder(folder) != cell.folder(folder)


def test_the_table_counts_cells_of_another_configuration(ran):
    folder, _ = ran
    changed = written(folder, STUDY.replace("n_latent = 3", "n_latent = 2"))
    table = changed.table()
    assert table.others == 2
    assert [(entry.row, entry.seeds) for entry in table.entries][::2] == [("Eq. 8", 2), ("PCA", 0), ("theirs", 0)]
    written(folder)


# Killed and stopped

LONG = STUDY.replace("epochs = 4", "epochs = 400").replace('["factors", "w2"]', '["w2"]')
LONG = LONG[: LONG.index('[[row]]\nlabel = "PCA"')] + LONG[LONG.index('[[row]]\nlabel = "theirs"') :]


def started(study, out, number):
    """Start a study as its user does: from Python, or, to be stopped by Ctrl-C, on the command line."""
    code = f"import untwine as un; un.Study.read({str(study.path)!r}).run({str(out)!r}, workers=1)"
    if number == signal.SIGINT:
        # A shell that runs the tests in the background has its children ignore Ctrl-C.
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from untwine.cli.commands.study import command; "
            f"command(['run', {str(study.path)!r}, '--out', {str(out)!r}, '--workers', '1'])"
        )
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def wait_for(happened, seconds=300):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_study_is_resumed_and_ends_as_one_that_was_not(tmp_path, number):
    study = written(tmp_path, LONG)
    first, second = study.cells()
    table, folder = tmp_path / "results" / "tiny.csv", second.folder(tmp_path / "runs")
    process = started(study, tmp_path / "runs", number)
    try:
        wait_for(lambda: table.exists() and (folder / "scores_1.json").exists())
    finally:
        process.send_signal(number)
        _, errors = process.communicate()
    if number == signal.SIGINT:
        assert errors.endswith("untwine: stopped; the same command resumes the study.\n")
        assert process.returncode == 130
    with lock(folder):  # the worker is gone, or this would wait for it
        assert not (folder / "method.json").exists()
        if number == signal.SIGINT:
            assert (folder / "checkpoint.safetensors").exists()
    before, weights = table.read_text(), first.folder(tmp_path / "runs") / "weights.safetensors"
    assert {row["fingerprint"] for row in results.read_results(table)} == {first.fingerprint}
    done = weights.stat().st_mtime_ns
    assert study.run(tmp_path / "runs") == (1, 1, (), ())
    assert table.read_text().startswith(before)
    assert weights.stat().st_mtime_ns == done
    unbroken = run_cell(second, tmp_path / "unbroken", un.load(second.name, **second.options))
    there = [row for row in study.results() if row["fingerprint"] == second.fingerprint]
    assert [(row["epoch"], row["score"], row["value"]) for row in there] == [
        (row["epoch"], row["score"], row["value"]) for row in unbroken
    ]


def test_data_that_is_not_here_is_skipped(tmp_path, monkeypatch):
    monkeypatch.setenv("UNTWINE_DATA", str(tmp_path))
    study = written(tmp_path, STUDY.replace('label = "toy"', 'label = "toy"\nneeds = ["faces"]'))
    ran = study.run(tmp_path / "runs")
    assert ran[:2] == (0, 0)
    (sentence,) = ran.skipped
    assert sentence.startswith(f"toy is skipped: faces is missing in {tmp_path}; set the environment variable UNTWINE_DATA")
    assert study.table().entries[0].mean is None


def test_only_some_cells(tmp_path):
    cells_run = []
    study = written(tmp_path)

    def executor(cells, *rest):
        return (cells_run.append(str(cell)) for cell in cells)

    study.run(tmp_path / "runs", on=executor, only={"row": ["PCA"], "seed": [1]})
    assert cells_run == ["toy, PCA, seed 1"]
    with pytest.raises(ValueError, match=r"only must name a row of the study; got 'VAE'; choose one of Eq. 8, PCA\.$"):
        study.run(tmp_path / "runs", only={"row": ["VAE"]})


# The table


def by_hand(study, values):
    """Fill the long table: for (row, seed) the scores of a cell."""
    for cell in study.cells():
        if (cell.row, cell.seed) in values:
            scores = {
                name: {"value": v, "low": v, "high": v, "n": 9, "seconds": 1.0}
                for name, v in values[cell.row, cell.seed].items()
            }
            results.append(study.path.parent / "results" / "tiny.csv", one_cell._rows(cell, {2: scores}, 1.0))


def test_mean_and_standard_deviation_are_those_by_hand(tmp_path):
    study = written(tmp_path, STUDY.replace("seeds = [0, 1]", "seeds = [0, 1, 2]"))
    by_hand(
        study,
        {
            ("Eq. 8", 0): {"factors_salient.salient": 0.1, "w2.common": 3.0},
            ("Eq. 8", 1): {"factors_salient.salient": 0.2, "w2.common": 3.0},
            ("Eq. 8", 2): {"factors_salient.salient": 0.4, "w2.common": 6.0},
            ("PCA", 1): {"factors_salient.z": 0.5},
        },
    )
    there = {(entry.row, entry.column): entry for entry in study.table().entries}
    eq8 = there["Eq. 8", "s %"]
    assert eq8.mean == pytest.approx(70 / 3)
    assert eq8.std == pytest.approx(100 * np.sqrt((0.0177778 + 0.0011111 + 0.0277778) / 2), rel=1e-4)
    assert (eq8.seeds, eq8.of, eq8.published) == (3, 3, 90.0)
    assert there["Eq. 8", "W2"][4:] == (4.0, pytest.approx(np.sqrt(3)), 3.0, 6.0, 3, 3, None)
    assert there["PCA", "s %"][3:] == ("factors_salient.z", 50.0, None, 50.0, 50.0, 1, 3, None)
    assert there["PCA", "W2"].mean is None
    assert there["theirs", "W2"] == ("toy", "theirs", "W2", "", None, None, None, None, 0, 0, 1.25)


def test_the_last_epoch_counts(tmp_path):
    study = written(tmp_path)
    score = {"value": 1.0, "low": 0.0, "high": 2.0, "n": 3, "seconds": 0.1}
    found = {4: {"w2.common": score}, 1: {"w2.common": score | {"value": 9.0}}}
    results.append(tmp_path / "results" / "tiny.csv", one_cell._rows(study.cells()[0], found, 1.0))
    assert study.table().entries[1].mean == 1.0


def test_a_cell_that_two_have_run_is_kept_once(tmp_path):
    study = written(tmp_path)
    by_hand(study, {("Eq. 8", 0): {"w2.common": 1.0}})
    by_hand(study, {("Eq. 8", 0): {"w2.common": 2.0}, ("PCA", 0): {"w2.common": 3.0}})
    assert [row["value"] for row in study.results()] == [1.0, 3.0]


SWEPT = (
    STUDY.replace('method = "pca"\nfields = { n_latent = 3 }', 'method = "principled_vae"\nsmall = { lambda_z = [0, 2.5] }')
    + '[figure]\nover_epochs = ["w2.common"]\nover_sweep = ["factors_salient.salient"]\n'
)


def test_a_list_of_values_sweeps_the_field(tmp_path):
    study = written(tmp_path, SWEPT)
    assert [(cell.row, cell.params["lambda_z"]) for cell in study.cells()[::2]] == [
        ("Eq. 8", un.PrincipledVAE().lambda_z),
        ("PCA lambda_z=0", 0),
        ("PCA lambda_z=2.5", 2.5),
    ]
    by_hand(
        study,
        {(row, seed): {"factors_salient.salient": 0.1 * seed + v, "w2.common": v} for seed in (0, 1) for row, v in
         (("Eq. 8", 0.7), ("PCA lambda_z=0", 0.2), ("PCA lambda_z=2.5", 0.4))},
    )  # fmt: skip
    training, swept = study.panels()
    np.testing.assert_array_equal(training.lines["Eq. 8"].y, [[0.7], [0.7]])
    assert list(training.lines) == ["Eq. 8"]
    assert (swept.x, swept.even) == ("lambda_z", True)
    x, y, beside = swept.lines["factors_salient.salient"]
    assert beside == ()
    np.testing.assert_array_equal(x, [0, 2.5])
    np.testing.assert_allclose(y, [[0.2, 0.4], [0.3, 0.5]])


def test_a_method_without_epochs_is_a_constant_line_over_training(tmp_path):
    study = written(tmp_path, STUDY + '[figure]\nover_epochs = ["w2.common"]\n')
    score = {"value": 1.0, "low": 0.0, "high": 2.0, "n": 3, "seconds": 0.1}
    epochs = {"Eq. 8": (1, 2, 4), "PCA": (0,)}
    for cell in study.cells():
        found = {epoch: {"w2.common": score | {"value": epoch + 1.0}} for epoch in epochs.get(cell.row, ())}
        results.append(tmp_path / "results" / "tiny.csv", one_cell._rows(cell, found, 1.0))
    (training,) = study.panels()
    lines = {name: (line.x.tolist(), line.y.tolist()) for name, line in training.lines.items()}
    assert lines == {"Eq. 8": ([1, 2, 4], [[2, 3, 5]] * 2), "PCA": ([1, 4], [[1, 1]] * 2)}


LOWEST = SWEPT.replace("small = { lambda_z", 'lowest = "w2.common"\nsmall = { lambda_z').replace('"Eq. 8" = [90', "PCA = [90")


def test_of_a_sweep_the_lowest_is_shown_alone_once_all_is_finished(tmp_path):
    study = written(tmp_path, LOWEST)
    first = {("PCA lambda_z=0", s): {"w2.common": w} for s, w in ((0, 1.0), (1, 4.0))}
    by_hand(study, {**first, ("PCA lambda_z=2.5", 0): {"w2.common": 0.1}})
    assert [e.row for e in study.table().entries[::2]] == ["Eq. 8", "PCA lambda_z=0", "PCA lambda_z=2.5", "theirs"]
    by_hand(study, {("PCA lambda_z=2.5", 1): {"w2.common": 4.4}})
    there = {(entry.row, entry.column): entry for entry in study.table().entries}
    assert list(there) == [(row, column) for row in ("Eq. 8", "PCA lambda_z=2.5", "theirs") for column in ("s %", "W2")]
    assert there["PCA lambda_z=2.5", "W2"].mean == 2.25
    assert there["PCA lambda_z=2.5", "s %"].published == 90.0  # published values have the label without a value


def test_of_a_sweep_the_highest_is_shown_alone(tmp_path):
    study = written(tmp_path, LOWEST.replace("lowest =", "highest ="))
    values = {("0", 0): 1.0, ("0", 1): 4.0, ("2.5", 0): 0.1, ("2.5", 1): 4.4}
    by_hand(study, {(f"PCA lambda_z={one}", seed): {"w2.common": value} for (one, seed), value in values.items()})
    there = {(entry.row, entry.column): entry for entry in study.table().entries}
    assert ("PCA lambda_z=2.5", "W2") not in there
    assert there["PCA lambda_z=0", "W2"].mean == 2.5
    assert there["PCA lambda_z=0", "s %"].published == 90.0
    with pytest.raises(ValueError, match="the row 'PCA' must have 'lowest' or 'highest'; got both keys; remove one"):
        written(tmp_path, LOWEST.replace("lowest =", 'highest = "w2.common"\nlowest ='))


def test_the_lowest_needs_a_sweep_and_a_column(tmp_path):
    with pytest.raises(
        ValueError, match=r"the row 'PCA' must sweep a field, because it has the key 'lowest'; .*remove the key\.$"
    ):
        written(tmp_path, LOWEST.replace("[0, 2.5]", "2.5"))
    with pytest.raises(
        ValueError, match=r"lowest of the row 'PCA' must be a known name; got 'w2\.z'; choose one of .*, w2\.common\.$"
    ):
        written(tmp_path, LOWEST.replace('lowest = "w2.common"', 'lowest = "w2.z"'))


def test_lists_of_one_length_are_swept_side_by_side(tmp_path):
    study = written(tmp_path, SWEPT.replace("lambda_z = [0, 2.5]", "lambda_z = [0, 2.5], lambda_s = [7.0, 9.0]"))
    found = [(cell.row, cell.params["lambda_z"], cell.params["lambda_s"]) for cell in study.cells()[2::2]]
    assert found == [("PCA lambda_z=0", 0, 7.0), ("PCA lambda_z=2.5", 2.5, 9.0)]


def test_a_row_may_belong_to_some_data_sets_alone(tmp_path):
    other = '[[data]]\nname = "toy_contrast"\nlabel = "other"\n\n[[row]]\nlabel = "PCA"\ndata = ["toy"]'
    study = written(tmp_path, STUDY.replace('[[row]]\nlabel = "PCA"', other))
    assert {(cell.data, cell.row) for cell in study.cells()} == {("toy", "Eq. 8"), ("other", "Eq. 8"), ("toy", "PCA")}
    table = study.table(results="nowhere").entries
    assert {entry.row for entry in table if entry.data == "other"} == {"Eq. 8", "theirs"}
    assert {entry.row for entry in table if entry.data == "toy"} == {"Eq. 8", "PCA", "theirs"}


def test_rows_of_different_data_sets_may_share_a_label(tmp_path):
    row = '[[row]]\nlabel = "PCA"\n'
    other = '[[data]]\nname = "toy_contrast"\nlabel = "other"\n\n' + row + 'method = "pca"\nfields = { n_latent = 2 }\n'
    both = STUDY.replace(row, f'{other}data = ["other"]\n\n{row}data = ["toy"]\n')
    found = {cell.data: cell.params["n_latent"] for cell in written(tmp_path, both).cells() if cell.row == "PCA"}
    assert found == {"other": 2, "toy": 3}
    with pytest.raises(ValueError, match="the labels of rows must be unique; got 'PCA' twice"):
        written(tmp_path, both.replace('data = ["toy"]\n', ""))


def test_scores_are_drawn_against_another_one(tmp_path):
    study = written(tmp_path, SWEPT + 'against = "w2.common"\n')
    values = {"Eq. 8": (0.7, 3.0), "PCA lambda_z=0": (0.2, 1.0), "PCA lambda_z=2.5": (0.4, 2.0)}
    lines = {
        (row, seed): {"factors_salient.salient": v + 0.1 * seed, "w2.common": w + seed}
        for row, (v, w) in values.items()
        for seed in (0, 1)
    }
    by_hand(study, lines)
    panel = study.panels()[-1]
    assert (panel.x, panel.y, panel.even) == ("w2.common", "factors_salient.salient", False)
    x, y, beside = panel.lines["PCA"]
    np.testing.assert_allclose(x, [1.5, 2.5])  # the mean over seeds
    np.testing.assert_allclose(y, [[0.2, 0.4], [0.3, 0.5]])
    assert beside == ["0", "2.5"]
    np.testing.assert_allclose(panel.lines["Eq. 8"].y, [[0.7], [0.8]])
    study_figure(study.panels()).canvas.draw()


def test_equal_cells_run_once(tmp_path):
    usual = un.PrincipledVAE().lambda_z
    study = written(tmp_path, SWEPT.replace("[0, 2.5]", f"[0, {usual}]"))
    marks = [cell.fingerprint for cell in study.cells()]
    assert len(marks) == 6
    assert len(set(marks)) == 4


# Special rows


def cell_of(study, **changes):
    return Cell(**{**study.cells()[0].to_json(), **changes})


def labelled():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], [20, 30])
    samples = un.Samples(
        rng.normal(size=(50, 4)),
        groups=groups,
        labels=np.where(groups, np.arange(50) % 3, -1),
        factors=np.arange(50.0)[:, None],
    )
    return un.data.Splits(samples, samples)


def test_shuffled_groups_train_on_other_groups_and_score_on_the_true_ones(tmp_path):
    splits = labelled()
    train, test = one_cell._shuffle(cell_of(written(tmp_path), shuffle="groups"), splits)
    assert (train.groups != splits.train.groups).any()
    assert np.bincount(train.groups).tolist() == [20, 30]
    np.testing.assert_array_equal(train.x, splits.train.x)
    assert test is splits.test


def test_shuffled_labels_do_not_match_the_samples(tmp_path):
    splits = labelled()
    train, test = one_cell._shuffle(cell_of(written(tmp_path), shuffle="labels"), splits)
    assert train is splits.train
    assert (test.labels[:20] == -1).all()
    assert (test.labels[20:] != splits.test.labels[20:]).any()
    assert sorted(test.labels) == sorted(splits.test.labels)
    np.testing.assert_array_equal(test.labels[20:], test.factors[20:, 0] % 3)  # a sample's labels and factors stay together


def test_classifiers_learn_from_the_samples_that_the_file_names(tmp_path, monkeypatch):
    given = {}

    def evaluate_run(folder, *, data, method, metrics, seeds, train, skip_inapplicable, gallery, keep, epoch):
        assert (folder, skip_inapplicable, gallery, keep, epoch) == (tmp_path, True, False, False, None)
        assert (method, metrics) == (pca, ["factors"])
        given.update(test=data.test, train=train)

    monkeypatch.setattr(one_cell, "evaluate_run", evaluate_run)
    splits = labelled()
    pca = un.PCA(n_latent=2).fit(splits.train)
    one_cell._score(cell_of(written(tmp_path), learn="first half"), tmp_path, pca, splits, ["factors"])
    np.testing.assert_array_equal(given["train"].factors[:, 0], np.arange(20, 35))
    np.testing.assert_array_equal(given["test"].factors[:, 0], [*range(20), *range(35, 50)])
    one_cell._score(cell_of(written(tmp_path)), tmp_path, pca, splits, ["factors"])
    assert given["train"] is None
    assert len(given["test"]) == 50
    one_cell._score(cell_of(written(tmp_path), learn="training part"), tmp_path, pca, splits, ["factors"])
    assert given["train"] is splits.train
    assert given["test"] is splits.test


def test_a_row_may_show_scores_with_another_ending(tmp_path):
    study = written(tmp_path, STUDY.replace("{ n_latent = 3 }", '{ n_latent = 3 }\nending = "_constant.x"'))
    by_hand(study, {("PCA", 0): {"factors_salient_constant.x": 0.5, "factors_salient.z": 0.9}})
    entry = next(entry for entry in study.table().entries if entry.row == "PCA")
    assert (entry.score, entry.mean) == ("factors_salient_constant.x", 50.0)


def test_hyperparameters_are_chosen_on_a_validation_split_of_the_training_samples(tmp_path):
    cell = cell_of(written(tmp_path), part="validation")
    whole, split = un.load(cell.name, **cell.options), worker.load_data(cell)
    assert len(split.train) + len(split.test) == len(whole.train)
    known = {row.tobytes() for row in whole.train.x}
    assert all(row.tobytes() in known for row in split.test.x)
    assert len(split.test) == round(0.2 * len(whole.train))


# Files


def test_fields_come_in_their_order(tmp_path):
    text = STUDY.replace("small = { options", "fields = { n_salient = 5 }\nsmall = { fields = { batch = 7 }, options")
    text = text.replace(
        'method = "principled_vae"', 'method = "principled_vae"\nfields = { lr = 0.5, width = 9 }\nsmall = { lr = 0.25 }'
    )
    params = written(tmp_path, text).cells()[0].params
    assert [params[key] for key in ("epochs", "n_salient", "batch", "width", "lr")] == [4, 5, 7, 9, 0.25]
    paper = written(tmp_path, text).cells("paper")[0]
    assert paper.params["epochs"] == un.PrincipledVAE().epochs
    assert paper.options["n_target"] == 4000


def test_a_row_overrides_the_paper_s_preset(tmp_path):
    text = STUDY.replace('name = "toy_contrast"', 'name = "grassy_mnist"').replace(
        "{ n_common = 2, n_salient = 1, n_features = 6 }", "{}"
    )
    text = text.replace("n_target = 60, n_background = 40", "n_test = 100").replace(
        "[size.small]", "[size.paper]\npreset = true\n[size.small]"
    )
    text = text.replace('method = "principled_vae"', 'method = "principled_vae"\nfields = { lambda_z = 0.0 }')
    params = written(tmp_path, text).cells("paper")[0].params
    assert params["lambda_z"] == 0
    assert params["epochs"] == un.PrincipledVAE.papers["grassy_mnist"].fields["epochs"]


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("*.toml")), ids=lambda path: path.stem)
def test_the_studies_of_the_papers_can_be_run(path):
    study = un.Study.read(path)
    for size in ("small", "paper"):
        assert study.cells(size)
    for data in study.spec["data"]:
        assert reading.columns(study.spec, reading.label(data))
    wanted = {0} if study.name == "ranking" else {0, 1, 2}  # of many settings
    assert {cell.seed for cell in study.cells("small")} == wanted
    assert {cell.seed for cell in study.cells("paper")} >= wanted
    assert os.path.basename(path) in (ROOT / "docs" / "tutorials" / "studies.md").read_text()


def test_the_papers_figures_are_theirs():
    table = un.Study.read(ROOT / "studies" / "principled_table1.toml").table(results="nowhere").entries
    there = {(entry.data, entry.row, entry.column): entry.published for entry in table}
    assert there["L MNIST", "Eq. 8", "s acc %"] == 92.17
    assert there["NL MNIST", "sRb-VAE", "W2"] == 38.12
    assert there["AffectNet", "cVAE", "z SS"] == 0.17
    assert there["L MNIST", "PCA", "s acc %"] is None


def test_the_unsupervised_rows_of_the_style_have_the_best_settings_of_the_search():
    search, table = (un.Study.read(ROOT / "studies" / f"{name}.toml") for name in ("reference_search", "reference_table1"))
    settings = {cell.row: cell.params for cell in search.cells("small")}
    mean = {entry.row: entry.mean for entry in search.table().entries if entry.column == "mean"}
    for row in ("beta-VAE", "DIP-VAE-I", "DIP-VAE-II"):
        best = min((one for one in settings if one.startswith(f"{row} ")), key=lambda one: mean[one])
        used = next(cell.params for cell in table.cells("small") if cell.row == row)
        assert used | {"seed": 0} == dict(settings[best]) | {"seed": 0}


def test_the_figures_of_dip_vae_are_the_papers():
    entries = [
        entry
        for name in ("dip_table1", "dip_table2", "dip_figure1")
        for entry in un.Study.read(ROOT / "studies" / f"{name}.toml").table("paper", results="nowhere").entries
    ]
    there = {(entry.data, entry.row, entry.column): entry.published for entry in entries}
    assert there["2D Shapes", "DIP-VAE-II (lambda_od 500)", "SAP"] == 0.5253
    assert there["2D Shapes redrawn", "DIP-VAE-I (lambda_od 10)", "Z-diff %"] == 98.7
    assert there["CelebA", "beta-VAE (beta 32)", "error"] == 0.1572
    assert there["CelebA", "DIP-VAE-II (lambda_od 80)", "SAP %"] == 3.93
    assert there["CelebA", "DIP-VAE-I", "Wearing lipstick"] == 84.7
    assert there["CelebA", "beta-VAE beta=8", "Wavy hair"] == 63.7
    assert there["2D Shapes redrawn", "DIP-VAE-II lambda_od=5", "error"] == 0.0023
    assert ("CelebA", "DIP-VAE-II (lambda_od 500)", "error") not in there  # a weight of the other data set
    assert {row for data, row, _ in there if data == "CelebA"} >= {"PCA", "random labels", "the more frequent"}


def test_the_figures_of_lord_are_the_papers():
    there = {
        (name, entry.data, entry.row, entry.column): entry.published
        for name in ("lord_table1", "lord_table2", "lord_table3", "lord_table4")
        for entry in un.Study.read(ROOT / "studies" / f"{name}.toml").table("paper", results="nowhere").entries
    }
    assert there["lord_table1", "SmallNorb-Poses", "DrNet loss=vgg16", "LPIPS"] == 0.152
    assert there["lord_table1", "Cars3D", "LORD", "LPIPS"] == 0.078
    assert there["lord_table1", "SmallNorb", "ML-VAE loss=l1", "LPIPS"] == 0.210
    assert there["lord_table2", "SmallNorb", "ML-VAE loss=l1", "y from c"] == 0.90
    assert there["lord_table1", "Cars3D", "LORD", "error"] is None
    assert there["lord_table2", "SmallNorb", "Cycle-VAE loss=l1", "c from y"] == 0.79
    assert there["lord_table2", "Cars3D", "Szabo et al. loss=vgg16", "y from c"] == 0.91
    assert there["lord_table3", "Cars3D", "without second stage", "c from y"] == 0.5
    assert there["lord_table4", "RaFD", "StarGAN", "right class %"] == 97.8  # an error of 2.2 %
    variants = {cell.row: cell.params for cell in un.Study.read(ROOT / "studies" / "lord_table3.toml").cells("small")}
    assert variants["semi-amortised with KL"]["inference"] == "semi"
    assert variants["semi-amortised with KL"]["regularisation"] == "kl"
    assert variants["without second stage"]["epochs_encoders"] == 0


@pytest.mark.parametrize(("name", "ratios"), [("dip_figure1", (10.0, 1.0)), ("dip_figure2", (50.0, 0.5))])
@pytest.mark.parametrize("size", ["small", "paper"])
def test_the_sweep_of_dip_vae_keeps_the_papers_proportions(size, name, ratios):
    cells = un.Study.read(ROOT / "studies" / f"{name}.toml").cells(size)
    of = {"i": [], "ii": []}
    for cell in cells:
        if cell.method == "dip_vae":
            of[cell.params["variant"]].append(cell.params["lambda_d"] / cell.params["lambda_od"])
            third = name == "dip_figure1" and cell.params["variant"] == "ii"  # on faces there is no penalty on third moments
            assert (cell.params["lambda_third"] > 0) == third
    assert (set(of["i"]), set(of["ii"])) == ({ratios[0]}, {ratios[1]})


def test_figure_2_of_dip_vae_is_drawn_from_its_sweeps(tmp_path):
    study = un.Study.read(ROOT / "studies" / "dip_figure2.toml")
    rows = [
        (cell.fingerprint, score, value)
        for number, cell in enumerate(study.cells())
        for score, value in (("sap.z", 0.01 * number), ("z_diff.z", 0.05), ("reconstruction.x", 0.02 + 1e-4 * number))
        if score.split(".")[0] in cell.metrics
    ]
    lines = [f"dip_figure2,small,CelebA,x,0,20,{score},{value},0,1,1,0,0,{print_},0" for print_, score, value in rows]
    (tmp_path / "dip_figure2.csv").write_text("\n".join([results.HEAD.strip(), *lines]) + "\n")
    sap, z_diff = study.panels(results=tmp_path)
    assert (sap.title, z_diff.y) == ("CelebA: sap.z against reconstruction.x", "z_diff.z")
    assert list(sap.lines) == ["beta-VAE", "DIP-VAE-I", "DIP-VAE-II", "PCA"]
    assert list(sap.lines["DIP-VAE-II"].names) == ["1", "10", "80", "500"]
    assert len(study_figure([sap, z_diff]).axes) == 2


def test_the_affectnet_table_has_the_papers_numbers_and_runs_on_a_small_copy(tmp_path):
    path = ROOT / "studies" / "reference_affectnet.toml"
    there = {(e.row, e.column): e.published for e in un.Study.read(path).table("paper", results="nowhere").entries}
    assert there["sRb-VAE", "happiness"] == 0.587
    assert there["DIP-VAE-II lambda_od=5", "fear"] == 0.389  # of a sweep, every value until all are finished
    assert there["Rb-VAE", "mean from common"] == 0.349
    paper = {cell.row: cell for cell in un.Study.read(path).cells("paper")}["Rb-VAE"]
    assert (paper.options["size"], paper.options["n_test"], paper.options["n_background"]) == (96, 500, 10000)
    assert (paper.params["epochs"], paper.params["batch"], paper.learn) == (20, 36, "first half")
    make_affectnet(tmp_path, lists=[("training.csv", 12), ("validation.csv", 5)])
    text = path.read_text().replace(
        "size = 32, n_per_class = 500, n_background = 2000, n_test = 250",
        f"size = 16, n_per_class = 7, n_background = 7, n_test = 5, folder = {str(tmp_path)!r}",
    )
    study = written(tmp_path, text.replace("epochs = 20, batch = 32", "epochs = 1, batch = 8, width = 8"), "affectnet")
    table = tmp_path / "results" / "affectnet.csv"
    for cell in study.cells():
        if cell.seed == 0 and cell.row in ("Rb-VAE", "DIP-VAE-I", "PCA"):
            results.append(table, run_cell(cell, tmp_path / "runs", load(cell.name, **cell.options)))
    done = {(e.row, e.column): e for e in study.table().entries if e.seeds}
    assert {row for row, _ in done} == {"Rb-VAE", "DIP-VAE-I", "PCA"}
    assert all(0 <= done["Rb-VAE", column].mean <= 1 for column in ("happiness", "contempt", "mean", "mean from common"))
    assert done["PCA", "mean"].score == "per_class.z"
    lines = list(table_lines(study, study.table(), markdown=False))
    assert any(line.startswith("sRb-VAE ") and "missing [0.587]" in line for line in lines)
    assert any(line.startswith("Predicted from the codes by logistic regression") and "happiness, " in line for line in lines)


def test_a_row_may_name_the_data_that_it_is_run_on(tmp_path):
    two = STUDY.replace("[[row]]", '[[data]]\nname = "toy_contrast"\nlabel = "other"\n\n[[row]]\ndata = ["other"]', 1)
    two = two.replace("published.toy", "published.other")
    study = written(tmp_path, two)
    first = study.spec["row"][0]["label"]
    assert {cell.data for cell in study.cells() if cell.row == first} == {"other"}
    assert {entry.data for entry in study.table().entries if entry.row == first} == {"other"}
    others = {cell.data for cell in study.cells() if cell.row != first}
    assert len(others) > 1
    with pytest.raises(ValueError, match=r"data of the row .* must be a known name; got 'nowhere'; did you mean 'other'"):
        written(tmp_path, two.replace('data = ["other"]', 'data = ["nowhere"]'))


def test_a_row_is_scored_after_the_epochs_that_it_has(tmp_path):
    text = STUDY.replace('[[row]]\nlabel = "theirs"', '[[row]]\nlabel = "short"\nmethod = "vae"\nfields = { epochs = 1 }')
    cells = written(tmp_path, text.replace("theirs", "short")).cells()
    watched = {cell.row: tuple(cell.epochs_scored) for cell in cells}
    assert watched == {"Eq. 8": (1, 2), "PCA": (), "short": (1,)}
    with pytest.raises(ValueError, match="must be at most 4, the epochs of the longest row; got 5"):
        written(tmp_path, text.replace("theirs", "short").replace("epochs_scored = [1, 2]", "epochs_scored = [1, 5]"))


def test_table_9_has_the_epochs_of_the_paper_and_compares_salient_factors():
    study = un.Study.read(ROOT / "studies" / "infogan_table9.toml")
    cells = {(cell.data, cell.row): cell for cell in study.cells("paper")}
    assert list(cells["dSprites-MNIST", "with CR"].epochs_scored) == [50, 100, 200, 300, 400, 500, 600]
    assert cells["dSprites-MNIST", "with CR"].params["epochs"] == 700
    assert list(cells["sprites alone", "InfoGAN with CR"].epochs_scored) == []
    for (data, _), cell in cells.items():
        if data == "dSprites-MNIST":  # a block z is scored on all factors by "factor_vae_score"
            assert ("factor_vae_score" in cell.metrics) == (cell.method == "double_infogan")
            assert ("factor_vae_salient" in cell.metrics) == (cell.method == "pca")


@pytest.mark.parametrize("path", sorted((ROOT / "studies").glob("*.toml")), ids=lambda path: path.stem)
def test_the_best_of_a_sweep_is_the_best_by_a_published_score(path):
    spec = un.Study.read(path).spec
    for row in (row for row in spec["row"] if "lowest" in row):
        (column,) = [i for i, one in enumerate(spec["column"]) if row["lowest"] in one["scores"]]
        values = [figures[row["label"]] for figures in spec["published"].values() if row["label"] in figures]
        assert values
        assert all(np.isfinite(one[column]) for one in values)


def test_leakage_is_read_on_images_of_training_classes():
    study = un.Study.read(ROOT / "studies" / "lord_table2.toml")
    for size in ("paper", "small"):
        options = [cell.options for cell in study.cells(size) if cell.name in ("cars3d", "posed_digits")]
        assert {one["held_out"] for one in options} == {"images"}


PRESET_STUDY = """
title = "presets"
seeds = [0]
metrics = ["probe"]
[size.paper]
preset = true
[[data]]
name = "celeba_accessories"
OPTIONS
[[row]]
label = "double InfoGAN"
method = "double_infogan"
[[row]]
label = "PCA"
method = "pca"
[[column]]
scores = ["probe.salient"]
"""


def test_a_preset_gives_all_rows_its_data_unless_the_file_has_others(tmp_path):
    expected = un.DoubleInfoGAN.paper_data("celeba_accessories")
    for text, changes in (
        ("", {}),
        ("paper = { options = { n_test = 7 } }", {"n_test": 7}),
        ("options = { size = 32 }", {"size": 32}),
    ):
        cells = written(tmp_path, PRESET_STUDY.replace("OPTIONS", text)).cells("paper")
        assert [cell.row for cell in cells] == ["double InfoGAN", "PCA"]
        for cell in cells:
            assert {key: cell.options[key] for key in expected} == {**expected, **changes}
    small = written(tmp_path, PRESET_STUDY.replace("OPTIONS", "")).cells("small")[0]
    assert (small.options["n_test"], small.options["n_per_class"]) == (None, None)


def test_presets_of_different_data_in_one_table_are_refused_unless_the_file_decides(tmp_path, monkeypatch):
    other = un.MMcVAE.papers["celeba_accessories"].changed({"size": 32})
    monkeypatch.setattr(un.MMcVAE, "papers", {"celeba_accessories": other})
    text = PRESET_STUDY.replace('method = "pca"', 'method = "mm_cvae"')
    with pytest.raises(
        ValueError, match="same data; got size=64 of 'double_infogan' and 32 of 'mm_cvae' for 'celeba_accessories'"
    ):
        written(tmp_path, text.replace("OPTIONS", ""))
    cells = written(tmp_path, text.replace("OPTIONS", "paper = { options = { size = 48 } }")).cells("paper")
    assert [cell.options["size"] for cell in cells] == [48, 48]


@pytest.mark.parametrize("study", ["infogan_table2", "infogan_table9", "infogan_goals", "infogan_search"])
def test_double_infogan_is_compared_on_images_mixed_as_its_authors_do(study):
    cells = un.Study.read(ROOT / "studies" / f"{study}.toml").cells("paper")
    assert {cell.options["mix"] for cell in cells if cell.name.endswith("_mnist")} == {"authors"}


def test_the_first_half_of_the_targets_keeps_sources_whole():
    from untwine.study.cells import _first_half

    x, groups = np.zeros((10, 2)), [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert _first_half(un.Samples(x, groups=groups)).tolist() == [2, 3, 4, 5]
    assert _first_half(un.Samples(x, groups=groups, sources=np.arange(10)[::-1])).tolist() == [2, 3, 4, 5]
    # Two images of each source, the second ones after all of the first, as in the training split of digit_style.
    sources = [0, 1, 5, 4, 3, 2, 5, 4, 3, 2]
    assert _first_half(un.Samples(x, groups=groups, sources=sources)).tolist() == [2, 3, 6, 7]
