"""TensorBoard and MLflow get the terms of the history, epoch by epoch, and a resumed fit goes on."""

import sys
import types

import pytest
from command_line import DATA, exit_code, run
from small import small, vectors
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import untwine as un


def scalars(folder):
    events = EventAccumulator(str(folder))
    events.Reload()
    return {tag: [(one.step, one.value) for one in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def expected(method):
    terms, steps = {}, {}
    for row in method.history_:
        step = steps.setdefault((row.stage, row.epoch), len(steps) + 1)
        terms.setdefault(f"{row.stage}/{row.player}/{row.term}", []).append((step, row.value))
    return terms


@pytest.mark.parametrize("name", ["principled_vae", "lord", "double_infogan"])  # one player, two stages, three players
def test_tensorboard_has_the_history(name, tmp_path):
    method = small(name, epochs=3).fit(vectors(), watch=un.tensorboard_log(tmp_path / "logs"))
    got, terms = scalars(tmp_path / "logs"), expected(method)
    assert set(got) == {key.replace("+", "_").replace(",", "_") for key in terms}
    for key, points in zip(got, terms.values(), strict=True):
        assert [step for step, _ in got[key]] == [step for step, _ in points]
        assert [value for _, value in got[key]] == pytest.approx([value for _, value in points], rel=1e-6)


def test_a_resumed_fit_goes_on_where_it_stopped(tmp_path):
    log = un.tensorboard_log(tmp_path / "logs")

    def stop(method, epoch):
        log(method, epoch)
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small("vae", epochs=4).fit(vectors(), out=tmp_path / "run", every=0, watch=stop)
    small("vae", epochs=4).fit(vectors(), out=tmp_path / "run", resume=True, watch=un.tensorboard_log(tmp_path / "logs"))
    for points in scalars(tmp_path / "logs").values():
        assert sorted({step for step, _ in points}) == [1, 2, 3, 4]


class Client:
    """What is used of MLflow's client."""

    metrics: list = []  # noqa: RUF012

    def log_metric(self, run_id, key, value, step):
        assert run_id == "one"
        self.metrics.append((key, step, value))


def test_mlflow_gets_the_history_and_the_parameters(monkeypatch):
    logged, open_runs = {}, []
    mlflow = types.SimpleNamespace(
        tracking=types.SimpleNamespace(MlflowClient=Client),
        active_run=lambda: None,
        start_run=lambda run_name, nested: (
            open_runs.append(run_name) or types.SimpleNamespace(info=types.SimpleNamespace(run_id="one"))
        ),
        log_params=logged.update,
        end_run=open_runs.pop,
    )
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)
    method = small("principled_vae", epochs=2)
    method.fit(vectors(), watch=un.mlflow_log("first", method.get_params()))
    terms = expected(method)
    assert sorted(Client.metrics) == sorted((key, step, value) for key, points in terms.items() for step, value in points)
    assert logged["epochs"] == 2
    assert logged["method"] == "principled_vae"
    assert open_runs == []


def test_a_missing_package_is_named_before_any_training(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(ModuleNotFoundError, match=r"logging to MLflow needs the package mlflow, .*'untwine\[mlflow\]'"):
        un.mlflow_log()


def test_the_command_line_logs_into_the_run_folder(tmp_path, capsys):
    options = ("--set", "epochs=2", "--set", "width=8", "--quiet", "--log", "tensorboard")
    run("fit", "vae", *DATA, *options, "--out", tmp_path / "run")
    got, terms = scalars(tmp_path / "run" / "tensorboard"), expected(un.load_method(tmp_path / "run"))
    assert set(got) == set(terms)
    assert exit_code("fit", "pca", *DATA, "--out", tmp_path / "pca", "--log", "tensorboard") == 2
    assert "--log needs a method with epochs; pca has a closed form" in capsys.readouterr().err
    assert not (tmp_path / "pca").exists()
