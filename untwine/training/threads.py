"""A single thread for small computations."""

from __future__ import annotations

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[object]:
    """Limit the numerical libraries to one thread: scores are then bit-equal for any number of cores.

    It is also faster: k-means in a plane and regressions on a few codes are so short that threads mostly wait for each other,
    forty times as long on a busy machine.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # a requirement of scikit-learn

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
