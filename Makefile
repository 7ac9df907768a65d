# Everything a newcomer, a developer and CI need. `make demo` and `make test` need Python 3.11 to 3.13, make and a package
# index.
PYTHON ?= python3.11
ifeq ($(shell command -v $(PYTHON) 2>/dev/null),)
PYTHON := python3
endif
BIN := .venv/bin

.PHONY: demo test quick check docs map golden pictures fuzz matrix bench checkov lock wheel clean

demo: .venv/rehearsal  ## the main job: rehearse the demo stack, then run the smoke job; no account and no Pulumi CLI
	@$(BIN)/trainyard rehearse demo
	@$(MAKE) --no-print-directory .venv/smoke
	@$(BIN)/trainyard smoke --target local --nproc 2

# One more than there are cores: real jobs and servers make a test wait.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
# Bytecode is kept, also where the shell says otherwise: the workers and every command that a test starts read it.
test quick: export PYTHONDONTWRITEBYTECODE :=
test: .venv/dev  ## all tests; no network
	@$(BIN)/pytest -n $(WORKERS) --dist worksteal

# What decides and what is seen of it: settings, plan, catalogue, advice, the golden files, the order of the house.
QUICK := tests/settings tests/plan tests/catalog tests/advice tests/test_golden.py tests/test_documents.py \
	tests/test_no_cloud.py tests/test_house_map.py tests/test_layering.py tests/test_project_file.py tests/test_workflows.py
quick: .venv/dev  ## the fast tests, under a minute
	@$(BIN)/pytest -n auto --dist worksteal $(wildcard $(QUICK))

check: .venv/dev  ## formatting, lint, types, layering
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/dev  ## the documentation as a site, in out/site; a dead link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "out/site/index.html"

map: .venv/dev  ## rooms, imports and lines of code; AGAINST=COMMIT puts that commit's lines beside them
	@$(BIN)/python -m tests.house_map $(AGAINST)

golden: .venv/dev  ## write the golden plans and rehearsals anew
	$(BIN)/python -m tests.golden_files

pictures: .venv/dev  ## the documentation's pictures anew; needs Prometheus and Chromium
	$(BIN)/python -m tests.ledger.picture

fuzz: .venv/dev  ## 10,000 random settings files, 200 whole rehearsals, and every region's defaults; SEED=2 draws others
	@$(BIN)/python -m tests.fuzz.run --seed $(or $(SEED),1)

matrix: .venv/dev  ## every one-line change of every example stack: what `--from` says; the suite has demo's and a share
	@MATRIX=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal tests/rehearsal/change/test_matrix.py

bench: .venv/dev  ## cold and warm rehearsal, terraform plan beside it, resources a second, policies over all stacks
	$(BIN)/python -m trainyard.rehearsal.bench
	$(BIN)/python -m trainyard.review.bench
	$(BIN)/python -m trainyard.advice.bench

# Of the version that the exceptions in tests/checkov are of; it is no dependency, and stands in a folder of its own.
checkov: .venv/dev out/checkov/bin/checkov  ## Checkov over what components and examples on Google Cloud make; needs an index once
	@CHECKOV=$(CURDIR)/out/checkov/bin/checkov $(BIN)/pytest -n0 tests/checkov

out/checkov/bin/checkov:
	@$(PYTHON) -m venv out/checkov
	@out/checkov/bin/pip install --quiet --disable-pip-version-check checkov==3.3.30

# The largest first: the smaller ones begin as a copy of it, so that one environment can grow from each to the next. Each
# holds the digests of every file of a release, whichever index it comes from, and what builds this project. torch is in
# none (docs/decisions/0021-installed-by-hash.md).
COMPILE := $(BIN)/python -m piptools compile --quiet --strip-extras --no-emit-index-url --no-emit-find-links --no-header \
	--annotation-style line --generate-hashes --unsafe-package pip --unsafe-package torch --build-deps-for editable
lock: .venv/dev  ## resolve the dependencies anew
	$(COMPILE) --extra smoke --extra dev --extra docs --output-file requirements-dev.lock pyproject.toml
	cp requirements-dev.lock requirements-smoke.lock
	$(COMPILE) --extra smoke --output-file requirements-smoke.lock pyproject.toml
	cp requirements-smoke.lock requirements.lock
	$(COMPILE) --output-file requirements.lock pyproject.toml

wheel: .venv/dev  ## build the package that a client installs, in dist/
	@$(BIN)/python -m hatchling build --target wheel

clean:
	rm -rf .venv out dist

.venv/bin/python:
	@echo "Making .venv with $(PYTHON) ..."
	@$(PYTHON) -c 'import sys; sys.exit("Trainyard needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv .venv

INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check
BY_HASH := $(INSTALL) --no-deps --require-hashes --requirement
ITSELF := $(INSTALL) --no-build-isolation --editable

.venv/rehearsal: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing what the rehearsal needs, a minute or so ..."
	@$(BY_HASH) requirements.lock
	@$(ITSELF) .
	@touch $@

# Then the project with its extra: all that it asks for is there but torch, whose build (CUDA or none) depends on the index.
.venv/smoke: requirements-smoke.lock pyproject.toml | .venv/bin/python
	@echo "Installing what the smoke job needs (PyTorch among it), a minute or two ..."
	@$(BY_HASH) requirements-smoke.lock
	@$(ITSELF) ".[smoke]"
	@touch $@

.venv/dev: requirements-dev.lock pyproject.toml | .venv/bin/python
	@echo "Installing what the tests need, a few minutes ..."
	@$(BY_HASH) requirements-dev.lock
	@$(ITSELF) ".[smoke,dev,docs]"
	@touch $@ .venv/rehearsal .venv/smoke
