"""Sparse cells are read from a file, fitted, encoded and scored without ever being dense as a whole."""

import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

MEGABYTE = 2**20
# In a process of its own, whose peak is that of nothing else; a tiny fit first brings in all that is imported on the way.
PROBE = """
import sys, resource
import numpy as np
import untwine as un
from scipy import sparse
from untwine.data.readers.anndata_files import read_anndata
from untwine.data.readers.roles import Roles

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

roles = Roles(group="condition", background=("control",))
options = dict(epochs=1, batch=256, width=64, n_common=8, n_salient=4)

def run(path):
    samples = read_anndata(path, roles)
    assert sparse.issparse(samples.x)
    method = un.PrincipledVAE(**options).fit(samples)
    z = method.encode(samples)
    un.evaluate(method, samples[:: max(1, len(samples) // 5000)], ["reconstruction"])
    assert np.isfinite(z.array()).all() and z.n_samples == len(samples)

run(sys.argv[1])
before = peak()
run(sys.argv[2])
print(before, peak())
"""


def write(path, cells, genes, density=0.07, seed=0):
    rng = np.random.default_rng(seed)
    blocks = []
    for start in range(0, cells, 5_000):
        n = min(5_000, cells - start)
        block = sparse.csr_matrix(rng.random((n, genes), dtype=np.float32) < density, dtype=np.float32)
        block.data[:] = np.log1p(rng.integers(1, 20, size=block.nnz)).astype(np.float32)
        blocks.append(block)
    obs = pd.DataFrame({"condition": pd.Categorical(np.where(np.arange(cells) % 2, "treated", "control"))})
    obs.index = [f"cell {i}" for i in range(cells)]
    var = pd.DataFrame(index=[f"gene {i}" for i in range(genes)])
    anndata.AnnData(sparse.vstack(blocks, format="csr"), obs=obs, var=var).write_h5ad(path)


def peaks(tmp_path, cells, genes):
    write(tmp_path / "few.h5ad", 600, genes)
    write(tmp_path / "many.h5ad", cells, genes)
    paths = [str(tmp_path / "few.h5ad"), str(tmp_path / "many.h5ad")]
    done = subprocess.run([sys.executable, "-c", PROBE, *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(map(int, done.stdout.split()))


def test_cells_are_fitted_without_their_dense_array(tmp_path):
    cells, genes = 40_000, 1_000
    before, after = peaks(tmp_path, cells, genes)
    # 22 MB sparse and 160 MB dense, which would be too much on top of the chunks (65 to 150 MB: the C library keeps some).
    assert after - before < 1.3 * 4 * cells * genes, f"{before / MEGABYTE:.0f} -> {after / MEGABYTE:.0f} MB"


@pytest.mark.soak
def test_200_000_cells_of_2_000_genes_are_fitted_in_less_than_3_gigabytes(tmp_path):
    before, after = peaks(tmp_path, 200_000, 2_000)
    print(f"peak of resident memory: {before / MEGABYTE:.0f} MB before, {after / MEGABYTE:.0f} MB after")
    assert after < 3 * 1024 * MEGABYTE
    assert after - before < 4 * 200_000 * 2_000  # what the dense array alone would take
