# Everything a newcomer needs: `make map` and `make test`. Installing happens once; a changed requirement repeats it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: map test browser check bench docs clean

map: $(VENV)/.run
	$(BIN)/headatlas map $(ARGS)

test: $(VENV)/.dev browser
	$(BIN)/python -m pytest $(ARGS)

browser:
	@tests/install_browser.sh

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks $(ARGS)

# The notebook is run and becomes a page, then the site is built: open build/site/index.html. No network is needed to read it.
docs: $(VENV)/.docs
	PYTHONWARNINGS=ignore $(BIN)/jupyter nbconvert --execute --to markdown --output-dir docs/tour examples/tour.ipynb
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

clean:
	rm -rf $(VENV) build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache

# torch comes first and alone: asked for by another package, pip could take a CUDA build of several gigabytes.
$(VENV)/.run: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) torch
	$(INSTALL) --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(INSTALL) --editable ".[dev]"
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(INSTALL) --editable ".[docs]"
	touch $@
