"""`watch` is called after every epoch, and does not change the fit."""

import numpy as np
import pytest
from small import images, small, vectors

import untwine as un


def test_watching_sees_every_epoch_in_evaluation_mode_and_changes_nothing():
    data, seen = images(), []

    def watch(method, epoch):
        assert not method.nets_.training
        seen.append((epoch, method.transform(data.x)))

    alone = small("principled_vae", networks="conv_norm", epochs=4).fit(data)
    watched = small("principled_vae", networks="conv_norm", epochs=4).fit(data, watch=watch)
    assert [epoch for epoch, _ in seen] == [1, 2, 3, 4]
    assert np.array_equal(watched.transform(data.x), alone.transform(data.x))
    assert np.array_equal(seen[-1][1], alone.transform(data.x))
    assert not np.array_equal(seen[0][1], seen[-1][1])


def test_a_resumed_fit_calls_watch_only_for_the_epochs_that_were_left(tmp_path):
    data, first, second = vectors(), [], []

    def stop(method, epoch):
        first.append(epoch)
        if epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small("principled_vae", epochs=4).fit(data, out=tmp_path / "run", every=0, watch=stop)
    small("principled_vae", epochs=4).fit(data, out=tmp_path / "run", resume=True, watch=lambda m, e: second.append(e))
    assert first == [1, 2]
    assert second in ([2, 3, 4], [3, 4])  # the checkpoint of the last step before the stop may be that of either side
    assert un.load_method(tmp_path / "run").history_[-1].epoch == 3
