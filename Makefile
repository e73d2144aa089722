# Two commands set everything up on a fresh Debian or Ubuntu: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The CPU build of torch is enough; a newer one on the index may pull gigabytes of CUDA.
CONSTRAINTS := constraints.txt

.PHONY: demo test check verify protos clean

demo: $(STAMP) | packages
	$(BIN)/sci-gym demo

test: $(STAMP) | packages
	$(BIN)/python -m pytest

verify: $(STAMP) | packages
	$(BIN)/sci-gym verify

# Lint, types over the built wheel, generated code.
check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	tools/check-types $(BIN)/python
	tools/make-protos --check $(BIN)/python

protos: $(STAMP)
	tools/make-protos $(BIN)/python

$(STAMP): pyproject.toml setup.py $(CONSTRAINTS) | python-venv
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable ".[dev,rl]"
	touch $@

.PHONY: packages python-venv
packages: $(STAMP)
	tools/install-packages $$($(BIN)/python -m sci_gym.doctor)

python-venv:
	@$(PYTHON) -c "import ensurepip" 2>/dev/null || tools/install-packages python3-venv

clean:
	rm -rf $(VENV) build dist *.egg-info runs .mypy_cache .ruff_cache .pytest_cache
