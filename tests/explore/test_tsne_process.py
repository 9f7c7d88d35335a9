"""t-SNE of many samples is computed by another process: the same plane, its errors, and its end with the process that asked."""

import io
import os
import sys
from threading import Event

import numpy as np
import pytest

from untwine.explore import tsne_process
from untwine.metrics.clustering import tsne

CODES = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


def test_the_plane_of_many_samples_is_the_same_and_not_computed_here(monkeypatch):
    expected = tsne(CODES)
    monkeypatch.setattr(tsne_process, "MANY", len(CODES) - 1)
    monkeypatch.setattr(tsne_process, "NICE", 0)  # or all other tests would come first
    monkeypatch.setattr(tsne_process, "tsne", None)
    np.testing.assert_array_equal(tsne_process.plane(CODES), expected)


@pytest.mark.skipif(not hasattr(os, "nice"), reason="this system has no niceness of processes")
def test_it_leaves_the_processor_to_what_is_asked_for(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "argv", ["", str(tsne_process.NICE)])
    monkeypatch.setattr(os, "nice", seen.append)
    monkeypatch.setattr(tsne_process, "answer", lambda *_: seen.append("answered"))
    monkeypatch.setattr(os, "_exit", seen.append)
    tsne_process.main()
    assert seen == [tsne_process.NICE, "answered", 0]
    assert tsne_process.NICE > 0


def test_what_went_wrong_in_the_process_is_raised(monkeypatch):
    monkeypatch.setattr(tsne_process, "MANY", 0)
    monkeypatch.setattr(tsne_process, "NICE", 0)
    with pytest.raises(RuntimeError, match="ValueError: codes must be finite"):
        tsne_process.plane(np.full((5, 2), np.nan))


class Sent(io.BytesIO):
    """Standard input whose other side closes it, or not, once the codes are read."""

    def __init__(self, content, closed):
        super().__init__(content)
        self.closes = closed

    def read(self, size=-1):
        if self.tell() == len(self.getvalue()) and not self.closes:
            Event().wait(60)
        return super().read(size)


@pytest.mark.parametrize("closed", [True, False])
def test_it_ends_with_the_process_that_asked(monkeypatch, closed):
    stored = io.BytesIO()
    np.save(stored, CODES, allow_pickle=False)
    ended, ends, result = Event(), [], io.BytesIO()
    # The plane is there as soon as the process would have ended, or at once where it does not.
    monkeypatch.setattr(tsne_process, "tsne", lambda codes: (ended.wait(60) if closed else None, codes[:, :2])[1])
    sent = Sent(len(stored.getvalue()).to_bytes(tsne_process.LENGTH) + stored.getvalue(), closed)
    tsne_process.answer(sent, result, lambda code: (ends.append(code), ended.set()))
    assert ends == ([1] if closed else [])
    np.testing.assert_array_equal(np.load(io.BytesIO(result.getvalue()), allow_pickle=False), CODES[:, :2])
