"""What is claimed of the methods on simulated cells holds in the committed tables: ours, scvi-tools' ContrastiveVI, and PCA."""

from collections import defaultdict
from statistics import mean

import pytest

from benchmarks import cells
from untwine.study.study import Study

LEAKAGE = ("probe_strong_cell_type.salient", "leakage_covariates_batch.salient")
SEPARATION = ("ari.salient", "silhouette.salient", "probe.salient")
DRAWS = {"counts and batches": "log counts", "second draw": "second draw as log counts"}


@pytest.fixture(scope="module")
def studied():
    """The values over seeds of each data set, row and score of the study."""
    values = defaultdict(list)
    for one in Study.read(cells.STUDY).results():
        values[one["data"], one["row"], one["score"]].append(float(one["value"]))
    return values


@pytest.fixture(scope="module")
def peer():
    """The values over seeds of each row and score of ContrastiveVI."""
    values = defaultdict(list)
    for line in cells.read_rows():
        values[line["row"], line["score"]].append(float(line["value"]))
    return values


@pytest.mark.parametrize("row", cells.ROWS)
def test_less_of_the_cell_type_and_of_the_batch_is_in_our_salient_block_than_in_the_peers(studied, peer, row):
    for score in LEAKAGE:
        ours, theirs = studied[cells.DATA, cells.OURS, score], peer[row, score]
        assert (len(ours), len(theirs)) == (3, 3)
        assert mean(ours) < mean(theirs), score


@pytest.mark.parametrize("row", cells.ROWS)
def test_our_salient_block_separates_the_responses_at_least_as_well_as_the_peers(studied, peer, row):
    for score in SEPARATION:
        assert mean(studied[cells.DATA, cells.OURS, score]) >= mean(peer[row, score]), score


@pytest.mark.parametrize("data", DRAWS)
def test_contrastive_pca_of_any_width_and_alpha_separates_the_responses_clearly_worse(studied, data):
    rows = {row for one, row, _ in studied if one == DRAWS[data] and "contrastive PCA" in row}
    assert len(rows) == 8
    best = max(mean(studied[DRAWS[data], row, "ari.salient"]) for row in rows)
    assert best < mean(studied[data, cells.OURS, "ari.salient"]) - 0.1


@pytest.mark.parametrize("data", DRAWS)
def test_the_genes_that_respond_are_found(studied, data):
    ours = studied[data, cells.OURS, "changed_features.x"]
    assert len(ours) == 3
    assert mean(ours) >= 0.9
