# Every target sets up what it needs in .venv, once, and again when pyproject.toml changes.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
RUN := $(VENV)/bin/python
# of what is installed, Python compiles what is imported: pip would compile all of it, one file after the other
PIP := $(RUN) -m pip install --quiet --quiet --disable-pip-version-check --no-compile
# one more than there are processors: some tests wait for processes, and others compute meanwhile
WORKERS ?= $(shell echo $$(( $$(nproc 2>/dev/null || echo 2) + 1 )))
BENCH_HOME ?= ../shared/bench

# Python's bytecode is kept, whatever the shell says: hundreds of tests start processes, and each would compile our sources
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint format bench bench-data docs clean
.DELETE_ON_ERROR:

help:
	@echo "make demo    train a network on handwritten digits, eager and compiled, and save it"
	@echo "make test    run the tests, the doctests and the tour"
	@echo "make lint    check style, types and layers"
	@echo "make format  let ruff put the style right"
	@echo "make bench   time Mycelia beside other frameworks; BENCH_HOME says where the harness is"
	@echo "make bench-data   the same for the data engine: pictures, records, processes"
	@echo "make docs    run the tour and write pages and reference to build/docs"
	@echo "make clean   remove the environment and everything else that was made"

$(RUN):
	@echo "making $(VENV) with $(PYTHON)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Mycelia needs Python 3.11 or newer: make PYTHON=...")'
	@$(PYTHON) -m venv $(VENV)
	-@$(PIP) --upgrade pip  # the one that comes with Python 3.11 takes twice as long for what follows

# the framework alone
$(VENV)/.core: pyproject.toml | $(RUN)
	@echo "installing mycelia"
	@$(PIP) --editable .
	@touch $@

# with all that its developers use
$(VENV)/.dev: pyproject.toml | $(RUN)
	@echo "installing mycelia[dev]"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core
	@$(RUN) examples/digits.py

# each worker computes with one thread: together they fill the machine
test: $(VENV)/.dev
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(RUN) -m pytest -q -n $(WORKERS) --dist worksteal

lint: $(VENV)/.dev
	@$(RUN) -m ruff check
	@$(RUN) -m ruff format --check
	@$(RUN) -m mypy --num-workers $(WORKERS)
	@$(VENV)/bin/lint-imports

format: $(VENV)/.dev
	@$(RUN) -m ruff check --fix
	@$(RUN) -m ruff format

bench: $(VENV)/.dev
	@$(RUN) benchmarks/run.py

bench-data: $(VENV)/.dev
	@$(RUN) benchmarks/data_engine.py
	@MYCELIA_DATA_PEER=benchmarks/mycelia_data_peer.py MYCELIA_PYTHON=$(RUN) $(RUN) $(BENCH_HOME)/data_bench.py

# Tensor.int and its like hide the types of the same name, which annotations then seem to mean
QUIET := -W "ignore:Error parsing type annotation"

docs: $(VENV)/.dev
	@$(RUN) docs/tour.py
	@$(RUN) $(QUIET) -m pdoc --output-directory build/docs mycelia
	@$(RUN) docs/website.py build/docs

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
