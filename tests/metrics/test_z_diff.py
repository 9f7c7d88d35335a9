import sys
from pathlib import Path

import numpy as np
import pytest
from known_codes import continuous, discrete, harmless

from untwine import metrics
from untwine.metrics import factor_vae_score, factor_vae_score_from_draws, z_diff_score, z_diff_score_from_draws
from untwine.metrics.factor_vae import count_votes, least_variance
from untwine.metrics.z_diff import correctly_classified, difference_points

GOLDEN = np.load(Path(__file__).parents[1] / "golden" / "metrics_sampling.npz", allow_pickle=False)
GRID, FACTORS, SIZES = GOLDEN["grid_codes"], GOLDEN["grid_factors"].astype(int), GOLDEN["factor_sizes"].tolist()
FEW = {"train": 600, "test": 300}


def drawn(factors):
    return GRID[np.ravel_multi_index(tuple(factors.T), SIZES)]


def test_z_diff_of_the_reference_s_batches_is_the_reference_s():
    indices = GOLDEN["bv_rows"]
    pairs = GRID[indices.transpose(0, 2, 1).reshape(500, -1)]
    points = difference_points(pairs)
    assert points == pytest.approx(GOLDEN["bv_points"], abs=1e-12)
    correct = correctly_classified(points, GOLDEN["bv_labels"], 300, "logistic")
    assert correct[:300].mean() == pytest.approx(float(GOLDEN["bv_small_train_accuracy"]), abs=1e-8)
    assert correct[300:].mean() == pytest.approx(float(GOLDEN["bv_small_eval_accuracy"]), abs=1e-8)


def hinge_decisions(points, labels, train, C):
    """Return the scores (n, k) of one-vs-rest linear classifiers from the dual of the hinge loss, by a bounded quasi-Newton.

    min_w |w|^2 / 2 + C sum_i max(0, 1 - s_i w . (x_i, 1)), of which w = sum_i a_i s_i (x_i, 1) with 0 <= a_i <= C.
    """
    from scipy.optimize import minimize

    augmented, scores = np.hstack([points, np.ones((len(points), 1))]), []
    for value in np.unique(labels[:train]):
        signed = np.where(labels[:train] == value, 1.0, -1.0)[:, None] * augmented[:train]

        def dual(a, signed=signed):
            w = signed.T @ a
            return 0.5 * w @ w - a.sum(), signed @ w - 1

        tight = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-9}
        a = minimize(dual, np.full(train, C / 2), jac=True, method="L-BFGS-B", bounds=[(0, C)] * train, options=tight).x
        scores.append(augmented @ (signed.T @ a))
    return np.stack(scores, axis=1)


def test_the_svm_is_the_least_hinge_loss_with_c_of_a_hundredth():
    points, labels = GOLDEN["bv_points"], GOLDEN["bv_labels"]
    result = correctly_classified(points, labels, 300, "svm")
    differ = {}
    for C in (0.008, 0.01, 0.0125):
        by_hand = np.unique(labels)[hinge_decisions(points, labels, 300, C).argmax(axis=1)] == labels
        differ[C] = int((result != by_hand).sum())
    assert differ[0.01] <= 1  # whose two best scores are within the solvers' tolerance
    assert min(differ[0.008], differ[0.0125]) >= 5, "the points no longer distinguish one C from another"


def test_the_svm_is_the_default():
    for named, score in ((z_diff_score, (GRID, FACTORS)), (z_diff_score_from_draws, (drawn, SIZES))):
        plain = named(*score, **FEW)
        assert plain == named(*score, classifier="svm", **FEW)
        assert plain != named(*score, classifier="logistic", **FEW)


def test_factor_vae_votes_of_the_reference_s_batches_are_the_reference_s():
    least = least_variance(GRID[GOLDEN["fv_rows"]], GOLDEN["fv_global_variances"])
    assert np.array_equal(least, GOLDEN["fv_argmin"])
    fixed = GOLDEN["fv_factor"].astype(int)
    votes = [count_votes(fixed[subset], least[subset], (4, 8)) for subset in (slice(300), slice(300, None))]
    assert np.array_equal(votes[0], GOLDEN["fv_votes_train"])
    assert np.array_equal(votes[1], GOLDEN["fv_votes_eval"])
    correct = votes[0].argmax(axis=0)[least] == fixed
    assert correct[:300].mean() == pytest.approx(float(GOLDEN["fv_small_train_accuracy"]), abs=1e-8)
    assert correct[300:].mean() == pytest.approx(float(GOLDEN["fv_small_eval_accuracy"]), abs=1e-8)


def score_and_calls(name, by_samples, monkeypatch, **options):
    """Return the result of a score for mixed codes, the last of five dead, and the codes and factors of all that it drew.

    By samples the first of these are the whole table, and batches are recorded between the sampler and the score.
    """
    rng, calls = np.random.default_rng(0), []
    mixing = (np.eye(3, 5) + 0.6 * rng.normal(size=(3, 5))) * [1.0, 2.0, 0.5, 1.0, 1e-3]

    def draw(factors):
        calls.append((factors @ mixing + rng.normal(size=(len(factors), 5)) * [0.3, 0.6, 0.5, 0.3, 1e-3], factors))
        return calls[-1][0]

    if not by_samples:
        return getattr(metrics, f"{name}_from_draws")(draw, [4, 6, 5], **options), calls
    factors = rng.integers(0, [4, 6, 5], (800, 3))
    table = draw(factors)
    known = {code.tobytes(): values for code, values in zip(table, factors, strict=True)}
    module = sys.modules[f"untwine.metrics.{name.removesuffix('_score')}"]
    sampler = module.batches_from_samples

    def recording_sampler(*given, **named):
        varies, batches = sampler(*given, **named)

        def recording(*args):
            for codes in batches(*args):
                flat = codes.reshape(-1, 5)
                calls.append((flat, np.array([known[code.tobytes()] for code in flat])))
                yield codes

        return varies, recording

    monkeypatch.setattr(module, "batches_from_samples", recording_sampler)
    return getattr(metrics, name)(table, factors, **options), calls


def batch_by_batch(calls, size):
    """Return the codes (m, size, d) and the factors (m, size, k) of all calls."""
    return [np.concatenate(tables).reshape(-1, size, tables[0].shape[1]) for tables in zip(*calls, strict=True)]


def in_subsets(correct, first, seed):
    """Return the mean over each of five random subsets of what comes from `first` on."""
    order = np.random.default_rng(seed).permutation(np.arange(first, len(correct)))
    return [np.mean([correct[i] for i in subset]) for subset in np.array_split(order, 5)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("classifier", ["svm", "logistic"])
@pytest.mark.parametrize("by_samples", [False, True])
def test_z_diff_equals_a_loop_over_what_it_drew(by_samples, classifier, seed, monkeypatch):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    options = {"classifier": classifier, "pairs": 10, "train": 300, "test": 150, "seed": seed}
    result, calls = score_and_calls("z_diff_score", by_samples, monkeypatch, **options)
    calls = calls[1:] if by_samples else calls
    first, _ = batch_by_batch(calls[:1], 20)
    assert len(first) == 100  # the standard deviation comes from as many points, drawn before all others
    std = np.sqrt(np.mean([np.var(first[:, :, i]) for i in range(5)]))
    points, labels = [], []
    for codes, factors in zip(*batch_by_batch(calls[1:], 20), strict=True):
        points.append(np.mean([np.abs(codes[i] - codes[i + 1]) for i in range(0, 20, 2)], axis=0) / std)
        same = [j for j in range(3) if all(factors[i, j] == factors[i + 1, j] for i in range(0, 20, 2))]
        assert len(same) == 1
        labels.append(same[0])
        assert len(np.unique(factors[:, same[0]])) > 1  # each pair has a value of its own
    assert len(points) == 450
    if classifier == "svm":
        model = LinearSVC(C=0.01, loss="hinge", random_state=seed, max_iter=100_000)
    else:
        model = LogisticRegression(max_iter=10_000)
    correct = model.fit(points[:300], labels[:300]).predict(points) == labels
    assert result.accuracy == pytest.approx(np.mean(correct[300:]), abs=1e-8)
    assert result.train == pytest.approx(np.mean(correct[:300]), abs=1e-8)
    assert result.folds == pytest.approx(in_subsets(correct, 300, seed), abs=1e-8)
    assert 0.4 < result.accuracy < 0.99, "a score at its extreme tests little"


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("dead", [0.05, 0.0])
@pytest.mark.parametrize("by_samples", [False, True])
def test_factor_vae_score_equals_a_loop_over_what_it_drew(by_samples, dead, seed, monkeypatch):
    options = {"batch_size": 12, "train": 300, "test": 150, "dead": dead, "seed": seed}
    result, calls = score_and_calls("factor_vae_score", by_samples, monkeypatch, **options)
    total = [np.var(z, ddof=1) for z in calls[0][0].T]
    active = [i for i in range(5) if total[i] > 0 and np.sqrt(total[i]) >= dead * np.sqrt(max(total))]
    assert len(active) == (4 if dead else 5)
    fixed, voted = [], []
    for codes, factors in zip(*batch_by_batch(calls[1:], 12), strict=True):
        same = [j for j in range(3) if len(np.unique(factors[:, j])) == 1]
        assert len(same) == 1
        fixed.append(same[0])
        voted.append(min(active, key=lambda i, codes=codes: np.var(codes[:, i], ddof=1) / total[i]))
    assert len(voted) == 450
    votes = [
        [sum(f == j and v == i for f, v in zip(fixed[:300], voted[:300], strict=True)) for i in range(5)] for j in range(3)
    ]
    stands_for = [max(range(3), key=lambda j, i=i: votes[j][i]) for i in range(5)]
    correct = [stands_for[v] == f for v, f in zip(voted, fixed, strict=True)]
    assert result.votes.tolist() == votes
    assert np.flatnonzero(result.active).tolist() == active
    assert result.accuracy == pytest.approx(np.mean(correct[300:]), abs=1e-8)
    assert result.train == pytest.approx(np.mean(correct[:300]), abs=1e-8)
    assert result.folds == pytest.approx(in_subsets(correct, 300, seed), abs=1e-8)
    assert 0.4 < result.accuracy < 0.99, "a score at its extreme tests little"


def test_large_runs_agree_with_the_reference_s_by_samples_and_by_draws():
    options = {"train": 5000, "test": 2500}
    reference = np.mean(GOLDEN["bv_large_eval_accuracy"])
    assert z_diff_score(GRID, FACTORS, classifier="logistic", **options).accuracy == pytest.approx(reference, abs=0.03)
    assert z_diff_score_from_draws(drawn, SIZES, classifier="logistic", **options).accuracy == pytest.approx(
        reference, abs=0.03
    )
    reference = np.mean(GOLDEN["fv_large_eval_accuracy"])
    assert factor_vae_score(GRID, FACTORS, dead=0, **options).accuracy == pytest.approx(reference, abs=0.04)
    assert factor_vae_score_from_draws(drawn, SIZES, dead=0, **options).accuracy == pytest.approx(reference, abs=0.04)


@pytest.mark.parametrize("score", [z_diff_score, factor_vae_score])
def test_perfect_codes_get_one(score):
    codes, factors = discrete()
    for changed in (*harmless(codes), np.hstack([codes, codes])):
        assert score(changed, factors, **FEW).accuracy > 0.99
    codes, factors = continuous()
    assert score(codes, factors, **FEW).accuracy > 0.99


@pytest.mark.parametrize("score", [z_diff_score, factor_vae_score])
def test_uninformative_codes_get_one_over_the_number_of_factors(score):
    _, factors = discrete()
    result = score(np.random.default_rng(0).normal(size=(1500, 3)), factors, **FEW)
    assert 0.2 < result.accuracy < 0.47
    assert np.mean(result.folds) == pytest.approx(result.accuracy)


def test_constant_codes_score_low_in_both():
    _, factors = discrete()
    assert 0.2 < z_diff_score(np.full((1500, 3), 0.1), factors, **FEW).accuracy < 0.45
    result = factor_vae_score(np.full((1500, 3), 0.1), factors, **FEW)
    assert result.accuracy == 0.0
    assert not result.active.any()


def test_a_mixed_latent_misleads_the_votes_but_not_the_differences():
    codes, factors = discrete()
    turned = codes[:, :2] @ [[1.0, 1.0], [1.0, -1.0]]
    assert factor_vae_score(turned, factors[:, :2], **FEW).accuracy < 0.7
    shared = np.column_stack([codes[:, 0] + 0.5 * codes[:, 1], codes[:, 1]])
    assert z_diff_score(shared, factors[:, :2], **FEW).accuracy > 0.9


def test_dead_latents_do_not_vote():
    codes, factors = discrete()
    rng = np.random.default_rng(0)
    barely = np.hstack([codes, 1e-3 * codes[:, [0]] + 1e-3 * rng.normal(size=(1500, 1))])
    assert factor_vae_score(barely, factors, **FEW).active.tolist() == [True, True, True, False]
    assert factor_vae_score(barely, factors, dead=0, **FEW).active.all()
    assert factor_vae_score(barely, factors, **FEW).votes[:, 3].sum() == 0


@pytest.mark.parametrize("score", [z_diff_score, factor_vae_score])
def test_constant_factors_and_lone_values_are_never_fixed(score):
    codes, factors = discrete()
    more = np.column_stack([factors, np.ones(1500, dtype=int)])
    assert score(codes, more, **FEW).accuracy > 0.99
    alone = np.column_stack([factors, np.arange(1500)])  # no two samples share a value of the last
    assert score(codes, alone, **FEW).accuracy > 0.99
    with pytest.raises(ValueError, match="at least 2 factors"):
        score(codes, factors[:, :1], **FEW)


@pytest.mark.parametrize("score", [z_diff_score, factor_vae_score])
def test_samples_that_share_no_values_are_refused(score):
    codes = np.random.default_rng(0).normal(size=(15, 2))
    with pytest.raises(ValueError, match=f"{score.__name__} needs .* that two samples share; got 0 among 2; pass more samples"):
        score(codes, codes, **FEW)
    with pytest.raises(ValueError, match="got 1 among 3"):
        score(codes, np.column_stack([codes, np.arange(15) % 2]), **FEW)


@pytest.mark.parametrize("score", [z_diff_score_from_draws, factor_vae_score_from_draws])
def test_a_drawing_function_gets_factors_in_range_and_is_checked(score):
    calls = []

    def draw(factors):
        calls.append(factors)
        return factors + np.random.default_rng(len(calls)).normal(size=factors.shape) * 0.01

    assert score(draw, [3, 5, 1], **FEW).accuracy > 0.99
    every = np.concatenate(calls)
    assert every.min() == 0
    assert every.max(axis=0).tolist() == [2, 4, 0]
    assert len(np.unique(every, axis=0)) == 15
    with pytest.raises(ValueError, match="2 factors of 2 values"):
        score(draw, [5, 1], **FEW)
    with pytest.raises(ValueError, match="draw must return codes of"):
        score(lambda factors: factors[:7], [3, 5], **FEW)


def test_the_same_seed_gives_the_same():
    codes = np.random.default_rng(0).normal(size=(1500, 3)) + discrete()[0]
    factors = discrete()[1]
    for score in (z_diff_score, factor_vae_score):
        assert score(codes, factors, **FEW).folds == score(codes, factors, **FEW).folds
        assert score(codes, factors, **FEW).folds != score(codes, factors, seed=1, **FEW).folds


def test_bad_arguments_say_why():
    codes, factors = discrete(100)
    with pytest.raises(ValueError, match="'svm' or 'logistic'"):
        z_diff_score(codes, factors, classifier="tree", **FEW)
    with pytest.raises(ValueError, match="got 64, 5 and 300"):
        z_diff_score(codes, factors, train=5, test=300)
    with pytest.raises(ValueError, match="got 1, 600 and 300"):
        factor_vae_score(codes, factors, batch_size=1, **FEW)
