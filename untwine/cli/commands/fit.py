"""`untwine fit`: train a method and write a run folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from untwine.cli.flags import NO_COLUMNS, Columns, DataSettings, Json, Quiet, Settings, Threads
from untwine.cli.out_folder import check_out, replace_on_success
from untwine.cli.outputs import next_command, print_json
from untwine.cli.own_data import named_data
from untwine.cli.settings import check_known, parse_settings

if TYPE_CHECKING:
    from untwine.method.contract import Method
    from untwine.method.presets import Source
    from untwine.networks.pretrained.frozen_features import FrozenFeatures
    from untwine.samples import Samples

ORDER = 20
DEFAULT_DATA = "grassy_digits"


def command(
    method: str = "principled_vae",
    *,
    data: str | None = None,
    out: Path | None = None,
    set: Settings = (),
    data_set: DataSettings = (),
    columns: Columns = NO_COLUMNS,
    features: str | None = None,
    preset: Literal["default", "paper", "authors"] = "default",
    seed: int | None = None,
    device: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    every: float = 60.0,
    keep_checkpoint: bool = False,
    explain: bool = False,
    log: Literal["tensorboard", "mlflow"] | None = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a method on data and write a run folder.

    For example:

    - a data set of the catalogue: `untwine fit principled_vae --data grassy_digits --set epochs=20 --out runs/first`
    - your own target and background images:
      `untwine fit contrastive_vae --target patients/ --background controls/ --data-set size=32 --out runs/mine`
    - a table, with its groups in a column:
      `untwine fit mm_cvae --data cells.csv --group-column condition --background control --out runs/cells`
    - your own classes, with a folder for each: `untwine fit lord --data people --data-set size=64 --out runs/people`
    - the setting and the data of the paper: `untwine fit double_infogan --data cifar_mnist --preset paper --out runs/paper`
    - features of a frozen network in place of images:
      `untwine fit contrastive_pca --data faces --features squeezenet --out runs/faces`
    - what would be chosen from the data, without training: `untwine fit principled_vae --data grassy_digits --explain`
    - two processes: `torchrun --nproc-per-node 2 -m untwine fit vae --data grassy_digits --out runs/two`

    Parameters
    ----------
    method
        A name that `untwine list methods` shows; `untwine list methods NAME` shows its options.
    data
        A name that `untwine list data` shows, by default grassy_digits; or a path to your own data: a table, arrays, AnnData,
        images or volumes (`untwine data show PATH` says what is read).
    out
        The run folder to write: configuration, weights and training history. Needed unless `--explain` is given.
    features
        Fit on the features that a frozen network makes of images: `squeezenet`, `inception`, `random`, or a .safetensors or
        .npz file with the weights of one of them; `squeezenet:features.7` takes the means of that layer. Images that the run is
        given later go through the same network.
    preset
        `paper` uses the hyperparameters and the data options of the method's paper for this data set, `authors` those of its
        authors' public code where they differ; `--set` and `--data-set` change single ones.
    seed
        The random seed of the fit; short for `--set seed=...`.
    device
        `auto`, `cpu`, `cuda` or `mps`; short for `--set device=...`.
    resume
        Continue from the checkpoint in the run folder; the result is bit-exact. A finished run that was fitted with
        `--keep-checkpoint` is trained longer, if `--set epochs=...` has more epochs.
    overwrite
        Replace an existing run folder.
    every
        Seconds between checkpoints.
    keep_checkpoint
        Keep the last checkpoint in the run folder, so that the run can be trained longer. Methods whose learning rate or
        weights depend on the number of epochs refuse it.
    explain
        Print what would be chosen from the training samples, why, and as `--set` options, and stop before training.
    log
        Also send the terms of every epoch to TensorBoard, into `tensorboard/` of the run folder, or to MLflow, where its own
        settings say; history.csv is always written.
    """
    from untwine.training.threads import set_threads

    set_threads(threads)  # before the numerical libraries are imported
    from untwine.data import load, origin
    from untwine.methods import find_method
    from untwine.training import distributed

    kind, options = find_method(method), parse_settings(set, "--set")
    name, data_options = named_data(data, columns, data_set)
    if name is None and "target" not in data_options:
        name, data_options = named_data(DEFAULT_DATA, columns, data_set)
    options |= {key: value for key, value in {"seed": seed, "device": device}.items() if value is not None}
    check_known(options, kind().get_params(), f"the method {method!r}")
    model = kind(**options)
    if preset != "default":
        model, data_options = _from_preset(kind, preset, str(name), options, data_options)
    model.check()
    extractor = _find_features(features)
    if explain:
        print_choices(model, load(name, **data_options).train, extractor, json)
        return
    if out is None:
        raise ValueError("fit needs the run folder to write; got no --out; give it, or --explain to stop before training.")
    check_out(out, resume, overwrite)
    with distributed.process_group():
        watch = _logger(model, log, out)
        splits = load(name, **data_options)
        with replace_on_success(out if overwrite else None):
            model.fit(
                splits.train,
                features=extractor,
                out=out,
                resume=resume,
                every=every,
                keep_checkpoint=keep_checkpoint,
                origin=origin(name, data_options),
                watch=watch,
                progress=not quiet,
            )
        if distributed.rank() == 0 and json:
            print_json({"run": str(out), "method": model.name, "params": model.get_params(), "seconds": model.seconds_})
        elif distributed.rank() == 0:
            print(f"{model.name} fitted in {model.seconds_:.1f} s: {out}  {next_command('evaluate', out)}")


def print_choices(method: Method, samples: Samples, features: FrozenFeatures | None, json: bool) -> None:
    """Print what the method would choose from training samples, or the options as JSON."""
    from untwine.method.automatic import explain

    chosen = method.choices(samples, features=features)
    if json:
        print_json({"method": method.name, "chosen": chosen})
        return
    lines = explain(samples, chosen)
    print("\n".join(lines) if lines else f"{method.name}: nothing is left to the data; all options are given.")


def _find_features(name: str | None) -> FrozenFeatures | None:
    from untwine.networks.pretrained.frozen_features import frozen_features

    return None if name is None else frozen_features(name)


def _logger(method: Method, log: str | None, out: Path) -> Callable[[Any, int], None] | None:
    """Return what logs the terms of every epoch; refused where there are no epochs or the package is missing."""
    from untwine.method.kinds import Solved
    from untwine.training.logs import mlflow_log, tensorboard_log

    if log is None:
        return None
    if isinstance(method, Solved):
        raise ValueError(f"--log needs a method with epochs; {method.name} has a closed form; leave it out.")
    if log == "tensorboard":
        return tensorboard_log(out / "tensorboard")
    return mlflow_log(run_name=out.name, params=method.get_params())


def _from_preset(
    kind: type[Method], preset: Source, data: str, options: Mapping[str, Any], data_options: Mapping[str, Any]
) -> tuple[Method, dict[str, Any]]:
    """Return the method of a preset and the options of its data, with those that are given in place of the preset's."""
    model = kind.paper(data, **options) if preset == "paper" else kind.authors(data, **options)
    expected = kind.preset(preset, data).data.options
    if warn_of_other_options(f"--preset {preset} of {kind.name}", data, expected, data_options):
        model = kind(**model.get_params())  # so that fit does not say it again, by the shape of the samples
    return model, {**expected, **data_options}


def warn_of_other_options(preset: str, data: str, expected: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Warn of options of the data that are not the preset's, by name, and return whether there are some."""
    import inspect

    from untwine.data import data_sets

    known = {name: parameter.default for name, parameter in inspect.signature(data_sets()[data]).parameters.items()}
    known |= expected
    # An unknown option is refused when the data are loaded. Seed and folder belong to no setting.
    compared = set(known) - {"seed", "folder"}
    others = [name for name, value in given.items() if name in compared and value != known[name]]
    if others:
        listed = ", ".join(f"{name}={given[name]!r} (the preset's: {known[name]!r})" for name in others)
        warnings.warn(
            f"--data-set gives other data than {preset} has for {data}: {listed}; its scores cannot be compared with published "
            "ones; leave these options out to use the preset's.",
            stacklevel=3,
        )
    return bool(others)
