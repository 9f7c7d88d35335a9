import numpy as np
import pytest
import torch

from untwine.metrics import swap_accuracy, swap_preservation
from untwine.metrics.classifier import network_input, train_classifier
from untwine.metrics.swap import other_class


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 100)


def images(n=240, seed=0, side=8):
    """A bright quarter shows the class, the brightness of the rest is the factor."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 4
    grey = rng.uniform(0, 0.5, n)
    x = np.tile(grey[:, None, None, None], (1, 1, side, side)).astype(np.float32)
    for i, label in enumerate(labels):
        down, right = divmod(int(label), 2)
        x[i, 0, down * side // 2 : (down + 1) * side // 2, right * side // 2 : (right + 1) * side // 2] = 1.0
    return x, labels, grey[:, None]


def test_a_correct_swap_scores_1_and_no_swap_0():
    x, labels, _ = images()
    donors = other_class(labels)
    assert (labels[donors] != labels).all()
    right = swap_accuracy(x, labels, x[donors], labels[donors])
    assert right.value == 1.0
    assert right.ceiling == 1.0
    assert right.n == 240
    assert swap_accuracy(x, labels, x, labels[donors]).value == 0.0
    mixed = np.where(np.arange(240)[:, None, None, None] % 2 == 0, x[donors], x)
    result = swap_accuracy(x, labels, mixed, labels[donors])
    assert result.value == 0.5
    assert np.mean(result.folds) == pytest.approx(0.5, abs=0.01)


def test_preservation_is_about_the_donor_of_the_common_block():
    x, _, grey = images()
    order = np.random.default_rng(1).permutation(240)
    preserved = swap_preservation(x, grey, x[::-1].copy(), grey[::-1])
    assert preserved.value > 0.9
    assert preserved.ceiling > 0.9
    assert len(preserved.folds) == 5
    assert swap_preservation(x, grey, x[order], grey).value < 0.1
    assert swap_preservation(x, grey, np.full_like(x, 0.3), grey).value < 0.1
    with_constant = swap_preservation(x, np.hstack([grey, 0 * grey + 2]), x, np.hstack([grey, 0 * grey + 2]))
    assert with_constant.value > 0.9
    unknown = np.where(np.arange(240)[:, None] % 5 == 0, np.nan, grey)
    assert swap_preservation(x, unknown, x, unknown).value > 0.9


def test_uint8_images_are_scaled_to_0_1_and_vectors_work_too():
    x, labels, _ = images()
    donors = other_class(labels)
    bytes_ = np.rint(255 * x).astype(np.uint8)
    assert swap_accuracy(bytes_, labels, x[donors], labels[donors]).value == 1.0
    rng = np.random.default_rng(0)
    vectors = 3.0 * np.eye(4)[labels] + rng.normal(size=(240, 4)) * 0.3
    assert swap_accuracy(vectors, labels, vectors[donors], labels[donors]).value > 0.95
    assert network_input(np.zeros((2, 3, 64, 48)), "x").shape == (2, 3, 64, 48)
    assert network_input(np.zeros((2, 3, 28, 20)), "x").shape == (2, 3, 28, 20)


def test_the_ceiling_is_that_of_held_out_samples():
    x, labels, _ = images()
    rng = np.random.default_rng(0)
    noise = rng.uniform(size=x.shape).astype(np.float32)
    result = swap_accuracy(x, labels, x, labels, test_x=noise, test_labels=labels)
    assert result.value == 1.0
    assert result.ceiling < 0.6
    # Random labels: memorised for train samples, at chance for others.
    random = rng.integers(0, 4, 240)
    assert swap_accuracy(noise, random, noise, random).ceiling < 0.6


def test_the_same_seed_gives_the_same_and_the_global_random_state_is_unchanged():
    x, labels, _ = images(80)
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    first = swap_accuracy(x, labels, 0.5 * x[::-1], labels)
    assert torch.equal(torch.rand(3), expected)
    assert swap_accuracy(x, labels, 0.5 * x[::-1], labels) == first


def count_steps(monkeypatch):
    steps = []
    loss = torch.nn.functional.cross_entropy
    monkeypatch.setattr(
        "untwine.metrics.classifier.functional.cross_entropy", lambda *inputs: (steps.append(1), loss(*inputs))[1]
    )
    return steps


def test_training_goes_on_as_long_as_held_out_samples_gain(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 3000)
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 4
    steps = count_steps(monkeypatch)
    predict = train_classifier(torch.tensor(np.eye(4)[labels] + 0.1 * rng.normal(size=(400, 4))).float(), labels, 4)
    assert (predict(torch.eye(4)) == np.arange(4)).all()
    easy = len(steps)
    assert easy <= 25 * (1 + 6 + 6) + 25
    # Many classes on a line: the held-out accuracy rises for long.
    lines = rng.uniform(-1, 1, size=(1200, 1))
    truth = np.floor(8 * (lines[:, 0] + 1)).astype(int)
    predict = train_classifier(torch.tensor(lines).float(), truth, 16)
    others = rng.uniform(-1, 1, size=(600, 1))
    assert len(steps) - easy > easy
    assert (predict(torch.tensor(others).float()) == np.floor(8 * (others[:, 0] + 1))).mean() > 0.85


def test_the_network_that_is_used_is_the_best_on_held_out_samples(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 1000)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 300)
    steps = count_steps(monkeypatch)
    x = torch.tensor(rng.normal(size=(300, 20))).float()
    x[:, 0] += 1.5 * torch.tensor(labels)
    predict = train_classifier(x, labels, 2)
    assert len(steps) < 1000  # it would memorise the rest
    other = rng.integers(0, 2, 2000)
    y = torch.tensor(rng.normal(size=(2000, 20))).float()
    y[:, 0] += 1.5 * torch.tensor(other)
    assert (predict(y) == other).mean() > 0.68


def test_images_are_judged_at_their_own_size(monkeypatch):
    monkeypatch.setattr("untwine.metrics.classifier.STEPS", 40)
    monkeypatch.setattr("untwine.metrics.classifier.CHECK", 5)
    labels = np.arange(60) % 2
    stripes = np.tile(np.arange(64) % 2, (64, 1)).astype(np.float32)
    x = np.stack([stripes.T if label else stripes for label in labels])[:, None]  # at 32 x 32 both are grey
    noisy = x + 0.1 * np.random.default_rng(0).normal(size=x.shape).astype(np.float32)
    assert swap_accuracy(noisy, labels, noisy, labels).ceiling == 1.0


def test_donors_are_drawn_among_all_other_classes():
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    donors = np.concatenate([other_class(labels, seed) for seed in range(200)])
    own = np.tile(np.arange(100), 200)
    assert (labels[donors] != labels[own]).all()
    counts = np.bincount(donors[labels[own] == 2], minlength=100)
    assert counts[:80].min() > 0.5 * counts[:80].mean()
    assert counts[80:].sum() == 0


def test_bad_samples_labels_and_factors_are_refused():
    x, labels, grey = images(40)
    with pytest.raises(ValueError, match="at least 2 classes"):
        swap_accuracy(x, np.zeros(40, dtype=int), x, labels)
    with pytest.raises(ValueError, match="one label for each sample"):
        swap_accuracy(x, labels, x[:30], labels)
    with pytest.raises(ValueError, match="must have the shape of real_x"):
        swap_accuracy(x, labels, x[:, :, :6], labels)
    with pytest.raises(ValueError, match="at least 10 samples"):
        swap_accuracy(x[:8], labels[:8], x, labels)
    with pytest.raises(ValueError, match="swapped_x must be finite"):
        swap_accuracy(x, labels, x * np.nan, labels)
    with pytest.raises(ValueError, match="at least 2 classes"):
        other_class(np.zeros(5, dtype=int))
    with pytest.raises(ValueError, match="got none among 1"):
        swap_preservation(x, np.ones((40, 1)), x, grey)
    with pytest.raises(ValueError, match="test_factors with test_x"):
        swap_preservation(x, grey, x, grey, test_x=x)
    with pytest.raises(ValueError, match="the same factors"):
        swap_preservation(x, grey, x, np.hstack([grey, grey]))
