"""Processes of their own from a server that has done all imports but no work: some two seconds of imports less for each."""

import multiprocessing
import os
import sys
import traceback
from pathlib import Path


def context():
    """Return the context of `multiprocessing` whose processes come from that server."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["untwine.study", "untwine.plots", "untwine.metrics", "sklearn.decomposition", "scipy.optimize"]
    )
    return context


def run_code(code, folder, environment):
    """Run Python in a process of its own in a folder, as a script; return its exit code and what it wrote to standard error."""
    log = Path(folder) / ".stderr"
    process = context().Process(target=_run, args=(code, str(folder), str(log), environment))
    process.start()
    process.join()
    text = log.read_text() if log.exists() else ""
    log.unlink(missing_ok=True)
    return process.exitcode, text


def _run(code, folder, log, environment):
    os.environ.update(environment)
    os.chdir(folder)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    import torch

    from untwine.metrics import cross_fitting

    torch.set_num_threads(1)
    cross_fitting.STEPS //= 5  # as in the tests' own process
    try:
        exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
