"""The user's own modules in place of a method's networks: their names, and a forward pass that checks their shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn


def check_module_names(own: Mapping[str, nn.Module], names: Sequence[str]) -> None:
    """Refuse modules with a name that no network of the method has."""
    if unknown := sorted(set(own) - set(names)):
        raise ValueError(f"networks must be modules named {' or '.join(names)}; got {', '.join(unknown)}; rename or omit them.")


def check_output_shape(name: str, module: nn.Module, inputs: tuple[Tensor, ...], shape: tuple[int, ...]) -> None:
    """Refuse a module that does not map these inputs to an output of that shape."""
    try:
        with torch.no_grad():
            output: object = tuple(module(*inputs).shape)
    except (RuntimeError, AttributeError, TypeError) as error:
        output = f"an error ({' '.join(str(error).split())})"
    if output != shape:
        given = " and ".join(str(tuple(one.shape)) for one in inputs)
        raise ValueError(f"the {name} must map {given} to {shape}; got {output}; change the module's layers.")
