"""Fits in processes of their own, from a server that has done all imports but no work."""

from preloaded import context
from small import small, vectors


def fit(name, out):
    import torch

    torch.set_num_threads(1)
    small(name, epochs=12).fit(vectors(), out=out, resume=True, every=0)


def start(name, out):
    """Start a fit that writes a checkpoint after every step."""
    process = context().Process(target=fit, args=(name, out))
    process.start()
    return process
