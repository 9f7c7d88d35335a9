"""Tensors that may be larger than memory: beyond a limit they lie in a memory-mapped file."""

from __future__ import annotations

import math
import os
import tempfile

import torch
from torch import Tensor

SHARE = 0.25  # of the machine's memory that one tensor may take before it goes to a file


def limit() -> int:
    """Return the bytes that one tensor may have in memory."""
    return int(SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def zeros(*shape: int, dtype: torch.dtype, device: torch.device | str = "cpu") -> Tensor:
    """Return zeros, in memory or, where they are too many for it, in a file of the folder for temporary files (TMPDIR).

    The file has no name any more when this returns: its space is free again once the tensor is gone, whatever ends the process.
    """
    device, many = torch.device(device), math.prod(shape)
    if device.type != "cpu" or many * dtype.itemsize <= limit():
        return torch.zeros(shape, dtype=dtype, device=device)
    handle, path = tempfile.mkstemp(prefix="untwine-")
    try:
        os.truncate(path, many * dtype.itemsize)  # zeros that take no space before they are written
        return torch.from_file(path, shared=True, size=many, dtype=dtype).view(shape)
    finally:
        os.close(handle)
        os.unlink(path)
