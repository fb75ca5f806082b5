PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP_FLAGS ?= --quiet --disable-pip-version-check

.PHONY: help demo test test-all lint bench clean

help:  ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: setup.py
	tools/environment.sh $(VENV) $(PYTHON)
	$(BIN)/python -m pip install $(PIP_FLAGS) -e .
	touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[test]'
	touch $@

$(VENV)/linted: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[dev]'
	touch $@

demo: $(VENV)/installed  ## compare strategies on real datasets, in under three minutes
	$(BIN)/mlaut demo --output demo

test: $(VENV)/tested  ## the tests, without the long ones
	$(BIN)/python -m pytest -m "not slow"

test-all: $(VENV)/tested  ## all tests
	$(BIN)/python -m pytest

lint: $(VENV)/linted  ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/tested  ## the measurements in benchmarks/
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

clean:  ## remove what make made
	rm -rf $(VENV) build demo site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
