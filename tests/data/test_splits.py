import numpy as np
import pytest

from untwine.data import Splits, load, validation_split
from untwine.samples import Samples


def test_a_validation_split_is_taken_from_the_training_split_alone():
    splits = load("toy_contrast", n_target=60, n_background=40)
    selection = validation_split(splits, share=0.25, seed=3)
    assert [len(group) for group in (selection.train.target, selection.test.target)] == [45, 15]
    assert [len(group) for group in (selection.train.background, selection.test.background)] == [30, 10]
    samples = [x.tobytes() for split in selection for x in split.x]
    assert sorted(samples) == sorted(x.tobytes() for x in splits.train.x)
    assert not set(samples) & {x.tobytes() for x in splits.test.x}
    assert selection.test.factor_names == splits.train.factor_names


def test_the_seed_determines_the_validation_split():
    splits = Splits(Samples(np.arange(40.0)[:, None]), Samples(np.ones((3, 1))))
    a, b, other = (validation_split(splits, seed=seed).test.x for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, other)


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ("train", {}, "splits must be the Splits that load returns; got Samples; pass both splits"),
        ("splits", {"share": 1.0}, "share must be a number from 0.01 to 0.9; got 1.0"),
        ("splits", {"seed": -1}, "seed must be an integer of at least 0"),
    ],
)
def test_bad_input_is_refused(given, options, sentence):
    splits = load("toy_contrast", n_target=5, n_background=5)
    with pytest.raises((ValueError, TypeError), match=sentence):
        validation_split(splits if given == "splits" else splits.train, **options)
