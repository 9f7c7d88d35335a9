import numpy as np
import pytest

from untwine.data import Splits, load, validation_split
from untwine.samples import Samples


def test_what_one_chooses_on_is_made_of_the_training_part_alone():
    splits = load("toy_contrast", n_target=60, n_background=40)
    choosing = validation_split(splits, share=0.25, seed=3)
    assert [len(part) for part in (choosing.train.target, choosing.test.target)] == [45, 15]
    assert [len(part) for part in (choosing.train.background, choosing.test.background)] == [30, 10]
    rows = [row.tobytes() for part in choosing for row in part.x]
    assert sorted(rows) == sorted(row.tobytes() for row in splits.train.x)
    assert not set(rows) & {row.tobytes() for row in splits.test.x}
    assert choosing.test.factor_names == splits.train.factor_names


def test_the_seed_decides_and_the_rows_differ_from_the_data_sets_own_split():
    splits = Splits(Samples(np.arange(40.0)[:, None]), Samples(np.ones((3, 1))))
    a, b, other = (validation_split(splits, seed=seed).test.x for seed in (0, 0, 1))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, other)


@pytest.mark.parametrize(
    ("given", "options", "sentence"),
    [
        ("train", {}, "validation_split expected what load returned; got Samples; pass the whole Splits"),
        ("splits", {"share": 1.0}, "share must be a number from 0.01 to 0.9; got 1.0"),
        ("splits", {"seed": -1}, "seed must be a whole number of at least 0"),
    ],
)
def test_bad_input_gets_its_sentence(given, options, sentence):
    splits = load("toy_contrast", n_target=5, n_background=5)
    with pytest.raises((ValueError, TypeError), match=sentence):
        validation_split(splits if given == "splits" else splits.train, **options)
