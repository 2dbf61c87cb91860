# Each target is one command that could be typed as well, in the environment of `make setup`.
PYTHON ?= python3
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)

PYTEST := pytest --numprocesses 2
NO_DRILL := not e2e and not slurm and not faults

.PHONY: setup reproduce test test-all drill lint docs gpu

setup: $(BIN)/.ready

reproduce: setup
	snakemake --cores all

test: setup
	$(PYTEST)

test-all: setup
	$(PYTEST) --hypothesis-profile thorough -m "$(NO_DRILL)"

drill: setup
	AUTOMATA_INPUTS=200 pytest tests/hostile
	pytest -s -m "not ($(NO_DRILL))"

lint: setup
	ruff check && ruff format --check && mypy && snakefmt --check workflow rules studies && snakemake --lint

docs: setup
	mkdocs build

gpu: setup
	python -m benchmarks.gpu.proof

$(BIN)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11 to 3.13 is needed, this is " + sys.version)'
	@echo "Installing the packages of requirements.lock into .venv: one to three minutes"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -c "from automata.training.device import seen; print(seen())"
	@touch $@
