"""Steps do not fetch from the system what the step before has freed."""

import platform
import resource

import pytest
import torch

from untwine.memory import kept

SIZE = 2_000_000  # numbers: 8 MB


def faults(times):
    """Page faults of allocating, filling and freeing a large block so many times."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        torch.ones(SIZE)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only GNU's C library can be told to keep memory")
def test_freed_memory_is_used_again():
    pages = 4 * SIZE // resource.getpagesize()
    with kept():
        faults(2)
        assert faults(10) < 3 * pages  # fetching anew each time would take 10


def test_an_error_inside_passes_through():
    with pytest.raises(ZeroDivisionError), kept():
        raise ZeroDivisionError
