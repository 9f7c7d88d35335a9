"""untwine takes data apart with the supervision that people really have."""

from __future__ import annotations

from untwine.latents import Latents
from untwine.samples import Samples

__all__ = ["Latents", "Samples"]
__version__ = "0.1.0"
