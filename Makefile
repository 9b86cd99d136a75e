# Every command a person or CI needs. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(READY): requirements-dev.txt layers/dependencies/requirements.txt layers/search/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Nacre needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
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

# The whole service on this machine. .local/env.json lets `sam local invoke --env-vars` work on its resources.
.PHONY: local
local: $(READY) ## run everything on this machine (stop with Ctrl-C)
	$(PY) -m local --sam-env .local/env.json
