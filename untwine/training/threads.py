"""One thread for small sums."""

from __future__ import annotations

from contextlib import AbstractContextManager


def one_thread() -> AbstractContextManager[object]:
    """Hold the numerical libraries to one thread: scores are then the same bits for any number of cores.

    And quicker: k-means in a plane and regressions on a few codes are so short that threads mostly wait for each other, forty
    times as long on a machine that has other work.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # a requirement of scikit-learn

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
