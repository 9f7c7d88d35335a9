# Every target makes its own environment: Python 3.11 and pip are all one needs.
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PYTHONHASHSEED = 0
# Threads that wait for long should sleep: where others use the machine too, spinning ones slow it down many times over.
demo test soak: export GOMP_SPINCOUNT = 10000
# The tests run in as many workers as there are cores; each takes one.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1

.PHONY: demo test check lint types words architecture papers browser cluster soak bench docs docs-serve pages notebooks clean help

help:
	@echo "make demo   train on digits over grass, take them apart, and make a page of it: runs/demo/report.html"
	@echo "make test   the tests, in a few minutes"
	@echo "make check  lint, strict types, words, tests"
	@echo "make words  private words where the field has its own (tools/words.py)"
	@echo "make architecture  redraw docs/images/architecture.svg from the imports"
	@echo "make papers write docs/papers.md, every item of the papers and its state, from the finished cells of the studies"
	@echo "make docs   the documentation, from this machine alone: site/index.html (make docs-serve: as one writes it)"
	@echo "make pages  write the pages that the code describes: docs/data, docs/methods, docs/metrics, docs/commands"
	@echo "make notebooks  run the pages whose Python has changed, at full length, and keep what they print and draw"
	@echo "make browser  click through the explorer in Chromium (installs nothing but Python packages; Debian: apt install chromium)"
	@echo "make cluster  the tests of Ray, which it installs (240 MB)"
	@echo "make soak   the long checks at full count (kills, hostile data, two processes, learning)"
	@echo "make bench  speed and memory, side by side with peers"

demo: .venv/ready
	$(BIN)/untwine demo

test: .venv/ready-dev
	$(BIN)/python -m pytest -m "not soak" -n auto --dist loadfile

check: lint types words test

lint: .venv/ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready-dev
	$(BIN)/mypy

words: .venv/bin/python
	$(BIN)/python tools/words.py

architecture: .venv/bin/python
	$(BIN)/python tools/import_graph.py

papers: .venv/ready
	$(BIN)/python tools/papers.py

# The theme would say that its successor is another program.
docs docs-serve: export NO_MKDOCS_2_WARNING = 1

docs: .venv/ready-docs
	$(BIN)/python -m mkdocs build --strict --quiet
	@echo "site/index.html"

docs-serve: .venv/ready-docs
	$(BIN)/python -m mkdocs serve

pages: .venv/ready
	$(BIN)/python tools/data_pages.py
	$(BIN)/python tools/method_pages.py
	$(BIN)/python tools/metric_pages.py
	$(BIN)/python tools/command_pages.py

notebooks: .venv/ready-dev
	$(BIN)/python tools/notebooks.py

browser: .venv/ready-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m browser -rs tests/browser

cluster: .venv/ready-cluster
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not soak" -rs tests/study/executors

soak: .venv/ready-soak
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "soak and not timed" -n auto --dist worksteal
	$(BIN)/python -m pytest -m "soak and timed"

bench: .venv/ready-bench
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv build site *.egg-info .mypy_cache .ruff_cache .pytest_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/ready: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	@touch $@

.venv/ready-dev: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

.venv/ready-docs: .venv/ready
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	@touch $@

.venv/ready-cluster: .venv/ready-dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[cluster]"
	@touch $@

.venv/ready-soak: .venv/ready-cluster
	$(BIN)/pip install --quiet --constraint constraints.txt scanpy
	@touch $@

.venv/ready-bench: .venv/ready-dev
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[bench]"
	@touch $@
