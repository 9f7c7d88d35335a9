"""The encoder and the decoder of a fitted method as plain modules of tensors, and as graphs traced by `torch.export`.

They take and return samples as `encode` and `decode` do: vectors in the units of the data, standardised inside; images as
float32 in [0, 1]. Graphs are of single precision, whatever the precision of the fit. What is known of each sample beside its
values is an input of its own (`untwine.export.conditions`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from untwine._typing import Array
from untwine.export.conditions import COVARIATES, as_input, conditions_among, ports, random_covariates
from untwine.method.contract import Method
from untwine.method.covariates import LIBRARY, as_columns
from untwine.samples import Samples

EXAMPLES = 3  # samples of the trace; neither 0 nor 1, which torch.export would take for constants
CHECKED = (1, 2, 9)  # batches on which a graph is compared with the method
TOLERANCE = 1e-4  # of the largest difference, relative to the largest value where that is above 1


class EncoderGraph(nn.Module):
    """From samples (n, *shape) to the codes (n, width) of every block, in the order of `method.blocks`, and library sizes."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.nets, self.of = method.nets_, (method,)  # in a tuple: not a module

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the codes block by block, then the library sizes (n, 1) of counts."""
        (method,) = self.of
        known = dict(zip(ports(method)["encoder"].inputs, inputs, strict=True))
        x = known["x"]
        if len(method.shape_) == 1:
            units = method.nets_["units"]
            x = (x - units.centre) / units.spread
        view = method.given(conditions_among(known))
        codes = view.codes(x)
        if method.counts:
            codes = {**codes, **view.library_sizes(x)}
        return tuple(codes[name] for name in ports(method)["encoder"].outputs)


class DecoderGraph(nn.Module):
    """From the codes (n, width) of every block, in the order of `method.blocks`, and conditions to samples (n, *shape)."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.nets, self.of = method.nets_, (method,)

    def forward(self, *inputs: Tensor) -> Tensor:
        """Return samples: images in [0, 1], vectors in the units of the data."""
        (method,) = self.of
        known = dict(zip(ports(method)["decoder"].inputs, inputs, strict=True))
        x = method.given(conditions_among(known)).generate({name: known[name] for name in method.blocks})
        if len(method.shape_) == 1:
            units = method.nets_["units"]
            x = x * units.spread + units.centre
        return x


def trace(method: Method) -> dict[str, torch.export.ExportedProgram]:
    """Return the graphs `encoder` and `decoder` of a fitted method, for any number of samples, on the CPU."""
    method = on_cpu(method)
    method.nets_.float()
    widths = {**method.blocks, COVARIATES: method.n_covariates, LIBRARY: 1}
    example = {name: torch.zeros(EXAMPLES, width) for name, width in widths.items()} | {LIBRARY: torch.ones(EXAMPLES, 1)}
    example["x"] = torch.from_numpy(random_samples(method, EXAMPLES, seed=0))
    with quiet(), torch.no_grad():
        return {
            graph: _trace(method, does, kind(method), tuple(example[name] for name in ports(method)[graph].inputs))
            for graph, does, kind in (("encoder", "encode", EncoderGraph), ("decoder", "decode", DecoderGraph))
        }


def _trace(method: Method, does: str, graph: nn.Module, inputs: tuple[Tensor, ...]) -> Any:
    shapes = (tuple({0: torch.export.Dim.DYNAMIC} for _ in inputs),)
    try:
        return torch.export.export(graph.eval(), inputs, dynamic_shapes=shapes)
    except Exception as error:  # whatever the method or the user's own modules do that is no graph
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ValueError(
            f"{method.name} must {does} by one pass of tensors through its networks to be exported; this run does not "
            f"({type(error).__name__}: {reason.rstrip('.')}); fit it with encoders (lord: epochs_encoders above 0) and "
            "networks without decisions in Python."
        ) from error


def on_cpu(method: Method) -> Method:
    """Return the same method with its networks copied to the CPU in the usual memory format."""
    if not hasattr(method, "nets_"):
        raise ValueError(f"this {type(method).__name__} is not fitted; call fit, or load one with load_method.")
    twin = copy.copy(method)
    nets: Any = copy.deepcopy(method.nets_)
    twin.nets_ = nets.cpu().to(memory_format=torch.contiguous_format).eval()
    twin.device_ = torch.device("cpu")
    return twin


def random_samples(method: Method, n: int, seed: int) -> Array:
    """Return n samples such as the method takes: vectors with mean and std of the training ones, counts, or random images."""
    rng = np.random.default_rng(seed)
    if len(method.shape_) > 1:
        return rng.random((n, *method.shape_), dtype=np.float32)
    if method.counts:
        return rng.poisson(3.0, size=(n, *method.shape_)).astype(np.float32)
    units = method.nets_["units"]
    x: Array = units.centre.cpu().numpy() + units.spread.cpu().numpy() * rng.normal(size=(n, *method.shape_))
    return x.astype(np.float32)


def largest_difference(method: Method, run: Mapping[str, Any]) -> dict[str, float]:
    """Return the largest difference between a method and its graphs on random samples; refuse graphs that differ.

    Parameters
    ----------
    method
        The fitted method.
    run
        `encoder` and `decoder`: functions of arrays that return a list of arrays.
    """
    method, worst = on_cpu(method), {"encoder": 0.0, "decoder": 0.0}
    for n in CHECKED:
        pairs = _expected_and_got(method, run, n)
        for graph, (expected, got) in pairs.items():
            for one, other in zip(expected, got, strict=True):
                difference = float(np.abs(one - other).max())
                worst[graph] = max(worst[graph], difference)
                if not difference <= TOLERANCE * max(1.0, float(np.abs(one).max())):
                    raise ValueError(
                        f"the {graph} written must give what {method.name} gives; it differs by {difference:.3g} on random "
                        "samples; nothing was written; export with another format, and report it."
                    )
    return worst


def _expected_and_got(method: Method, run: Mapping[str, Any], n: int) -> dict[str, tuple[list[Array], list[Array]]]:
    """Return what a method and its graphs give for n random samples, which are decoded with covariates of others."""
    x, mine, others = random_samples(method, n, seed=n), random_covariates(method, n, n), random_covariates(method, n, n + 1)
    z = method.encode(x if mine is None else Samples(x, covariates=mine))
    known = {**z, **({LIBRARY: z.conditions[LIBRARY][:, None]} if method.counts else {})}
    known = {name: values.astype(np.float32) for name, values in known.items()}
    decoded = method.decode(z, covariates=None if others is None else as_columns(others))
    names = ports(method)
    inputs = {"encoder": {"x": x}, "decoder": known}
    for graph, covariates in (("encoder", mine), ("decoder", others)):
        if covariates is not None:
            inputs[graph] = {**inputs[graph], COVARIATES: as_input(method, covariates)}
    expected = {"encoder": [known[name] for name in names["encoder"].outputs], "decoder": [decoded]}
    return {graph: (expected[graph], run[graph](*(inputs[graph][name] for name in names[graph].inputs))) for graph in names}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the exporter's own warnings, which are about its internals, from the user."""
    import logging

    loggers = [logging.getLogger(name) for name in ("torch.onnx", "torch.export", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
