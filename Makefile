PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP_FLAGS ?= --quiet --disable-pip-version-check

.PHONY: help demo test test-all test-plugins coverage branches lint docs bench clean

help:  ## print this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: setup.py pyproject.toml
	tools/environment.sh $(VENV) $(PYTHON)
	$(BIN)/python -m pip install $(PIP_FLAGS) -e .
	touch $@

$(VENV)/tested: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[test]'
	touch $@

$(VENV)/linted: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[test,lint]'
	touch $@

$(VENV)/documented: $(VENV)/installed
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[docs]' -e plugins/races -e plugins/sharing
	touch $@

demo: $(VENV)/installed  ## compare strategies on real datasets, in under three minutes
	$(BIN)/mlaut demo --output demo

test: $(VENV)/tested  ## the tests, without the long ones, on all cores
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-all: $(VENV)/tested  ## all tests
	$(BIN)/python -m pytest

# Slurm first: with -j2 its tests, which mostly wait for its clock, run beside the others.
PLUGINS = slurm boards dask exchange extras races sharing

$(VENV)/plugins: $(VENV)/tested $(PLUGINS:%=plugins/%/pyproject.toml)
	$(BIN)/python -m pip install $(PIP_FLAGS) $(PLUGINS:%=-e plugins/%) -e '.[optuna]'
	touch $@

# The tests of MLaut pass with and without the plug-ins.
test-plugins: $(PLUGINS:%=test-plugin-%)  ## the tests of the plug-ins, with the long ones

.PHONY: $(PLUGINS:%=test-plugin-%)
$(PLUGINS:%=test-plugin-%): test-plugin-%: $(VENV)/plugins
	cd plugins/$* && $(abspath $(BIN))/python -m pytest -n auto --dist worksteal

coverage: $(VENV)/tested  ## the share of code lines that the tests run, into CONTRIBUTING.md
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[coverage]'
	$(BIN)/python -m coverage erase
	@# the full disk of that test is also the one that coverage writes to
	$(BIN)/python -m coverage run -m pytest -n auto --dist worksteal -m "not slow" \
	  --deselect tests/acceptance/test_command_line.py::test_full_disk
	$(BIN)/python -m coverage combine -q
	$(BIN)/python -m coverage json -q -o .coverage.json
	$(BIN)/python tools/coverage_table.py .coverage.json

# Without the tests that find something new by chance, those that only an administrator can run, and one in
# which h5py has an exception pending when it calls Python, where the tracer of coverage may crash or drop it.
branches: $(VENV)/plugins  ## that tests reach every branch of files_io and experiments/plans
	$(BIN)/python -m pip install $(PIP_FLAGS) -e '.[coverage]'
	rm -rf $(VENV)/branches
	mkdir $(VENV)/branches
	COVERAGE_FILE=$(VENV)/branches/data $(BIN)/python -m coverage run --branch \
	  --source=mlaut.files_io,mlaut.experiments.plans -m pytest -n auto --dist worksteal \
	  -m "not slow" -k "not (its_twin or writers_lose or parts_make or any_table or any_flipped or disk_that_is)" \
	  mlaut/files_io tests/files_io tests/acceptance/test_old_studies.py tests/experiments/plans \
	  tests/experiments/test_arrays.py tests/experiments/test_several_targets.py tests/experiments/workers/test_allotted.py
	COVERAGE_FILE=$(VENV)/branches/data $(BIN)/python -m coverage combine -q
	COVERAGE_FILE=$(VENV)/branches/data $(BIN)/python -m coverage report -m --skip-covered --fail-under=100 || \
	  { echo "No test reaches these: write one, remove them, or add '# pragma: no cover - reason'"; exit 1; }

lint: $(VENV)/linted  ## style, types, import contracts, and what nothing uses
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	for plugin in $(PLUGINS); do $(BIN)/mypy plugins/$$plugin/mlaut_$$plugin || exit 1; done
	$(BIN)/lint-imports
	$(BIN)/python tools/unused.py
	if [ -x $(BIN)/hadolint ]; then $(BIN)/hadolint Dockerfile; fi

docs: $(VENV)/documented  ## the site, in docs/_build/html
	$(BIN)/python -m sphinx -q -W --keep-going -j auto $(SPHINX_FLAGS) -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(VENV)/tested  ## the measurements in benchmarks/
	for file in benchmarks/bench_*.py; do $(BIN)/python $$file || exit 1; done

clean:  ## remove what make made
	rm -rf $(VENV) build demo docs/_build docs/api docs/examples docs/generated .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
