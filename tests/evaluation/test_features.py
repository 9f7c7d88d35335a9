"""The features that respond are at the top of the table, and where nothing responds hardly any is a discovery."""

import dataclasses

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score
from small import images, small

import untwine as un
from untwine.evaluation import features as module
from untwine.evaluation.features import benjamini_hochberg
from untwine.runs.features import Feature, read_features, write_features

GENES = 40
NAMES = [f"gene{j}" for j in range(GENES)]


def simulate(seed, response=1.0, shift=1.5, n=300):
    """Three common factors in all genes; a quarter of the genes respond to a fourth one that only targets have."""
    rng = np.random.default_rng(seed)
    W, responds = rng.normal(size=(3, GENES)), np.arange(GENES) < GENES // 4
    load = response * responds * rng.choice([-1, 1], GENES) * rng.uniform(0.6, 1.4, GENES)

    def draw(n, target):
        x = rng.normal(size=(n, 3)) @ W + 0.5 * rng.normal(size=(n, GENES))
        x += target * (shift + rng.normal(size=(n, 1))) * load
        return un.Samples(x.astype(np.float32), feature_names=NAMES)

    train, test = (un.Samples.contrast(target=draw(n, 1), background=draw(n, 0)) for _ in range(2))
    return train, test, responds, load


def column(features, name, by=""):
    values = {one.name: getattr(one, name) for one in features if one.by == by}
    return np.array([values[gene] for gene in NAMES])


@pytest.fixture(scope="module")
def fitted():
    train, test, responds, load = simulate(0)
    return un.PrincipledVAE.fixed(n_common=4, n_salient=2, epochs=40, seed=0).fit(train), test, responds, load


def test_responding_genes_are_found_and_others_are_not(fitted):
    method, test, responds, load = fitted
    features = un.salient_features(method, test)
    assert average_precision_score(responds, column(features, "change")) >= 0.9
    assert average_precision_score(responds, -column(features, "p")) >= 0.9
    discoveries = column(features, "q") < 0.05
    assert discoveries[responds].mean() > 0.8
    assert (discoveries & ~responds).sum() <= 1
    # The effect is the response itself: 1.5 of each load in units of the data, and half of that in a noisy fit is too little.
    true = 1.5 * load[responds]
    assert np.corrcoef(column(features, "effect_units")[responds], true)[0, 1] > 0.95
    assert 0.6 < np.abs(column(features, "effect_units")[responds] / true).mean() < 1.4
    assert [one.change for one in features] == sorted((one.change for one in features), reverse=True)


def test_a_response_without_a_shift_is_ranked_too():
    train, test, responds, _ = simulate(1, response=1.5, shift=0.0)
    method = un.PrincipledVAE.fixed(n_common=4, n_salient=2, epochs=40, seed=0).fit(train)
    features = un.salient_features(method, test)
    assert average_precision_score(responds, column(features, "change")) >= 0.9
    assert ((column(features, "q") < 0.05) & ~responds).sum() <= 1


def test_where_nothing_responds_hardly_any_run_has_a_discovery():
    runs = 40
    p, discoveries = [], 0
    for seed in range(runs):
        train, test, *_ = simulate(seed, response=0.0, n=100)
        features = un.salient_features(un.ContrastivePCA(n_common=3, n_salient=2).fit(train), test, permutations=50)
        p.append(column(features, "p"))
        discoveries += any(one.q < 0.05 for one in features)
    assert discoveries <= stats.binom.ppf(0.999, runs, 0.05)
    assert np.mean(np.concatenate(p) < 0.05) < 0.06


def test_each_of_the_two_tests_is_uniform_where_nothing_responds(monkeypatch):
    rng, p = np.random.default_rng(0), []
    for _ in range(100):
        statistics = rng.standard_t(5, size=(101, 20))
        p.append(module._pooled_p(statistics))
    assert stats.kstest(np.concatenate(p), "uniform").pvalue > 0.001


def test_welch_is_scipys():
    rng = np.random.default_rng(0)
    g, groups = rng.normal(size=(30, 5)), rng.random((3, 30)) < 0.4
    g[:, 4] = 1.0  # constant
    expected = np.stack([stats.ttest_ind(g[one, :4], g[~one, :4], equal_var=False).statistic for one in groups])
    np.testing.assert_allclose(module._welch(g, groups)[:, :4], expected, rtol=1e-9)
    np.testing.assert_array_equal(module._welch(g, groups)[:, 4], 0)


def test_benjamini_hochberg_is_scipys():
    p = np.random.default_rng(0).random(50) ** 3
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), rtol=1e-12)


def test_by_splits_the_samples_and_keeps_its_own_background(fitted):
    method, test, responds, _ = fitted
    cluster = np.arange(len(test)) % 2
    # In the second half targets are background: nothing may be discovered there.
    quiet = (cluster == 1) & (test.groups == 1)
    x = test.x.copy()
    x[quiet] = np.random.default_rng(0).permutation(test.background.x)[: quiet.sum()]
    labelled = dataclasses.replace(test, x=x, labels=cluster, label_names=("responding", "not"))
    features = un.salient_features(method, labelled, by="label")
    assert [one.by for one in features] == ["not"] * GENES + ["responding"] * GENES
    assert (column(features, "q", "responding") < 0.05)[responds].mean() > 0.8
    assert (column(features, "q", "not") < 0.05).sum() <= 1
    named = un.salient_features(method, labelled, by=np.where(cluster, "not", "responding"))
    assert named == features
    by_group = un.salient_features(method, labelled, by="group")
    assert {one.by for one in by_group} == {"target"}


def test_sources_are_resampled_and_permuted_whole(fitted):
    method, test, responds, load = fitted
    # Four donors of each group, each with its own shift of a gene that does not respond: single cells would take it for real.
    donors = np.where(test.groups == 1, np.arange(len(test)) % 4, 4 + np.arange(len(test)) % 4)
    x = test.x.copy()
    shifts = np.random.default_rng(3).normal(size=(8, GENES)) * ~responds
    x += 0.5 * shifts[donors].astype(np.float32)
    alone = un.salient_features(method, dataclasses.replace(test, x=x))
    whole = un.salient_features(method, dataclasses.replace(test, x=x, sources=donors))
    quiet = ~responds
    assert column(whole, "p")[quiet].mean() > column(alone, "p")[quiet].mean()
    assert ((column(whole, "q") < 0.05) & quiet).sum() <= 1
    # Donors that respond differently make the interval over donors wider than that over cells.
    x = test.x + (np.array([-1.4, -0.5, 0.5, 1.4, 0, 0, 0, 0])[donors][:, None] * load).astype(np.float32)
    alone = un.salient_features(method, dataclasses.replace(test, x=x))
    whole = un.salient_features(method, dataclasses.replace(test, x=x, sources=donors))
    wide = [column(one, "high") - column(one, "low") for one in (alone, whole)]
    assert np.median(wide[1][responds] / wide[0][responds]) > 2


def test_pairs_are_exchanged_within_their_source():
    rng = np.random.default_rng(0)
    is_target, sources = np.array([False, True, False, True, True, False]), np.array([0, 0, 1, 1, 2, 3])
    drawn = {tuple(module._permute(is_target, sources, rng)) for _ in range(200)}
    assert len(drawn) == 8  # two exchanges of pairs, and one of the two single ones
    assert all(one[0] != one[1] and one[2] != one[3] and one[4] != one[5] for one in drawn)


def test_intervals_include_draws_and_other_seeds(fitted):
    method, test, responds, _ = fitted
    other = small("principled_vae", n_common=4, n_salient=2, epochs=3, seed=5).fit(simulate(0)[0])
    width = lambda features: np.median((column(features, "high") - column(features, "low"))[responds])  # noqa: E731
    alone = un.salient_features(method, test)
    assert width(un.salient_features([method, other], test)) > 2 * width(alone)  # they disagree
    drawn = un.salient_features(method, test, draws=4)
    np.testing.assert_allclose(column(drawn, "effect"), column(alone, "effect"), atol=0.1)
    assert column(drawn, "change").mean() > column(alone, "change").mean()  # the width of the posterior
    effect = column(alone, "effect")
    assert ((column(alone, "low") <= effect) & (effect <= column(alone, "high"))).all()
    again = un.salient_features(method, test)
    assert again == alone


def test_without_groups_there_are_effects_and_no_p_values(fitted):
    method, test, responds, _ = fitted
    features = un.salient_features(method, un.Samples(test.target.x, feature_names=NAMES))
    assert np.isnan(column(features, "p")).all()
    assert np.isnan(column(features, "q")).all()
    assert average_precision_score(responds, column(features, "change")) >= 0.9


def test_wrong_input_is_refused(fitted):
    method, test, *_ = fitted
    with pytest.warns(UserWarning, match="samples are those that the method was fitted on: p-values are too small then"):
        un.salient_features(method, simulate(0)[0], permutations=10, bootstraps=10)
    with pytest.raises(ValueError, match="needs vectors with features; got images"):
        un.salient_features(small("contrastive_pca").fit(images()), images())
    with pytest.raises(ValueError, match="by must be label, group or a categorical covariate"):
        un.salient_features(method, test, by="cluster")
    with pytest.raises(ValueError, match="by must be one value for each of the 600 samples"):
        un.salient_features(method, test, by=np.zeros(3))
    with pytest.raises(ValueError, match="draws need a block with a Gaussian posterior; 'salient' of contrastive_pca has none"):
        un.salient_features(small("contrastive_pca").fit(test), test[::2], draws=2)
    with pytest.raises(ValueError, match="draws must be"):
        un.salient_features(method, test, draws=-1)
    with pytest.raises(ValueError, match="the method must have several blocks"):
        un.salient_features(small("vae").fit(test), test[::2])


def test_features_are_read_back_as_they_were(tmp_path):
    nan = float("nan")
    features = [Feature("a,b", "", 1 / 3, -0.5, -1.0, 0.0, -2.5, 0.01, 0.02), Feature("c", "x", 0.1, 0, 0, 0, 0, nan, nan)]
    write_features(tmp_path / "f.csv", features)
    first, second = read_features(tmp_path / "f.csv")
    assert first == features[0]
    assert second[:7] == features[1][:7]
    assert np.isnan(second.p)
    assert read_features(tmp_path / "none.csv") is None
    (tmp_path / "f.csv").write_text("name,by\na,b\n")
    with pytest.raises(ValueError, match="must have the columns name, by, change"):
        read_features(tmp_path / "f.csv")
