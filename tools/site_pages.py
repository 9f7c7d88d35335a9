"""Pages of the site that are no file of docs/: those at the root of the repository, and the reference of the API."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import ModuleType

ROOT_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}

# What `untwine` names and what a package of that name hides: where it is defined.
CALLABLE = {"report": "untwine.report.page.report", "explore": "untwine.explore.server.explore"}
# Modules for those who write a method, with what they hold; each page lists all public names that its modules define.
INSIDE = {
    "method": ("Your own method: the contract", ("untwine.method.contract", "untwine.method.kinds", "untwine.training.stage")),
    "losses": ("Your own method: losses", ()),
    "networks": ("Your own method: networks", ("untwine.networks",)),
}


def api_pages() -> dict[str, str]:
    """Return the Markdown of the reference, page by page: every name of `untwine` and of its public subpackages."""
    import untwine as un

    modules = [name for name in un.NAMES if inspect.ismodule(getattr(un, name)) and name not in CALLABLE]
    nouns = [name for name in un.NAMES if name not in modules]
    pages = {
        "untwine": ("untwine", "What `import untwine as un` names, methods and subpackages apart.", [_entry(n) for n in nouns]),
        "methods": (
            "Methods",
            (
                "Every method, by the name of its class. Fields are the arguments, the options of `--set` and scikit-learn's parameters; "
                "[a page for each](../methods/README.md) explains it."
            ),
            [_entry(name) for name in un.methods.CLASSES],
        ),
    }
    for name in modules:
        module = getattr(un, name)
        pages[name] = (f"untwine.{name}", _summary(module), [f"::: {module.__name__}.{one}" for one in public_names(module)])
    return {f"api/{name}.md": _page(*page) for name, page in pages.items()}


def public_names(module: ModuleType) -> list[str]:
    """Return the public names of a module: its `__all__`, or the functions and classes that it defines."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=lambda name: (not inspect.isclass(getattr(module, name)), name))
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    return [name for name in own if not name.startswith("_") and callable(getattr(module, name))]


def _entry(name: str) -> str:
    path = CALLABLE.get(name, f"untwine.{name}")
    return f"::: {path}\n    options:\n      heading: untwine.{name}" if name in CALLABLE else f"::: {path}"


def _summary(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").split("\n\n")[0]


def _page(title: str, text: str, entries: Iterable[str]) -> str:
    return f"# {title}\n\n{text}\n\n" + "\n\n".join(entries) + "\n"
