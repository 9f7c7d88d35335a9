"""Codes whose scores are known: perfect ones and what may be done to them."""

import numpy as np


def discrete(n=1500, sizes=(4, 4, 4), seed=0):
    """Return independent classes (n, k), every value as often as any other, and codes that are just these classes."""
    rng = np.random.default_rng(seed)
    factors = np.stack([rng.permutation(np.arange(n) % size) for size in sizes], axis=1)
    return factors.astype(float), factors


def continuous(n=1500, k=3, seed=0):
    """Return independent uniform factors (n, k), and codes that are just these factors."""
    factors = np.random.default_rng(seed).uniform(-1, 1, (n, k))
    return factors.copy(), factors


def rotation(k, seed=None):
    """Return a rotation that mixes every axis with all others alike, or a random one by its seed."""
    if seed is None:
        return np.eye(k) - 2 / k
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(k, k)))[0]


def harmless(codes):
    """Yield codes that tell the same of each factor by one latent each, whatever was done to them."""
    yield codes
    yield codes[:, ::-1]
    yield -3.0 * codes + 7.0
    yield 1e-5 * codes
    yield codes * np.linspace(1.0, 3.0, codes.shape[1])
    yield np.hstack([codes, np.full((len(codes), 2), 0.1)])
    yield codes.astype(np.float32)
