"""The contrast test: its power and level, its estimate of dimensions, and what must not count as a contrast."""

import json
import time

import numpy as np
import pytest

import untwine as un
from untwine import Samples
from untwine.linear.contrast import contrast_record
from untwine.linear.covariances import leading_axes, mean_and_covariance

SIZES = {"n_target": 400, "n_background": 400}


def with_signal(seed, n_salient):
    return un.load("toy_contrast", seed=seed, n_salient=n_salient, **SIZES).train


def without(seed):
    """The same model, with no salient factor in any sample."""
    splits = un.load("toy_contrast", seed=seed, **SIZES)
    return Samples.contrast(target=splits.train.background.x, background=splits.test.background.x)


def rates(count):
    """Count rejections with signal, exact estimates of the dimension, and rejections without signal, over `count` data sets."""
    signal = [(un.contrast_test(with_signal(seed, 1 + seed % 3)), 1 + seed % 3) for seed in range(count)]
    rejected = sum(result.p_value <= 0.05 for result, _ in signal)
    exact = sum(result.n_salient == truth for result, truth in signal)
    false = sum(un.contrast_test(without(seed)).p_value <= 0.05 for seed in range(count))
    print(f"of {count}: {rejected} rejected with signal, {exact} exact, {false} rejected without")
    return rejected, exact, false


def test_rates_on_ten_data_sets():
    rejected, exact, false = rates(10)
    assert rejected == 10
    assert exact >= 9
    assert false <= 2


@pytest.mark.soak
def test_rates_on_a_hundred_data_sets():
    rejected, exact, false = rates(100)
    assert rejected >= 95
    assert exact >= 90
    assert false <= 10


def test_eight_thousand_samples_take_less_than_a_second():
    data = un.load("toy_contrast").train
    un.contrast_test(data[::50])  # imports of the first call are not counted
    spent = []
    for _ in range(3):  # the minimum leaves out what other processes add
        start = time.process_time()
        result = un.contrast_test(data)
        spent.append(time.process_time() - start)
    assert min(spent) < 1
    assert result.n_salient == 2
    assert result.p_value == 1 / 200
    # Variance 1.5^2 + 0.3^2 against 0.3^2.
    assert result.statistic == pytest.approx(2.25 / (2.25 + 2 * 0.09), abs=0.02)
    assert len(result.contrasts) == 20
    assert len(result.p_values) == 3
    assert result == un.contrast_test(data)


def test_contrasts_are_those_of_generalised_contrastive_pca():
    from untwine.methods.generalised_contrastive_pca import contrasts

    data = with_signal(0, 2)
    A, B = np.cov(data.target.x.T.astype(float)), np.cov(data.background.x.T.astype(float))
    np.testing.assert_allclose(un.contrast_test(data).contrasts, contrasts(A, B)[0], atol=1e-6)


def test_neither_units_nor_means_are_a_contrast():
    data = without(3)
    result = un.contrast_test(data)
    x = data.x * np.logspace(-3, 3, 20) + 100
    scaled = un.contrast_test(Samples(x, groups=data.groups))
    np.testing.assert_allclose(scaled.contrasts, result.contrasts, atol=1e-3)
    shifted = un.contrast_test(Samples(data.x + 5 * data.groups[:, None], groups=data.groups))
    np.testing.assert_allclose(shifted.contrasts, result.contrasts, atol=1e-4)
    assert result.p_value == pytest.approx(scaled.p_value, abs=0.02)
    assert result.p_value == pytest.approx(shifted.p_value, abs=0.02)


def test_variation_of_the_background_alone_is_not_salient():
    data = with_signal(0, 2)
    swapped = un.contrast_test(Samples(data.x, groups=1 - data.groups))
    assert swapped.n_salient == 0
    assert swapped.contrasts[-1] < -0.8


def test_small_and_unequal_groups_keep_the_level():
    rng = np.random.default_rng(0)
    p = [
        un.contrast_test(
            Samples.contrast(target=rng.normal(size=(6, 4)), background=rng.normal(size=(40, 4))), permutations=39
        ).p_value
        for _ in range(100)
    ]
    assert np.mean(np.array(p) <= 0.05) <= 0.1


def test_images():
    rng = np.random.default_rng(0)
    x = rng.integers(100, 130, size=(300, 1, 12, 12), dtype=np.uint8)
    plain = un.contrast_test(Samples(x, groups=[0, 1] * 150))
    x[1::2, :, 3:8, 3:8] += rng.integers(0, 60, size=(150, 1, 1, 1), dtype=np.uint8)
    drawn = un.contrast_test(Samples(x, groups=[0, 1] * 150))
    assert plain.n_salient == 0
    assert drawn.n_salient == 1
    assert drawn.p_value == 1 / 200


def test_directions_are_significant_above_their_critical_contrast():
    for data, level in ((with_signal(0, 2), 0.05), (without(3), 0.05), (with_signal(1, 3), 0.2), (without(0), 0.9)):
        result = un.contrast_test(data, level=level)
        assert len(result.chance) == len(result.p_values)
        beyond = [contrast > bound for contrast, bound in zip(result.contrasts, result.chance, strict=False)]
        assert beyond == [p <= (level / 5 if k else level) for k, p in enumerate(result.p_values)]
        assert sum(beyond) == result.n_salient
    # With so few permutations no second direction can be significant, however large.
    few = un.contrast_test(with_signal(0, 2), permutations=19)
    assert (few.n_salient, few.chance[1]) == (1, 1.0)


def wide(seed, n_salient, features=300, n=300, images=False):
    """Samples with so many features that the test avoids their covariance, and may use a subsample only."""
    rng = np.random.default_rng(seed)
    shared, extra = rng.normal(size=(3, features)), rng.normal(size=(n_salient, features))
    x = rng.normal(size=(2 * n, 3)) @ shared + 0.5 * rng.normal(size=(2 * n, features))
    x[n:] += rng.normal(size=(n, n_salient)) @ extra
    x = x.reshape(-1, 3, 10, features // 30) / 80 + 0.5 if images else x * np.logspace(-2, 2, features)
    return Samples(x.astype(np.float32), groups=np.repeat([0, 1], n))


@pytest.mark.parametrize("images", [False, True])
def test_wide_samples_are_tested_without_their_covariance(images, monkeypatch):
    from untwine.linear import contrast

    exact = {}
    for few in (100, 1000):
        monkeypatch.setattr(contrast, "MAX_EXACT_FEATURES", few)
        result = [un.contrast_test(wide(seed, n, images=images)) for seed, n in ((0, 0), (1, 2), (2, 4))]
        assert [one.n_salient for one in result] == [0, 2, 4]
        exact[few] = result
    # About the same axes, so about the same contrasts as with the covariance.
    for quick, slow in zip(*exact.values(), strict=True):
        assert quick.statistic == pytest.approx(slow.statistic, abs=0.05)


def test_an_evenly_spaced_subsample_is_used_of_very_many_elements(monkeypatch):
    from untwine.linear import contrast

    data = wide(1, 2)
    monkeypatch.setattr(contrast, "MAX_EXACT_FEATURES", 100)
    assert contrast._subsample(data)[0].shape == (300, 300)
    monkeypatch.setattr(contrast, "MAX_ELEMENTS", data.x.size // 3)
    target, background = contrast._subsample(data)
    assert len(target) == len(background) == 100
    np.testing.assert_array_equal(target[[0, -1]], data.target.x[[0, -1]])
    assert un.contrast_test(data).n_salient == 2


def test_constant_wide_samples_have_no_direction():
    nothing = un.contrast_test(Samples(np.full((8, 1200), 0.1, dtype=np.float32), groups=[0, 1] * 4))
    assert (nothing.p_value, nothing.n_salient, nothing.contrasts) == (1.0, 0, ())


def test_the_record_is_json_with_the_number_of_samples():
    data = with_signal(0, 2)
    record, result = contrast_record(data), un.contrast_test(data)
    assert json.loads(json.dumps(record)) == record
    assert {
        key: getattr(result, key) for key in ("p_value", "statistic", "n_salient", "permutations")
    }.items() <= record.items()
    assert (tuple(record["contrasts"]), tuple(record["chance"])) == (result.contrasts, result.chance)
    assert (record["target"], record["background"]) == (400, 400)


def test_constant_and_tiny_data():
    nothing = un.contrast_test(Samples(np.ones((8, 3)), groups=[0, 1] * 4))
    assert (nothing.p_value, nothing.statistic, nothing.n_salient, nothing.contrasts) == (1.0, 0.0, 0, ())
    few = un.contrast_test(Samples.contrast(target=np.eye(4)[:2], background=np.eye(4)[2:]))
    assert 0 < few.p_value <= 1


def test_mean_and_covariance_equal_numpy_for_uint8_and_floats():
    x = np.random.default_rng(0).integers(0, 255, size=(2100, 1, 8, 8), dtype=np.uint8)  # more than one chunk
    mean, covariance = mean_and_covariance(x)
    flat = x.reshape(2100, -1) / 255
    np.testing.assert_allclose(mean, flat.mean(0), atol=1e-12)
    np.testing.assert_allclose(covariance, np.cov(flat.T), atol=1e-12)


def test_axes_leave_out_directions_without_variance():
    axes = leading_axes(np.diag([3.0, 0.0, 5.0, 1e-14]), most=4)
    np.testing.assert_allclose(np.abs(axes), np.eye(4)[:, [2, 0]], atol=1e-12)
    assert leading_axes(np.zeros((3, 3)), most=2).shape == (3, 0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: un.contrast_test(np.ones((4, 2))), "samples must be Samples; got a ndarray; pass Samples.contrast"),
        (lambda: un.contrast_test(Samples(np.ones((4, 2)))), "have no groups"),
        (lambda: un.contrast_test(Samples(np.ones((4, 2)), groups=[0, 1, 1, 1])), "at least 2 samples of background; got 1"),
        (lambda: un.contrast_test(without(0), permutations=0), "permutations must be an integer of at least 1; got 0"),
        (lambda: un.contrast_test(without(0), seed=-1), "seed must be an integer of at least 0; got -1"),
        (lambda: un.contrast_test(without(0), level=2), "level must be a number between 0 and 1; got 2"),
        (lambda: un.contrast_test(without(0), level="a"), "level must be a number between 0 and 1; got 'a'"),
    ],
)
def test_wrong_inputs_are_refused(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()


def test_each_of_several_targets_is_tested_by_itself():
    """Of three targets one varies as the background does, one in one more direction, one in two."""
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], 400)
    x = rng.normal(size=(1600, 8))
    x[groups == 2, 0] += 3 * rng.normal(size=400)
    x[groups == 3, 1:3] += 3 * rng.normal(size=(400, 2))
    data = Samples(x, groups=groups, group_names=("control", "none", "one", "two"))
    results = un.contrast_test(data, per_target=True)
    assert {name: result.n_salient for name, result in results.items()} == {"none": 0, "one": 1, "two": 2}
    assert results["none"].p_value > 0.05
    assert results["one"] == un.contrast_test(data[np.isin(groups, (0, 2))])
    assert un.contrast_test(data).n_salient == 3
    record = contrast_record(data)
    assert record["targets"]["two"] == {"p_value": 0.005, "n_salient": 2, "samples": 400}
    assert "targets" not in contrast_record(data[np.isin(groups, (0, 1))])
    assert json.loads(json.dumps(record)) == record
