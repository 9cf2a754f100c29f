# Everything a newcomer needs: `make map` and `make test`. Installing happens once; a changed requirement repeats it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Rounding depends on the instructions a processor has; these make any x86 round like one without AVX.
OTHER_PROCESSOR := ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_ENABLE_INSTRUCTIONS=SSE4_2
WORKERS ?= 2
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

.PHONY: map test test-other-processor browser check bench docs clean

map: $(VENV)/.run
	$(BIN)/headatlas map $(ARGS)

# One thread for each worker. A single test is quicker alone: .venv/bin/python -m pytest tests/model/test_heads.py
test: $(VENV)/.dev browser
	$(PYTEST) $(ARGS)

test-other-processor: $(VENV)/.dev
	$(OTHER_PROCESSOR) $(PYTEST) tests/model tests/test_golden.py $(ARGS)

browser:
	@tests/install_browser.sh

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/lint_page.py

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(ARGS)

# The notebook is run and becomes a page, then the site is built: open build/site/index.html. No network is needed to read it.
docs: $(VENV)/.docs
	PYTHONWARNINGS=ignore $(BIN)/jupyter nbconvert --execute --to markdown --output-dir docs/tour examples/tour.ipynb
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

# torch comes first and alone: asked for by another package, pip could take a CUDA build of several gigabytes.
$(VENV)/.torch: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) torch
	touch $@

$(VENV)/.run: $(VENV)/.torch
	$(INSTALL) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.torch
	$(INSTALL) --editable ".[dev]"
	touch $(VENV)/.run $@

$(VENV)/.docs: $(VENV)/.dev
	$(INSTALL) --editable ".[docs]"
	touch $@
