"""Metrics of another version, for a while."""

from dataclasses import replace

from untwine.evaluation.registry import METRICS


def set_version(monkeypatch, name, version):
    changed = replace(METRICS[name], version=version)
    monkeypatch.setitem(METRICS._entries, name, changed)
