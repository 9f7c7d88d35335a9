"""Fits in processes of their own, from a server that has done all imports but no work."""

import multiprocessing

from small import small, vectors


def fit(name, out):
    import torch

    torch.set_num_threads(1)
    small(name, epochs=20).fit(vectors(), out=out, resume=True, every=0)


def start(name, out):
    """Start a fit that writes a checkpoint after every step."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["untwine.study", "untwine.plots", "untwine.metrics", "sklearn.decomposition", "scipy.optimize"]
    )
    process = context.Process(target=fit, args=(name, out))
    process.start()
    return process
