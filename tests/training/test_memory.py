"""Steps do not fetch from the system what the step before has freed."""

import platform
import resource
import subprocess
import sys

import pytest

from untwine.training.memory import keep_freed

SIZE = 2_000_000  # numbers: 8 MB
# In a process of its own, whose memory no other test has cut up.
FAULTS = f"""
import resource
import torch
from untwine.training.memory import keep_freed

def faults(times):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times):
        torch.ones({SIZE})
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with keep_freed():
    faults(2)
    print(min(faults(10) for _ in range(10)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only GNU's C library has the setting that keeps memory")
def test_freed_memory_is_used_again():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    # Fetching anew each time would take 10 times the pages, in every try; what else the system takes back varies.
    assert int(done.stdout) < 3 * (4 * SIZE // resource.getpagesize())


def test_an_error_inside_passes_through():
    with pytest.raises(ZeroDivisionError), keep_freed():
        raise ZeroDivisionError
