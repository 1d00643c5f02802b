# `make run` shows Weft at work, `make quick` is for every edit, `make test` checks everything. They set up what they need.
PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run page site quick test slow check types style page-check fmt bench lock clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

run: .venv/.ready  ## make the environment and build a writing kit, offline and with no key
	@$(BIN)/weft --workspace demo run examples/tides.md
	@echo; $(BIN)/weft --workspace demo plan examples/tides.md

page: .venv/.ready  ## build the page that `weft serve` shows
	@$(BIN)/python page/build.py

site: .venv/.ready  ## build the documentation that `weft serve` shows under /docs
	@$(BIN)/python docs/build_site.py

quick: .venv/.ready-dev  ## the tests that need no process, terminal or model, for every edit
	WEFT_LANE=quick $(BIN)/pytest -q -n auto --dist worksteal

test: .venv/.ready-dev  ## a kit, then every check and every test, with a sample of the random lives
	@$(MAKE) --no-print-directory run
	@$(MAKE) --no-print-directory check
	@# What failed beside others is run once more, alone: what a busy machine did is told apart from what the code did.
	$(BIN)/pytest -n auto --dist worksteal || $(BIN)/pytest --last-failed --last-failed-no-failures=none

slow: .venv/.ready-dev  ## the whole campaigns: 100,000 random lives of each kind, and what takes hours
	WEFT_LANE=slow $(BIN)/pytest -q -n auto --dist worksteal

check: .venv/.ready-dev  ## formatting, lint and types, and the page's own tests
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target types style page-check

types:
	$(BIN)/mypy

style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

page-check:
	$(BIN)/python page/build.py --check

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
	rm -rf .venv demo page/node_modules src/weft/web/static src/weft/web/site

# The lock names everything, so nothing is resolved: an older pip takes the newest of what another package names with an extra,
# whatever the lock says, and then refuses it for want of a hash.
.venv/.ready: requirements.txt pyproject.toml page/package-lock.json page/build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Weft needs Python 3.11 or newer: make PYTHON=python3.12 run")'
	@echo "setting up .venv …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps -e .
	@$(BIN)/python page/build.py
	@$(BIN)/python docs/build_site.py
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.txt
	@touch $@
