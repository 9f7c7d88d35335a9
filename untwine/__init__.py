"""untwine takes data apart with the supervision that people really have.

What is named here is imported when it is first used, so that `import untwine` is quick however much there is.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

__version__ = "0.1.0"

if TYPE_CHECKING:
    from untwine import data, manipulate, metrics, plots
    from untwine.data import load
    from untwine.evaluation.run import evaluate_run
    from untwine.evaluation.scoring import evaluate
    from untwine.latents import Latents
    from untwine.linear.contrast import ContrastTest, contrast_test
    from untwine.methods import *  # noqa: F403 (the methods by their class names)
    from untwine.methods import load_method
    from untwine.report.page import report
    from untwine.runs.scores import Score
    from untwine.samples import Samples
    from untwine.study import Study
    from untwine.training.errors import TrainingError

__all__ = [
    "ContrastTest",
    "Latents",
    "Samples",
    "Score",
    "Study",
    "TrainingError",
    "contrast_test",
    "data",
    "evaluate",
    "evaluate_run",
    "load",
    "load_method",
    "manipulate",
    "metrics",
    "plots",
    "register",
    "report",
]  # and every method by the name of its class

NAMES = tuple(__all__)
if not TYPE_CHECKING:
    del __all__  # `__getattr__` returns it with the methods, which are imported only then

PLACES = {
    "ContrastTest": "linear.contrast",
    "Latents": "latents",
    "Samples": "samples",
    "Score": "runs.scores",
    "Study": "study",
    "TrainingError": "training.errors",
    "contrast_test": "linear.contrast",
    "evaluate": "evaluation.scoring",
    "evaluate_run": "evaluation.run",
    "load": "data",
}  # all else is a module, or in `methods`

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
    import untwine.data
    import untwine.evaluation.run
    import untwine.manipulate
    import untwine.methods
    import untwine.metrics
    import untwine.plots
    import untwine.report
    import untwine.study

    if name == "__all__":
        return [*NAMES, *untwine.methods.CLASSES]
    if name in NAMES and name in globals():  # a module, which its import has bound
        return globals()[name]
    if name not in NAMES and name not in untwine.methods.CLASSES:
        raise AttributeError(f"module 'untwine' has no attribute {name!r}")
    globals()[name] = result = getattr(sys.modules[f"untwine.{PLACES.get(name, 'methods')}"], name)
    return result


def __dir__() -> list[str]:
    import untwine.methods

    return sorted({*globals(), *NAMES, *untwine.methods.CLASSES})
