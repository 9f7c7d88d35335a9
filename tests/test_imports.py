"""Imports flow one way, importing is quick and computes nothing, and nothing that could run a file's content is called."""

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import untwine

ROOT = Path(untwine.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# The subpackages (and modules at the root) in order: each may import those before it and no other.
SUBPACKAGES = (
    "_typing",
    "registry",
    "samples",
    "latents",
    "runs",
    "data",
    "training",
    "losses",
    "networks",
    "linear",
    "method",
    "manipulate",
    "methods",
    "export",
    "metrics",
    "evaluation",
    "plots",
    "report",
    "study",
    "selection",
    "explore",
    "cli",
    "__main__",
)
# Entry points of installed packages are read in one place; the command line and the report import their own modules by name.
IMPORTLIB = {
    "registry/catalogue.py": {"importlib.metadata"},
    "registry/extras.py": {"importlib"},  # of constants alone
    "cli/app.py": {"importlib"},
    "report/page.py": {"importlib"},
}
LAZY = ("sklearn", "scipy", "matplotlib", "openTSNE", "rich", "PIL", "cyclopts")


def subpackage(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def trees():
    for path in FILES:
        yield path, ast.parse(path.read_text())


def imported(tree):
    """Return the modules of untwine that a file names in its imports, lazy ones included, and names of the package itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "untwine")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written out from the top"
            if node.module == "untwine":
                yield from (f"untwine.{alias.name}" for alias in node.names)
            elif node.module and node.module.split(".")[0] == "untwine":
                yield node.module


def test_every_subpackage_is_in_the_list_and_the_root_holds_no_other_module():
    assert {subpackage(path) for path in FILES} - {"__init__"} == set(SUBPACKAGES)
    assert {path.stem for path in ROOT.glob("*.py")} <= {"__init__", "__main__", "_typing", "samples", "latents", "manipulate"}


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent != ROOT or path.name != "__init__.py"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_imports_flow_one_way(path):
    own = subpackage(path)
    for module in imported(ast.parse(path.read_text())):
        other = module.split(".")[1]
        if other == "__version__":  # the only thing that the package itself holds
            continue
        assert SUBPACKAGES.index(other) <= SUBPACKAGES.index(own), f"{own} may not import {other}"


PACKAGES = sorted(".".join(("untwine", *path.parent.relative_to(ROOT).parts)) for path in FILES if path.name == "__init__.py")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_of_a_package_shadows_one_of_its_modules(package):
    path = ROOT.joinpath(*package.split(".")[1:])
    stems = [one.stem for one in path.glob("*.py")] + [one.parent.name for one in path.glob("*/__init__.py")]
    names = sorted(name for name in stems if name not in ("__init__", "__main__"))
    modules = {name: importlib.import_module(f"{package}.{name}") for name in names}
    shadowed = [name for name, module in modules.items() if getattr(sys.modules[package], name) is not module]
    assert shadowed == []


def test_a_star_import_brings_every_public_name_and_every_method():
    names = {}
    exec("from untwine import *", names)  # a star may only stand at the top of a module
    assert names["VAE"] is untwine.methods.VAE
    assert set(names) - {"__builtins__"} == {*untwine.NAMES, *untwine.methods.CLASSES}
    assert set(names) - {"__builtins__"} <= set(dir(untwine))


def test_looking_for_a_private_name_imports_nothing():
    code = "import sys, untwine; print(hasattr(untwine, '_repr_html_'), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_no_module_is_named_after_nothing():
    vague = {"utils", "util", "common", "misc", "base", "helper", "helpers", "core", "manager"}
    assert [path for path in FILES if path.stem.strip("_") in vague] == []


def test_nothing_that_runs_content_is_imported_or_called():
    bad = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                runs = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "importlib"}
                allowed = IMPORTLIB.get(path.relative_to(ROOT).as_posix(), set())
                bad += [(path.name, name) for name in names if name.split(".")[0] in runs and name not in allowed]
            elif isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in ("eval", "exec", "compile", "__import__", "torch.jit.load", "np.memmap"):
                    bad.append((path.name, name))
                if name == "torch.load":  # tensors and plain containers alone
                    flags = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                    bad += [(path.name, "torch.load without weights_only=True")] if flags.get("weights_only") != "True" else []
                if name in ("np.load", "numpy.load", "np.savez", "np.savez_compressed", "np.save"):
                    flags = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                    if flags.get("allow_pickle") != "False":
                        bad.append((path.name, f"{name} without allow_pickle=False"))
    assert bad == []


def test_no_assert_is_left_to_what_a_user_can_cause():
    asserts = [(path.name, node.lineno) for path, tree in trees() for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    assert asserts == []


PROBE = """
import sys, time
start = time.perf_counter()
import torch, numpy
torch_spent = time.perf_counter() - start
before = set(sys.modules)
start = time.perf_counter()
import untwine
untwine.VAE  # names are imported when first used; a method brings all methods along
spent = time.perf_counter() - start
import json
roots = {name.split(".")[0] for name in set(sys.modules) - before}
scaled = spent * min(1, 1.2 / torch_spent)
print(json.dumps([scaled, sorted(roots), torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()]))
"""


def probe():
    done = subprocess.run([sys.executable, "-W", "error", "-c", PROBE], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_import_is_quick_and_brings_nothing_heavy_along():
    least = float("inf")
    # What a busy machine adds varies, what the import itself takes does not: the least of a few shows it. Where torch itself
    # takes longer than 1.2 s, the machine is slow or busy by that much, and times are divided by it.
    for _ in range(6):
        spent, roots, unchanged = probe()
        assert [name for name in LAZY if name in roots] == []
        assert unchanged, "an import set one of torch's flags"
        least = min(least, spent)
        if least < 0.3:
            return
    pytest.fail(f"import untwine takes {least:.2f} s beyond torch, but 0.3 s was expected")
