"""A salient block for each target: the terms by hand, what a step holds, names, saved runs, and who refuses."""

import itertools

import numpy as np
import pytest
import torch
from small import small, treatments, vectors
from torch.distributions import Normal, kl_divergence

import untwine as un
from untwine import Samples
from untwine.losses.mmd import mmd_squared
from untwine.methods.sep_vae import pairs
from untwine.methods.shared.inferred import PER_TARGET
from untwine.training.batches import TrainingData


def started(name, **changes):
    """A method before its first step, the step, and a batch of it: 16 samples of each of three targets and the background."""
    data = treatments()
    method = small(name, salient="per_target", precision="float64", **changes)
    method._prepare(data, {})
    (stage,) = method.stages()
    rows = TrainingData.of(data, method._standard(torch.from_numpy(data.x)), torch.float64, torch.device("cpu"))
    index = rows.order(stage, 0, 0)[0]
    return method, stage, rows.batch(index, (0, 0, 0), stage.batches), data.groups[index]


def standard_kl(code):
    return kl_divergence(Normal(code.mu, torch.exp(0.5 * code.logvar)), Normal(0.0, 1.0)).sum(1)


@pytest.mark.parametrize("name", PER_TARGET)
def test_one_target_takes_the_very_steps_of_two_groups(name):
    options = {"lambda_s": 2.5} if name == "contrastive_vae" else {}
    shared, own = (small(name, salient=kind, **options).fit(vectors()) for kind in ("shared", "per_target"))
    assert own.blocks == {"common": 4, "salient_target": 3}
    states = [method.nets_.state_dict().values() for method in (shared, own)]
    assert all(torch.equal(a, b) for a, b in zip(*states, strict=True))
    assert shared.history_ == own.history_


@pytest.mark.parametrize("name", PER_TARGET)
def test_every_step_holds_as_many_samples_of_every_group(name):
    _, stage, _, groups = started(name)
    assert groups.shape == (4, 16)
    assert [set(pool) for pool in groups.tolist()] == [{1}, {2}, {3}, {0}]
    data = treatments()
    rows = TrainingData.of(data, torch.from_numpy(data.x), torch.float32, torch.device("cpu"))
    order = rows.order(stage, 0, 0)
    assert len(order) == 4  # one pass over the largest group, 50 samples
    for pool, group in enumerate((1, 2, 3, 0)):
        counts = np.bincount(order[:, pool].ravel(), minlength=len(data))[data.groups == group]
        assert counts.min() >= 64 // len(counts)  # no sample of a small target comes again before all others have come
        assert counts.max() <= 64 // len(counts) + 1


def test_the_terms_of_the_principled_vae_by_hand():
    method, stage, batch, _ = started("principled_vae", beta_common=1.5, beta_salient=0.3, lambda_s=2.0, lambda_z=3.0)
    noise = started("principled_vae")[2]
    eps_z, eps_s = noise.noise(4), noise.noise(9)
    ((player, terms),) = stage.step(batch, 0)
    assert player == "vae"
    nets = method.nets_["vae"]
    z, *s = nets.encode(batch.x).values()
    pools = [slice(16 * i, 16 * (i + 1)) for i in range(4)]
    torch.testing.assert_close(terms["kl_common"], 1.5 * sum(standard_kl(z)[pool].mean() for pool in pools))
    own = sum(standard_kl(s[k])[pools[k]].mean() for k in range(3))  # of each block on its own target alone
    torch.testing.assert_close(terms["kl_salient"], 0.3 * own)
    moment = [(code.mu.square() + code.logvar.exp()).sum(1) for code in s]
    elsewhere = sum(moment[k][pools[group]].mean() for k, group in itertools.product(range(3), range(4)) if group != k)
    torch.testing.assert_close(terms["salient_penalty"], 2.0 * elsewhere)
    w2 = sum(assignment(z.mu[pools[k]], z.mu[pools[3]]) for k in range(3))
    torch.testing.assert_close(terms["w2"], 3.0 * w2)
    drawn = torch.zeros(64, 9, dtype=torch.float64)  # all but a target's own block is 0 when it is decoded
    for k in range(3):
        columns = slice(3 * k, 3 * (k + 1))
        mu, std = s[k].mu[pools[k]], torch.exp(0.5 * s[k].logvar[pools[k]])
        drawn[pools[k], columns] = mu + std * eps_s[pools[k], columns]
    codes = z.mu + torch.exp(0.5 * z.logvar) * eps_z
    each = sum(nets.reconstruction(batch.x[pool], codes[pool], drawn[pool]) for pool in pools)
    torch.testing.assert_close(terms["reconstruction"], each)


def assignment(a, b):
    from scipy.optimize import linear_sum_assignment

    cost = torch.cdist(a, b).square()
    rows, columns = linear_sum_assignment(cost.detach().numpy())
    return cost[rows, columns].mean()


def test_the_terms_of_mm_cvae_match_every_block_with_zero_on_every_group_but_its_target():
    method, stage, batch, _ = started("mm_cvae", lambda_s=2.0, lambda_z=3.0)
    noise = started("mm_cvae")[2]
    eps_z, eps_s = noise.noise(4), noise.noise(9)
    ((_, terms),) = stage.step(batch, 0)
    z, *s = method.nets_["vae"].encode(batch.x).values()
    pools = [slice(16 * i, 16 * (i + 1)) for i in range(4)]
    gammas = (0.001, 0.01, 0.1, 1.0)
    codes = z.mu + torch.exp(0.5 * z.logvar) * eps_z
    common = sum(mmd_squared(codes[pools[k]], codes[pools[3]], gammas) for k in range(3))
    torch.testing.assert_close(terms["mmd_common"], 3.0 * common)
    salient = 0
    for k, group in itertools.product(range(3), range(4)):
        drawn = (s[k].mu + torch.exp(0.5 * s[k].logvar) * eps_s[:, 3 * k : 3 * k + 3])[pools[group]]
        salient += 0 if group == k else mmd_squared(drawn, torch.zeros_like(drawn), gammas)
    torch.testing.assert_close(terms["mmd_salient"], 2.0 * salient)


def test_sep_vae_has_a_narrow_prior_and_a_classifier_for_every_block():
    method, stage, batch, _ = started("sep_vae", variance=0.04, beta_salient=0.7, lambda_mi=0.0)
    (_, terms), *_ = stage.step(batch, 0)
    _, *s = method.nets_["vae"].encode(batch.x).values()
    pools = [slice(16 * i, 16 * (i + 1)) for i in range(4)]
    means = sum(
        s[k].mu[pools[group]].square().sum(1).mean() for k, group in itertools.product(range(3), range(4)) if group != k
    )
    torch.testing.assert_close(terms["salient_penalty"], 0.7 * means / 0.08)
    assert len(method.nets_["classifier"]) == 3
    with torch.no_grad():
        for classifier in method.nets_["classifier"]:
            for parameter in classifier.parameters():
                parameter.zero_()
    (_, terms), *_ = stage.step(batch, 0)
    assert terms["classification"].item() == pytest.approx(3 * 2 * np.log(2))  # at chance, whatever the sizes of both sides


@pytest.mark.parametrize("targets", [2, 3, 5])
def test_independent_pairs_meet_every_group_alike(targets):
    groups, each = targets + 1, 12 * (targets + 1)
    rows = torch.arange(groups * each)[:, None]
    joint, independent = pairs(rows, rows, targets)
    assert torch.equal(joint[:, 0], joint[:, 1])
    assert (independent[:, 0] != independent[:, 1]).all()
    assert sorted(independent[:, 1].tolist()) == list(range(groups * each))
    counts = torch.zeros(groups, groups)
    for i, j in (independent // each).tolist():
        counts[i, j] += 1
    assert (counts == 12).all()


@pytest.mark.parametrize("name", PER_TARGET)
def test_blocks_are_named_after_the_targets_and_kept_in_the_run(name, tmp_path):
    data = treatments()
    method = small(name, salient="per_target")
    with pytest.raises(ValueError, match="names its blocks after the targets of the data; call fit first"):
        _ = method.blocks
    method.fit(data, out=tmp_path / "run")
    assert list(method.blocks) == ["common", "salient_drug_a", "salient_drug_b", "salient_drug_c"]
    again = un.load_method(tmp_path / "run")
    assert again.blocks == method.blocks
    assert again.encode(data.x) == method.encode(data)  # without groups too, there are all blocks
    np.testing.assert_array_equal(again.decode(again.encode(data.x)), method.reconstruct(data.x))
    assert method.get_feature_names_out()[4] == "salient_drug_a0"
    assert np.isfinite(method.score(data))


def test_targets_without_samples_have_no_block_and_a_single_sample_is_refused():
    data = treatments()
    method = small("principled_vae", salient="per_target").fit(data[data.groups != 2])
    assert list(method.blocks) == ["common", "salient_drug_a", "salient_drug_c"]
    chosen = np.delete(np.arange(len(data)), np.flatnonzero(data.groups == 2)[1:])
    with pytest.raises(ValueError, match="at least 2 samples of every target; got 1 of 'drug-b'; add some"):
        small("principled_vae", salient="per_target").fit(data[chosen])


def test_every_block_gets_the_width_of_its_own_contrast():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 8))
    groups = np.repeat([0, 1, 2], 400)
    x[groups == 1, :1] += 3 * rng.normal(size=(400, 1))
    x[groups == 2, :3] += 3 * rng.normal(size=(400, 3))
    method = small("principled_vae", salient="per_target", n_salient="auto").fit(Samples(x, groups=groups))
    assert method.blocks == {"common": 4, "salient_target_1": 1, "salient_target_2": 3}


@pytest.mark.parametrize("name", ["rb_vae", "symmetric_rb_vae", "double_infogan"])
def test_the_others_refuse_and_name_those_that_do(name):
    sentence = r"salient must be 'shared', as its .*; got 'per_target'; take one of principled_vae, recombining_vae, "
    with pytest.raises(ValueError, match=sentence):
        small(name, salient="per_target").fit(treatments())


def test_the_prior_is_that_of_one_target_after_the_other_and_a_block_by_itself_is_drawn_in_full():
    method = small("principled_vae", salient="per_target").fit(treatments())
    codes = method.prior(6, torch.Generator().manual_seed(0))
    salient = torch.stack([codes[name] != 0 for name in list(method.blocks)[1:]]).all(2)
    assert torch.equal(salient, torch.eye(3, dtype=torch.bool).repeat(1, 2))
    assert (codes["common"] != 0).all()
    own = method.block_prior("salient_drug_b", 50, torch.Generator().manual_seed(0))
    assert own.shape == (50, 3)
    assert (own != 0).all()
    from untwine import manipulate

    grid = manipulate.sample_grid(method, 2, 3, "salient_drug_b")
    every = manipulate.sample_grid(method, 2, 3)
    assert grid.shape == every.shape == (2, 4, 6)
    x = treatments().x[:2]
    np.testing.assert_array_equal(manipulate.remove(method, x), method.decode(method.encode(x).remove("salient")))
    assert manipulate.other_block(method, None) == "common"
    assert manipulate.other_block(method, "salient_drug_a") == "other"
