# Two commands set everything up on a fresh Debian 12: `make demo` and `make test`.
SHELL := /bin/bash
PYTHON ?= $(shell command -v python3)
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core-installed
DEV := $(VENV)/.dev-installed
# Pins the CPU build of torch; a newer one on the index may pull gigabytes of CUDA.
CONSTRAINTS := constraints.txt
# The reference for the accessibility tree, what tests look at processes, buses and pages with, further real
# programs, and what pyautogui needs to be run beside us.
TEST_PACKAGES := python3-pyatspi dbus-bin openssl procps chromium texstudio gnumeric python3-tk gnome-screenshot

# Building and running virtual machines, by themselves and through libvirt, whose Python package is compiled.
VM_PACKAGES := qemu-system-x86 qemu-utils mmdebstrap debian-archive-keyring uidmap bubblewrap \
	libvirt-daemon-driver-qemu libvirt-dev gcc pkg-config python3-dev
# What is played in a virtual machine: small tasks, since an emulated processor is slow.
VM_TASKS := product-odd plot-2d-and-value

.PHONY: demo test check verify image vm lean protos packages clean

demo: $(CORE)
	tools/install-packages $$($(BIN)/python -m sci_gym.doctor kalgebra)
	$(BIN)/sci-gym demo

test: $(DEV) packages lean
	tools/install-packages $(TEST_PACKAGES)
	$(BIN)/python -m pytest

verify: $(CORE) packages lean
	$(BIN)/sci-gym verify --seeds 1 --retries 2 --others 1

# What the tests of Lean run on where no toolchain of the user's is: see docs/lean.md. Not on other processors.
lean: $(CORE)
	tools/install-packages tcc
	$(BIN)/python -m pip install --quiet --editable ".[lean]"
	[ $$(uname -m) != x86_64 ] || $(BIN)/python -m sci_gym.envs.lean.small_core

# A guest for virtual machines, with all apps or those of APPS; one that is there already is taken.
image: $(DEV) packages
	tools/install-packages $(VM_PACKAGES)
	$(BIN)/python -m pip install --quiet --editable ".[libvirt]"
	$(BIN)/sci-gym image build $(APPS:%=--app %)

# Tasks in virtual machines, whose tests are among those of `make test` once there is an image.
vm: image
	$(BIN)/sci-gym verify --machine libvirt --jobs 1 --seeds 1 --retries 1 $(VM_TASKS:%=--task %)

# Lint, format, types over the built wheel, generated code.
check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	tools/check-types $(BIN)/python
	tools/make-protos --check $(BIN)/python

protos: $(DEV)
	tools/make-protos $(BIN)/python

packages: $(CORE)
	tools/install-packages $$($(BIN)/python -m sci_gym.doctor)

$(BIN)/python:
	@$(PYTHON) -c "import ensurepip, venv" 2>/dev/null || tools/install-packages python3-venv
	$(PYTHON) -m venv $(VENV)

$(CORE): $(BIN)/python pyproject.toml setup.py
	@echo "Installing sci_gym into $(VENV) ..."
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(DEV): $(CORE) $(CONSTRAINTS)
	$(BIN)/python -m pip install --quiet --constraint $(CONSTRAINTS) --editable ".[dev,data,dpo,rllib]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info runs .mypy_cache .ruff_cache .pytest_cache
