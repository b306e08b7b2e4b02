# The contributor's commands. `make help` lists them.
PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
LEAST := .venv-least
BIN := $(VENV)/bin
# -qq: what pip warns about concerns the machine, not us; its errors still show. --no-compile: what is imported is compiled then
PIP := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check -c constraints.txt

# What is written with the pinned versions: schemas as pydantic words them, the pins, and an old NumPy's warning in pyproj.
BY_THE_PINS := $(addprefix tests/,docs/test_documents.py::test_what_a_script_draws_is_up_to_date \
    shown/test_plain_install.py::test_every_distribution_of_a_plain_install_is_pinned \
    local/test_slips.py::test_one_position_is_moved_in_silence)

FAST := $(addprefix tests/,exact distance notion noise accounting test_architecture.py test_face.py)

# Where it is set, each command that a test starts would compile all of ours anew: a third of a second.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-fast sweeps long coverage lint format format-check types docs proofs mutants least bench check clean

help: ## list these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/installed ## run the main job on a synthetic city; writes demo-out/report.html
	@$(BIN)/leeward demo --out demo-out

test: $(VENV)/installed-dev ## run the tests; of each grid the first point, the others are sweeps
	@.ci/debian-packages chromium postgresql
	@$(BIN)/python -m pytest -m "not sweep and not site"

test-fast: $(VENV)/installed-dev ## run the tests of the theory and of the shape of the package: within a minute
	@$(BIN)/python -m pytest -m "not sweep and not site" $(FAST)

sweeps: $(VENV)/installed-dev ## run more points of each grid, and what goes through long grids with the whole program
	@.ci/debian-packages postgresql openjdk-17-jre-headless
	@$(BIN)/python -m pytest -m "sweep and not long"

long: $(VENV)/installed-dev ## run the sweeps that are too long for a build server: the points of grids that are left, a thousand cases for each engine, ten thousand plans
	@.ci/debian-packages postgresql openjdk-17-jre-headless
	@$(BIN)/python -m pytest -m long

coverage: $(VENV)/installed-dev ## run the tests and say which lines and branches of src none of them reached
	@.ci/debian-packages chromium postgresql
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -m "not sweep and not site"
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

lint: $(VENV)/installed-dev ## look for mistakes in the code
	@$(BIN)/ruff check .

format: $(VENV)/installed-dev ## rewrite the code in the house format
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

format-check: $(VENV)/installed-dev ## fail if the code is not in the house format
	@$(BIN)/ruff format --check .

types: $(VENV)/installed-dev ## check the types, strictly
	@$(BIN)/mypy

docs: $(VENV)/installed-dev $(VENV)/installed-docs ## build the documentation into site/ and read it in a browser
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@.ci/debian-packages chromium
	@$(BIN)/python -m pytest -n0 -m site tests/docs/test_site.py
	@echo "The documentation is in site/index.html"

proofs: ## check the machine-checked proofs, and print what each theorem assumes
	@.ci/debian-packages coq
	@$(PYTHON) proofs/check.py

mutants: $(VENV)/installed-dev ## make each listed mistake and see that its tests catch it; hours, or ONLY="words" for some
	@$(BIN)/python -m tests.mutants.run $(ONLY)

least: $(LEAST)/installed ## run the tests with the least versions of all libraries that pyproject.toml says will do
	@.ci/debian-packages chromium postgresql
	@$(LEAST)/bin/python -m pytest -W default -m "not sweep and not site" $(addprefix --deselect ,$(BY_THE_PINS))

bench: export OPENDP_PYTHON := $(PEERS)/bin/python
bench: $(VENV)/installed-bench $(PEERS)/installed ## measure against the peers, same work in one run; a quarter of an hour
	@for script in $(filter-out benchmarks/history.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

check: ## all that a change must pass, as the build server runs it
	@.ci/run

clean: ## remove what these commands made
	rm -rf $(VENV) $(PEERS) $(LEAST) site demo-out proofs/build .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis

# ---- set-up: one stamp for each set of extras, renewed when the pins or the packaging change

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "$(PYTHON) is not Python 3.11 or later. Name one that is: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@PYTHON="$(PYTHON)" .ci/debian-packages python3-venv
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Leeward in $(VENV) (about a minute)"
	@$(PIP) -e .
	@touch $@

$(VENV)/installed-%: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Leeward and its $* tools in $(VENV) (about a minute)"
	@$(PIP) -e '.[$*]'
	@touch $(VENV)/installed $@

# OpenDP reads tables with one exact version of Polars, which need not be the one that Leeward is tested with.
$(PEERS)/installed: $(VENV)/bin/python benchmarks/peers.txt
	@echo "Installing the peers in $(PEERS)"
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install -qq --disable-pip-version-check -r benchmarks/peers.txt
	@touch $@

# pip chooses the greatest versions alone. What old versions warn of, a later one has mended: no failure (-W default above).
$(LEAST)/installed: pyproject.toml
	@echo "Installing Leeward with the least versions in $(LEAST)"
	@$(PYTHON) -m venv $(LEAST)
	@$(LEAST)/bin/python -m pip install -qq --disable-pip-version-check uv
	@$(LEAST)/bin/uv pip install -q --python $(LEAST)/bin/python --resolution lowest-direct -e '.[dev]'
	@touch $@
