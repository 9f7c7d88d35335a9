"""untwine takes data apart with the supervision that people really have.

What is named here is imported when it is first used, so that `import untwine` is quick however much there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

__version__ = "0.1.0"

if TYPE_CHECKING:
    from untwine import data, manipulate, metrics, plots
    from untwine.data import load, read
    from untwine.evaluation.features import salient_features
    from untwine.evaluation.run import evaluate_run
    from untwine.evaluation.scoring import evaluate
    from untwine.explore.server import explore
    from untwine.export.anndata_files import to_anndata
    from untwine.export.hub import from_hub, push_to_hub
    from untwine.export.networks import export_onnx, export_torch
    from untwine.latents import Latents
    from untwine.linear.contrast import ContrastTest, contrast_test
    from untwine.methods import *  # noqa: F403 (the methods by their class names)
    from untwine.methods import load_method
    from untwine.report.page import report
    from untwine.runs.scores import Score
    from untwine.samples import Samples
    from untwine.selection.compare import compare
    from untwine.selection.tune import tune
    from untwine.study import Study
    from untwine.training.errors import TrainingError
    from untwine.training.logs import mlflow_log, tensorboard_log

__all__ = [
    "ContrastTest",
    "Latents",
    "Samples",
    "Score",
    "Study",
    "TrainingError",
    "compare",
    "contrast_test",
    "data",
    "evaluate",
    "evaluate_run",
    "explore",
    "export_onnx",
    "export_torch",
    "from_hub",
    "load",
    "load_method",
    "manipulate",
    "metrics",
    "mlflow_log",
    "plots",
    "push_to_hub",
    "read",
    "register",
    "report",
    "salient_features",
    "tensorboard_log",
    "to_anndata",
    "tune",
]  # and every method by the name of its class

NAMES = tuple(__all__)
if not TYPE_CHECKING:
    del __all__  # `__getattr__` returns it with the methods, which are imported only then

Thing = TypeVar("Thing")


def register(thing: Thing) -> Thing:
    """Add your own method, metric or data set to the catalogue of this process; may stand as a decorator.

    Parameters
    ----------
    thing
        A subclass of `Method`, by its `name`; an `untwine.metrics.Metric`, by its `name`; or a data set, a function of keyword
        options that returns `Splits`, by the function's name.

    Returns
    -------
    thing
        The same.
    """
    import inspect

    from untwine.data import Splits
    from untwine.data.catalogue import DATA_SETS
    from untwine.evaluation.registry import METRICS
    from untwine.method.contract import Method
    from untwine.methods import METHODS
    from untwine.metrics import Metric

    if inspect.isclass(thing) and issubclass(thing, Method):
        METHODS.register(thing.name, thing)
    elif isinstance(thing, Metric):
        METRICS.register(thing.name, thing)
    elif inspect.isfunction(thing) and _returns(thing) in (Splits, "Splits"):
        DATA_SETS.register(thing.__name__, thing)
    else:
        raise TypeError(
            f"register needs a Method subclass, a Metric or a function that returns Splits; got {thing!r}; annotate the "
            "function of a data set as -> Splits."
        )
    return thing


def _returns(function: Any) -> Any:
    """Return what a function is annotated to return: the class or, where annotations are text, its name without the module."""
    result = function.__annotations__.get("return")
    return result.rpartition(".")[2] if isinstance(result, str) else result


def __getattr__(name: str) -> Any:
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module 'untwine' has no attribute {name!r}")
    globals()[name] = value = _find(name)
    return value


def _find(name: str) -> Any:  # noqa: PLR0912 (a branch a module)
    """Import what has that name, and nothing else; the modules are written out, so that no text can name another one."""
    module: Any
    match name:
        case "data" | "load" | "read":
            import untwine.data as module
        case "compare":
            import untwine.selection.compare as module
        case "evaluate":
            import untwine.evaluation.scoring as module
        case "salient_features":
            import untwine.evaluation.features as module
        case "evaluate_run":
            import untwine.evaluation.run as module
        case "explore":
            import untwine.explore as module
        case "to_anndata":
            import untwine.export.anndata_files as module
        case "export_onnx" | "export_torch":
            import untwine.export.networks as module
        case "from_hub" | "push_to_hub":
            import untwine.export.hub as module
        case "contrast_test" | "ContrastTest":
            import untwine.linear.contrast as module
        case "Latents":
            import untwine.latents as module
        case "manipulate":
            import untwine.manipulate as module
        case "metrics":
            import untwine.metrics as module
        case "plots":
            import untwine.plots as module
        case "report":
            import untwine.report as module
        case "Samples":
            import untwine.samples as module
        case "Score":
            import untwine.runs.scores as module
        case "Study":
            import untwine.study as module
        case "mlflow_log" | "tensorboard_log":
            import untwine.training.logs as module
        case "tune":
            import untwine.selection.tune as module
        case "TrainingError":
            import untwine.training.errors as module
        case _:
            import untwine.methods as module

            if name == "__all__":
                return [*NAMES, *module.CLASSES]
            if name not in module.CLASSES and name != "load_method":
                raise AttributeError(f"module 'untwine' has no attribute {name!r}")
    return module if module.__name__ == f"untwine.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    import untwine.methods

    return sorted({*globals(), *NAMES, *untwine.methods.CLASSES})
