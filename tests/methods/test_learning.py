"""Methods learn what they promise, on data whose truth is known."""

import json
import subprocess
import sys

import numpy as np
import pytest

import untwine as un
from untwine.methods import METHODS
from untwine.metrics import canonical_correlation

CONTRASTIVE = [name for name, method in METHODS.items() if method.needs == "groups"]


def recovered(seed, name="principled_vae", **options):
    """Canonical correlations of salient and of common codes with the true salient factors of unseen samples."""
    data = un.load("toy_contrast", seed=seed)
    truth = data.test.target.factors[:, [factor.startswith("salient") for factor in data.test.factor_names]]
    make = METHODS[name].fixed if options else METHODS[name]
    z = make(seed=seed, **options).fit(data.train).encode(data.test.target.x)
    return canonical_correlation(z.salient, truth), canonical_correlation(z.common, truth)


def test_principled_vae_recovers_the_salient_factors():
    untrained, _ = recovered(seed=0, epochs=1, lr=1e-9)
    salient, common = recovered(seed=0, epochs=30)
    assert untrained < 0.9
    assert salient >= 0.95
    assert common <= 0.20


@pytest.mark.soak
def test_principled_vae_recovers_the_salient_factors_over_five_seeds():
    result = np.array([recovered(seed, epochs=50) for seed in range(5)])
    salient, common = result.mean(0)
    assert salient >= 0.95, result
    assert common <= 0.20, result


@pytest.mark.soak
@pytest.mark.parametrize("name", CONTRASTIVE)
def test_every_contrastive_method_recovers_the_salient_subspace_with_its_defaults(name):
    salient, _ = recovered(seed=0, name=name)
    assert salient >= 0.9


@pytest.mark.soak
@pytest.mark.timed
def test_the_demo_takes_digits_off_grass(tmp_path):
    # In a process of its own, as a user runs it: with all threads, which the tests do without.
    command = [sys.executable, "-m", "untwine", "demo", "--out", str(tmp_path / "demo"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scores, plain = (json.loads((tmp_path / "demo" / p / "scores.json").read_text()) for p in (".", "pca"))
    assert scores["probe.salient"]["n"] >= 2000
    assert scores["probe.salient"]["value"] >= 0.85
    assert scores["probe.common"]["value"] <= 0.25
    assert scores["factors.common"]["value"] >= 0.7
    assert scores["factors.salient"]["value"] <= 0.2
    assert json.loads((tmp_path / "demo" / "method.json").read_text())["seconds"]["fit"] <= 120
    # A PCA of the same width has both in one block: its probe accuracy of the digit is below the salient block's, and above
    # what the common block may have; it encodes the grass too.
    assert plain["probe.z"]["value"] < scores["probe.salient"]["value"]
    assert plain["clustering.z"]["value"] < scores["clustering.salient"]["value"]
    assert plain["factors.z"]["value"] > 0.5
    assert (tmp_path / "demo" / "report.html").stat().st_size > 100_000
    assert "report.html" in done.stdout


@pytest.mark.soak
@pytest.mark.timed
def test_the_demo_takes_digits_never_seen_apart_from_their_pose(tmp_path):
    command = [sys.executable, "-m", "untwine", "demo", "--setting", "classes", "--out", str(tmp_path / "demo"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    scores = json.loads((tmp_path / "demo" / "scores.json").read_text())
    read = {name: score["value"] for name, score in scores.items()}
    assert read["class_read.class"] >= 0.9
    assert read["content_read.content"] >= 0.85
    assert read["class_read.content"] <= read["class_chance.x"] + 0.02
    assert read["content_read.class"] <= read["content_chance.x"] + 0.05
    assert read["transfer.x"] <= 0.5 * read["transfer_unmoved.x"]
    assert json.loads((tmp_path / "demo" / "method.json").read_text())["seconds"]["fit"] <= 400
    assert "Images of digits never seen" in done.stdout
