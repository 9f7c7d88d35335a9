"""The one alias for arrays of any type."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
