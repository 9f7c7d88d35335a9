"""Keep the memory that one step frees for the next.

The C library gives freed memory back to the system whenever enough of it lies at the end of the heap, and every step fetches it
anew, page by page: some thousands of page faults, up to a tenth of a step of small convolutional networks. While a method is
trained, up to `KEPT` bytes of freed memory stay; afterwards at most as much stays as the library's own adaptation would keep.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager

MEGABYTE = 2**20
KEPT = 1024 * MEGABYTE
LARGEST = 32 * MEGABYTE  # of a block on the heap: larger ones are not possible, and are returned to the system at once
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers of mallopt(3)


@contextmanager
def keep_freed() -> Iterator[None]:
    """Let freed memory stay with the process; does nothing where the C library is not GNU's."""
    if platform.libc_ver()[0] != "glibc":
        yield
        return
    library = ctypes.CDLL(None)
    library.mallopt(MMAP_THRESHOLD, LARGEST)
    library.mallopt(TRIM_THRESHOLD, KEPT)
    try:
        yield
    finally:
        library.mallopt(TRIM_THRESHOLD, 2 * LARGEST)
