"""Networks between rows and two codes, class and content, by name.

`adain` has the networks of paper 004. `mlp` is the same idea without pixels: layers of the content code, whose last hidden
units the class code scales and shifts. Every other name of the table of networks draws from both codes side by side. `auto`
is `mlp`, as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from untwine.networks import select_networks
from untwine.networks.adain import AdaINEncoder, AdaINGenerator, Modulation
from untwine.networks.mlp import layers

ADAIN_WIDTH = 8
OWN = ("generator", "class_encoder", "content_encoder")


class ModulatedMLP(nn.Module):
    """From the content code to rows of any shape through two hidden layers; the class code scales and shifts the second."""

    def __init__(self, shape: tuple[int, ...], n_class: int, n_content: int, width: int) -> None:
        super().__init__()
        self.shape = shape
        self.hidden = nn.Sequential(*layers(n_content, width, width), nn.LeakyReLU(0.2))
        self.modulation = Modulation(n_class, width)
        self.last = nn.Linear(width, math.prod(shape))

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        x = self.hidden(c)
        x = self.modulation(functional.layer_norm(x, x.shape[1:]), e)
        return self.last(x).view(-1, *self.shape)  # type: ignore[no-any-return]


class SideBySide(nn.Module):
    """A decoder that is given both codes as one."""

    def __init__(self, decoder: nn.Module) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        return self.decoder(torch.cat([e, c], 1))  # type: ignore[no-any-return]


class Generator(nn.Module):
    """Rows in the networks' units from both codes: of images, the sigmoid of what the inner network gives."""

    def __init__(self, inner: nn.Module, images: bool) -> None:
        super().__init__()
        self.inner, self.images = inner, images

    def forward(self, e: Tensor, c: Tensor) -> Tensor:
        """Map class codes (n, n_class) and content codes (n, n_content) to (n, *shape)."""
        x = self.inner(e, c).to(e.dtype)
        return torch.sigmoid(x) if self.images else x


class Asks(Protocol):
    """The fields of a method that say which networks it wants."""

    networks: str
    width: int | None
    n_class: int
    n_content: int


def build_generator(asks: Asks, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> Generator:
    """Return the generator that a method asks for, or the user's own: from both codes to (n, *shape), logits for images."""
    name, inner = _named(asks.networks, shape), own.get("generator")
    if inner is not None:
        codes = (torch.zeros(2, asks.n_class), torch.zeros(2, asks.n_content))
        _try("generator", inner, codes, (2, *shape))
    elif name == "adain":
        inner = AdaINGenerator(shape, asks.n_class, asks.n_content, asks.width or ADAIN_WIDTH)
    elif name == "mlp":
        inner = ModulatedMLP(shape, asks.n_class, asks.n_content, asks.width or select_networks(name, shape).width)
    else:
        pair = select_networks(name, shape)
        inner = SideBySide(pair.decoder(asks.n_class + asks.n_content, shape, asks.width or pair.default_width))
    return Generator(inner, images=len(shape) == 3)


def build_encoder(part: str, out: int, asks: Asks, shape: tuple[int, ...], own: Mapping[str, nn.Module]) -> nn.Module:
    """Return the encoder of a part ("class" or "content") to `out` numbers, or the user's own, `class_encoder` for instance."""
    name, mine = _named(asks.networks, shape), own.get(f"{part}_encoder")
    if mine is not None:
        _try(f"{part}_encoder", mine, (torch.zeros(2, *shape),), (2, out))
        return mine
    if name == "adain":
        return AdaINEncoder(shape, out, asks.width or ADAIN_WIDTH)
    pair = select_networks(name, shape)
    return pair.encoder(shape, out, asks.width or pair.default_width)


def check_module_names(own: Mapping[str, nn.Module], known: Sequence[str] = OWN) -> None:
    """Refuse modules that no network of the method is called after."""
    if unknown := set(own) - set(known):
        raise ValueError(f"networks expected modules named {', '.join(known)}; got {', '.join(sorted(unknown))}.")


def _named(networks: str, shape: tuple[int, ...]) -> str:
    if networks == "auto":
        return "mlp"
    if networks == "adain" and len(shape) != 3:
        raise ValueError(
            f"networks='adain' must be images (C, H, W), but the rows are vectors of {shape[0]}; use networks='mlp'."
        )
    return networks


def _try(name: str, module: nn.Module, given: tuple[Tensor, ...], wanted: tuple[int, ...]) -> None:
    try:
        with torch.no_grad():
            got: object = tuple(module(*given).shape)
    except (RuntimeError, AttributeError, TypeError) as error:
        got = f"an error ({' '.join(str(error).split())})"
    if got != wanted:
        came = " and ".join(str(tuple(one.shape)) for one in given)
        raise ValueError(f"the {name} expected to map {came} to {wanted}, but gives {got}.")
