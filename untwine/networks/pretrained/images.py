"""Arrays of images as the tensors that pretrained networks take."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from untwine._typing import Array
from untwine.training.batches import as_float


def image_tensor(images: Array) -> Tensor:
    """Return images (n, C, H, W), uint8 or floats in [0, 1], as a float32 tensor in [0, 1]."""
    return as_float(torch.as_tensor(np.ascontiguousarray(images)), torch.float32)
