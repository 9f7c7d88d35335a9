"""Samples of one source in both groups: how they are drawn, the term, what it is good for, and what is refused."""

import numpy as np
import pytest
import torch
from small import small

import untwine as un
from untwine import Samples
from untwine.metrics.probe_strong import strong_factor_r2
from untwine.training.batches import TrainingData


def before_and_after(n, seed):
    """Three common factors; the response of the target is also along the direction of the first of them."""
    W = np.linalg.qr(np.random.default_rng(7).standard_normal((10, 4)))[0].T
    rng = np.random.default_rng(seed)
    z, r = rng.standard_normal((n, 3)), rng.standard_normal((n, 1))
    before, after = (3 * z @ W[:3] + 0.3 * rng.standard_normal((n, 10)) for _ in range(2))
    after = after + 2 * r * (0.6 * W[0] + 0.8 * W[3])
    factors = np.vstack([np.hstack([z, 0 * r]), np.hstack([z, r])])
    return Samples(np.vstack([before, after]), groups=np.repeat([0, 1], n), factors=factors, sources=np.tile(np.arange(n), 2))


def unequal():
    """Sources with one to three samples of the background, and one or two targets; one source has no target."""
    sources = np.array([0, 1, 1, 2, 2, 2, 3, 0, 1, 2, 2])
    groups = np.array([0] * 7 + [1] * 4)
    return Samples(np.random.default_rng(0).normal(size=(11, 6)), groups=groups, sources=sources)


def started(data, **changes):
    method = small("principled_vae", pairs=True, precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    x = method._standard(torch.from_numpy(data.x))
    return method, stage, TrainingData.of(data, x, torch.float64, torch.device("cpu"))


def test_a_step_draws_a_target_and_a_background_sample_of_its_source():
    data = unequal()
    _, stage, rows = started(data, batch=4)
    seen = set()
    for epoch in range(40):
        order = rows.order(stage, 0, epoch)
        targets, partners = order[:, 0].ravel(), order[:, 1].ravel()
        assert (data.groups[targets] == 1).all()
        assert (data.groups[partners] == 0).all()
        assert (data.sources[targets] == data.sources[partners]).all()
        seen |= set(partners.tolist())
    assert seen == {0, 1, 2, 3, 4, 5}  # every sample of the background but that of a source without a target


def test_the_term_is_the_mean_squared_distance_of_the_pairs():
    data = before_and_after(40, 0)
    method, stage, rows = started(data, lambda_z=3.0)
    batch = rows.batch(rows.order(stage, 0, 0)[0], (0, 0, 0), stage.batches)
    ((_, terms),) = stage.step(batch, 0)
    mu = method.nets_["vae"].encode(batch.x)["common"].mu
    torch.testing.assert_close(terms["w2"], 3.0 * (mu[:16] - mu[16:]).square().sum(1).mean())


def test_pairs_keep_the_response_out_of_the_common_block_and_its_factors_in():
    train, test = before_and_after(300, 1), before_and_after(1000, 2).target
    leaks, kept = {}, {}
    for pairs in (False, True):
        method = un.PrincipledVAE.fixed(n_common=3, n_salient=1, width=64, epochs=60, pairs=pairs).fit(train)
        result = strong_factor_r2(method.encode(test).common, test.factors)
        kept[pairs], leaks[pairs] = result.per_factor[0], result.per_factor[3]
    assert leaks[True] < 0.03 < leaks[False]
    assert kept[True] > 0.93 > kept[False] + 0.05


def test_samples_that_are_not_paired_are_refused_before_training():
    data = before_and_after(20, 0)
    with pytest.raises(ValueError, match="pairs=True needs the source of every sample; got none; pass Samples"):
        small("principled_vae", pairs=True).fit(data.x, data.groups)
    with pytest.raises(ValueError, match="of every target's source; 3 of 20 targets have none; leave those out"):
        small("principled_vae", pairs=True).fit(data[3:])
    with pytest.raises(ValueError, match="pairs=True needs salient='shared'; got 'per_target'; choose one"):
        small("principled_vae", pairs=True, salient="per_target").fit(data)
