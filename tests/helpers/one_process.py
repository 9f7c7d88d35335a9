"""Several commands of untwine in one new Python process, which imports what they need once."""

import json
import os
import subprocess
import sys
from typing import NamedTuple

CODE = """
import contextlib, io, json, sys
from untwine.cli.app import main

for words in json.loads(sys.argv[1]):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as done:
            code = done.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), file=sys.__stdout__)
"""


class Done(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def run_commands(folder, *commands, path=()):
    """Run commands one after the other in a new process in a folder, with more places to import from; return how each ended."""
    found = os.pathsep.join([*map(str, path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps([[str(word) for word in words] for words in commands])],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": found},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [Done(*json.loads(line)) for line in done.stdout.splitlines()]
