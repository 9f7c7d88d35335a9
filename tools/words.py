"""Find private words where the field has its own: in names, docstrings, comments and messages of the code, and in documents.

    python tools/words.py              all files of FILES below
    python tools/words.py PATH ...     these files or folders

Prints `file:line: 'the words' -> what to write instead` and exits with 1 if there are any. `make words` runs it. What must
keep a word goes to EXCEPTIONS, with the reason.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FILES = ("untwine", "tests", "benchmarks", "studies", "docs", "README.md", "CONTRIBUTING.md")

# Where a rule looks:
#   text      docstrings, comments, strings, documents, comments of studies, and names with spaces for their underscores
#   message   strings that are no docstrings; an f-string is one, with {} for its values
#   bound     names of variables, arguments, fields and attributes
#   function  names of functions and classes
#   binding   `name = value` and `name: annotation`, as written
TEXT, MESSAGE, BOUND, FUNCTION, BINDING = "text", "message", "bound", "function", "binding"


class Rule(NamedTuple):
    """A pattern (its spaces match line breaks too), what to write, where to look, an example, and the folders it is for."""

    pattern: str
    instead: str
    where: tuple[str, ...]
    example: str
    under: tuple[str, ...] = ("",)


class Exempt(NamedTuple):
    """Files, a pattern that the words and 60 characters around them must match, and why the words stay."""

    files: str
    pattern: str
    reason: str


class Piece(NamedTuple):
    """One piece of a file: what it is, its first line and its text."""

    kind: str
    line: int
    text: str


class Hit(NamedTuple):
    """One place where a word stands."""

    file: str
    line: int
    words: str
    instead: str


BLOCKS = "salient|common|class|content|latent"
CODES = rf"codes?|latents?|blocks?|{BLOCKS}"
RULES = (
    Rule(r"\w*pictur(e|es|ed|ing)\b", "image", (TEXT,), "# a picture of grass"),
    Rule(
        r"\bexpected\b[^.]*(\bbut\b|; got\b)|\bbut got\b",
        "X must be ...; got ...; what to do.",
        (MESSAGE,),
        'raise ValueError("x expected two axes, but got one.")',
    ),
    Rule(r"\bdear(er|est|ly)?\b", "heavily penalised", (TEXT,), "# a dear code"),
    Rule(
        rf"\bcheap\w* ({CODES})\b|\b({CODES}) (is|are|be|then)( \w+)? cheap\w*",
        "lightly penalised",
        (TEXT,),
        "# these codes are then cheaper",
    ),
    Rule(
        r"\bsilen(ce|ces|ced|cing|t)\b",
        "background salient penalty; collapsed (of a block)",
        (TEXT,),
        "# the silence of the background",
    ),
    Rule(
        r"\b(open|own)_eyes?\b|\b(an|(?<!to )the|which|other|any|this|one) eye\b", "feature extractor", (TEXT,), "# open_eye(x)"
    ),
    Rule("(open_|own_|other_)?eyes?", "extractor", (BOUND, FUNCTION), "def measure(eye): pass"),
    Rule(r"\bsaid of\b", "likelihood p(x | z)", (TEXT,), "# what is said of x"),
    Rule(r"\bknowing nothing\b", "constant-predictor baseline; chance level", (TEXT,), "# the score of knowing nothing"),
    Rule(
        r"(?<!\bstandard )(?<!\babsolute )\bdeviations?\b(?! (from|of (the|our) method)\b)",
        "standard deviation, std",
        (TEXT,),
        "# the deviation of a code",
    ),
    Rule(r"(?!test_)(\w+_)?(deviations?|spreads)", "std, posterior_std", (BOUND, FUNCTION), "deviation = 1.0"),
    Rule(
        r"(?<!\bKL )(?<!KL-)(?<!Leibler )(?<!Shannon )(?<!Jeffreys )(?<!f-)\bdivergences?\b",
        "KL",
        (TEXT,),
        "# the divergence of a code",
    ),
    Rule(rf"\b({BLOCKS}|target|background|swapped|removed) parts?\b", "block, latent block", (TEXT,), "# the salient part"),
    Rule(
        r"\b(each|every|other|own) part\b(?! of)|\b(the|both|two|all|random|new|other) parts\b(?! of (a|an|the|speech)\b)",
        "block (of codes), split (of data)",
        (TEXT,),
        "# each part is scored",
    ),
    Rule(r"\b(test|testing|train|training|validation|held-out|scored) parts?\b", "split", (TEXT,), "# rows of the test part"),
    Rule(r"--parts?\b", "--block (of codes), --split (of data)", (TEXT,), "# untwine swap --part salient"),
    Rule(
        "parts?", "block (of codes), split (of data)", (BOUND, FUNCTION), "for part in z: pass", ("untwine", "benchmarks")
    ),  # in tests it may be a module of a network
    Rule(r"(?!test_)\w+_parts?", "block (of codes), split (of data)", (BOUND, FUNCTION), "swapped_part = z"),
    Rule(
        r"\brows of data\b|\b(target|background|training|test|validation|held-out|labelled|data) rows\b",
        "samples",
        (TEXT,),
        "# the target rows",
    ),
    Rule(r"\bfor choosing\b", "validation split", (TEXT,), "# kept for choosing"),
    Rule(r"\bsame bits\b", "bit-exact; resuming is bit-exact", (TEXT,), "# goes on with the same bits"),
    Rule(
        r"\b(told|tells)\b(?! (\w+ ){0,3}apart\b)|\btell (of|nothing|most|more|less|little|which)\b",
        "is predicted from, encodes, shows",
        (TEXT,),
        "# the code tells the class",
    ),
    Rule(
        rf"\bread(s|ing)? off\b|\bread from ((the|a|its|each|both|this|another) )?({CODES}|parts?|z|it)\b",
        "predicted from; linear-probe accuracy",
        (TEXT,),
        "# a class read from its codes",
    ),
    Rule(
        "probed|leaked|placed|framed|pictured|kept|used|both|yes|no|told|said|made|found|seen|held|moved",
        "a verb or a noun (probe, leakage, to_tanh_range, checkpointing, gather_groups, bce_real, ...)",
        (FUNCTION,),
        "def probed(): pass",
    ),
    Rule(
        "said|made|found|seen|told|came|asked",
        "spec, generated, result, features, ...",
        (BOUND,),
        "found = []",
        ("untwine", "benchmarks"),
    ),
    Rule(r"chance\b(?=.*(default_rng|Generator|RandomState))", "rng", (BINDING,), "chance = np.random.default_rng(0)"),
    Rule(r"\b(latent|the|a) walks?\b|\bwalks? along\b", "traversal", (TEXT,), "# a walk along a latent"),
    Rule(r"(?!test_)(\w+_)?walks?", "traverse, traversal", (BOUND, FUNCTION), "def walk(): pass"),
    Rule(r"\bpaper 00\d\b", "authors and year", (TEXT,), "# as in paper 003"),
    Rule(r"\bwhole numbers?\b", "integer", (TEXT,), "# a whole number"),
)

EXCEPTIONS = (
    Exempt(
        "*",
        r"a line for each deviation|\bDeviations?\b",
        "the deviations from a paper, in a method's docstring or page",
    ),
    Exempt("untwine/methods/pca.py", r"\bdeviation\b", "the name of a saved buffer"),
    Exempt("tests/runs/test_compatibility.py", "pictures", "the value that earlier run folders hold"),
    Exempt("untwine/runs/compatibility.py", "pictures", "the value that earlier run folders hold"),
    Exempt("tests/helpers/affectnet_files.py", r"\beye\b", "an eye of a drawn face"),
    Exempt("tests/evaluation/test_gallery.py", "told", "a stored key of galleries"),
    Exempt("untwine/study/*.py", r"\bpart\b|training part", "a stored field of cells and a key of study files"),
    Exempt("tests/study/*.py", r"\bpart\b|training part", "a stored field of cells and a key of study files"),
    Exempt("studies/*.toml", r"\bpart = |learn = ", "keys of study files, in the fingerprints of finished cells"),
    Exempt("docs/tutorials/studies.md", r"part = |learn = |`part`|training part", "keys of study files"),
    # A gene that a cell type does not express is silent.
    *(
        Exempt(files, r"silen(t|ce)", "genes that a cell type does not express")
        for files in (
            "benchmarks/cells.py",
            "docs/data/simulated_cells.md",
            "docs/results.md",
            "studies/cells.toml",
            "tests/benchmarks/test_*.py",
            "tests/data/test_simulated_cells.py",
            "untwine/data/sets/simulated_cells.py",
            "untwine/runs/compatibility.py",
        )
    ),
)


def pieces(path: Path) -> Iterator[Piece]:
    """Return what a file says, piece by piece."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Piece(TEXT, 1, content)
    elif path.suffix == ".toml":
        yield from (Piece(TEXT, at, line) for at, line in enumerate(content.splitlines(), 1))
    else:
        yield from _comments(content)
        yield from _names(1, path.stem.removeprefix("test_"), BOUND)
        yield from _code(ast.parse(content))


def _comments(content: str) -> Iterator[Piece]:
    """Return comments; those of lines that follow each other are one."""
    lines: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            if lines and token.start[0] != last + 1:
                yield Piece(TEXT, first, "\n".join(lines))
                lines = []
            first, last = first if lines else token.start[0], token.start[0]
            lines.append(token.string.lstrip("# "))
    if lines:
        yield Piece(TEXT, first, "\n".join(lines))


def _code(tree: ast.Module) -> Iterator[Piece]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr):
            docstring = node.body[0].value
            if isinstance(docstring, ast.Constant) and isinstance(docstring.value, str):
                skipped.add(id(docstring))
                yield Piece(TEXT, docstring.lineno, docstring.value)
        if isinstance(node, ast.JoinedStr):
            values = [one.value if isinstance(one, ast.Constant) else "{}" for one in node.values]
            skipped |= {id(one) for one in node.values}
            text = "".join(map(str, values))
            yield Piece(TEXT, node.lineno, text)
            yield Piece(MESSAGE, node.lineno, text)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield Piece(TEXT, node.lineno, node.value)
            yield Piece(MESSAGE, node.lineno, node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from _names(node.lineno, node.name, FUNCTION)
        elif isinstance(node, ast.arg):
            yield from _names(node.lineno, node.arg, BOUND)
            if node.annotation is not None:
                yield Piece(BINDING, node.lineno, f"{node.arg}: {ast.unparse(node.annotation)}")
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield from _names(node.lineno, node.id if isinstance(node, ast.Name) else node.attr, BOUND)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            right = "" if node.value is None else ast.unparse(node.value)
            right += ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
            names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            yield from (Piece(BINDING, node.lineno, f"{name} = {right}") for name in names)


def _names(line: int, name: str, kind: str) -> Iterator[Piece]:
    yield Piece(kind, line, name)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.removeprefix("test_")).replace("_", " ").strip()
    if " " in words:
        yield Piece(TEXT, line, words)


def search(path: Path, name: str) -> list[Hit]:
    """Return where a file has words of the rules; `name` is its path in the repository."""
    hits: dict[Hit, None] = {}
    for piece in pieces(path):
        runs = [run.group().count("\n") for run in re.finditer(r"\s+", piece.text)]
        text = re.sub(r"\s+", " ", piece.text)
        for rule in RULES:
            if piece.kind not in rule.where or not name.startswith(rule.under):
                continue
            whole = piece.kind in (BOUND, FUNCTION)
            for match in [re.fullmatch(rule.pattern, text, re.I)] if whole else re.finditer(rule.pattern, text, re.I):
                if match is not None and not _exempt(name, text, match):
                    line = piece.line + sum(runs[: text.count(" ", 0, match.start())])
                    hits[Hit(name, line, match.group(), rule.instead)] = None
    return sorted(hits)


def _exempt(name: str, text: str, match: re.Match[str]) -> bool:
    around = text[max(match.start() - 60, 0) : match.end() + 60]
    return any(fnmatch(name, one.files) and re.search(one.pattern, around) for one in EXCEPTIONS)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Return the files to look at, results of studies left out."""
    for path in paths:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (one for one in inside if one.suffix in (".py", ".md", ".toml"))


def main(arguments: list[str]) -> int:
    """Print every hit, and return 1 if there is one."""
    paths = [Path(argument).resolve() for argument in arguments] or [ROOT / name for name in FILES]
    named = ((path, str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name) for path in files(paths))
    hits = [hit for path, name in named for hit in search(path, name)]
    for hit in hits:
        print(f"{hit.file}:{hit.line}: {hit.words!r} -> {hit.instead}")
    if hits:
        print(f"{len(hits)} places; the words to write instead are in tools/words.py, and so are the exceptions.")
    return int(bool(hits))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
