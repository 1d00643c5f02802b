# Two commands: `make run` shows Weft at work, `make test` checks everything. Both set up what they need.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help run test check fmt bench lock clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: .venv/.ready  ## make the environment and build a writing kit, offline and with no key
	@$(BIN)/weft --workspace demo run examples/tides.md
	@echo; $(BIN)/weft --workspace demo plan examples/tides.md

test: .venv/.ready-dev  ## the same, then every test and check
	@$(MAKE) --no-print-directory run
	@$(MAKE) --no-print-directory check
	$(BIN)/pytest -n auto --dist worksteal

check: .venv/.ready-dev  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fmt: .venv/.ready-dev  ## put the formatting right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.ready-dev  ## the benchmarks, as tables of ratios
	$(BIN)/python benchmarks/run.py

lock: .venv/.ready-dev  ## lock the dependencies anew
	$(BIN)/python -m pip install -q uv
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --group build pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --universal --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml -c requirements.txt -o requirements-dev.txt

clean:  ## remove the environment and the demo workspace
	rm -rf .venv demo

.venv/.ready: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Weft needs Python 3.11 or newer: make PYTHON=python3.12 run")'
	@echo "setting up .venv …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@
