"""The threads of the numerical libraries: how many there are, and how they wait for each other."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager

from untwine.registry.checks import check_int

# Rounds of waiting after which a thread of GNU OpenMP sleeps, and milliseconds for those of LLVM and Intel. By default they
# spin for long, and on a busy machine two threads may then be several times slower than one.
WAIT_POLICY: Mapping[str, str] = {"GOMP_SPINCOUNT": "10000", "KMP_BLOCKTIME": "1"}
WAIT_VARIABLES = ("OMP_WAIT_POLICY", *WAIT_POLICY)


def wait_policy(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that make waiting threads sleep soon; none where the user has set one of them."""
    return {} if any(name in environment for name in WAIT_VARIABLES) else dict(WAIT_POLICY)


def sleep_while_waiting() -> None:
    """Make waiting threads of this process sleep soon. It must be called before torch is imported, and else does nothing.

    Only programs of our own call it, the command line and the workers of studies: `import untwine` changes no environment.
    """
    if "torch" not in sys.modules:
        os.environ.update(wait_policy(os.environ))


def set_threads(threads: int | None) -> None:
    """Use this number of threads in torch and in the numerical libraries; None leaves it to them."""
    if threads is None:
        return
    check_int("threads", threads, 1)
    if "torch" not in sys.modules:  # libraries that are loaded later see it too
        os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)))
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # a requirement of scikit-learn

    torch.set_num_threads(threads)
    threadpool_limits(threads)


def one_thread() -> AbstractContextManager[object]:
    """Limit the numerical libraries to one thread: scores are then bit-equal for any number of cores.

    It is also faster: k-means in a plane and regressions on a few codes are so short that threads mostly wait for each other,
    forty times as long on a busy machine.
    """
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
